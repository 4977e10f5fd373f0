#include "convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "convert/output.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "model/files.h"
#include "onnx/export.h"
#include "onnx/validate.h"
#include "tensor/archive/archive.h"

namespace lemma::driver {

namespace {

enum class Target { ByName, SkriptND, Nnef1, Onnx };

// `softmax,relu`
std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    size_t begin = 0;
    while (begin < list.size()) {
        const size_t end = std::min(list.find(',', begin), list.size());
        if (end > begin) words.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

class Convert final : public Command {
public:
    std::string name() const override { return "convert"; }
    std::string summary() const override { return "writes a model in another format"; }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<void> convert(model::Finding& finding) const;
    Result<Target> target() const;

    std::string model_;
    std::string out_;
    model::LoadOptions load_;
    convert::ConvertOptions options_;
    Target target_ = Target::ByName;
    ProblemStyle style_;
    std::string keep_;
    bool no_data_ = false;
};

void Convert::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, kModelHelp);
    arguments.word(
        "OUT",
        out_,
        "a folder or an archive (.tar, .tgz, .tar.bz2, .tar.xz, .zip) to write; ONNX: a file");
    arguments.group("Output");
    const Choices<Target> targets = {
        {"sknd", Target::SkriptND}, {"nnef1", Target::Nnef1}, {"onnx", Target::Onnx}};
    arguments.choice("--to", target_, targets, "format to write (from the name of OUT)");
    arguments.flag("--flat", options_.flat, "NNEF 1.0: expand compound operations such as softmax");
    arguments.text("--keep", keep_, "NAME,…", "with --flat: compound operations to keep");
    arguments.need("--keep", "--flat");
    arguments.number(
        "--opset",
        options_.opset,
        {onnx::kOldestWritten, onnx::kNewestOpset},
        "ONNX: operator set to write (the lowest that can express the model, from 13)");
    arguments.flag("--external-data",
                   options_.external_data,
                   "ONNX: write the data to OUT.data (always for models over 2 GB)");
    arguments.flag("--no-data", no_data_, "write the graph without the data of its variables");
    arguments.flag("--force",
                   options_.overwrite,
                   "overwrite files, and write into folders that are not empty");
    arguments.group("Input");
    arguments.texts("-i",
                    load_.inputs,
                    "[NAME=]FILE",
                    "ONNX: values of inputs that decide shapes; specialises the model");
    declare_graph_options(arguments, load_.check.graph);
    declare_real(arguments, load_.check.graph);
    declare_problem_style(arguments, style_);
    declare_dialect(arguments, load_.check);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    arguments.example("lemma convert net.onnx net.sknd", "Writes a folder with main.sknd.");
    arguments.example("lemma convert net.nnef.tgz net.onnx --opset=17",
                      "Writes ONNX with operator set 17.");
    arguments.example("lemma convert net.onnx net.nnef.tgz --flat",
                      "Writes an NNEF 1.0 archive of primitive operations.");
}

Result<Target> Convert::target() const {
    if (target_ != Target::ByName) return target_;
    // `net.sknd`, or packed `net.sknd.tgz`.
    for (const auto& [ending, target] : {std::pair(".sknd", Target::SkriptND),
                                         std::pair(".nnef", Target::Nnef1),
                                         std::pair(".onnx", Target::Onnx)}) {
        const std::filesystem::path path(out_);
        const bool packed = tensor::is_archive_name(out_);
        const std::string name = packed ? path.stem().string() : path.filename().string();
        if (name.ends_with(ending)) return target;
    }
    return std::unexpected(
        Error{fmt::format("`{}` does not say which format to write: give it with --to", out_)});
}

Result<void> Convert::convert(model::Finding& finding) const {
    LEMMA_TRY(const Target target, this->target());
    const convert::OutputKind kind =
        target == Target::Onnx ? convert::OutputKind::File : convert::folder_or_archive(out_);
    LEMMA_TRY(convert::check_target(out_, kind, options_.overwrite));
    auto model = model::load_model(model_, load_, finding);
    if (!model) return {};
    convert::place_at_calls(*model);
    if (!model->deciding.empty()) {
        finding.diag.warning(Span{},
                             DiagKind::NotSupported,
                             fmt::format("the values of `{}` decide shapes, so the model is "
                                         "converted for the values that are given",
                                         fmt::join(model->deciding, "`, `")));
    }
    convert::ConvertOptions options = options_;
    options.data = !no_data_;
    options.keep = words_of(keep_);
    if (target == Target::SkriptND) convert::warn_of_precision(model->program, finding);
    switch (target) {
        case Target::ByName:
        case Target::SkriptND:
            return convert::write_sknd_model(*model, out_, options, finding);
        case Target::Nnef1:
            return convert::write_nnef1_model(*model, out_, options, finding);
        case Target::Onnx:
            return convert::write_onnx_model(*model, out_, options, finding);
    }
    return {};
}

Outcome Convert::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    if (const auto done = convert(finding); !done) {
        finding.fail(done.error());
    }
    return problems_of(std::move(finding), style_, terminal);
}

}  // namespace

std::unique_ptr<Command> convert_command() { return std::make_unique<Convert>(); }

}  // namespace lemma::driver
