// SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"

#include <algorithm>

#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "driver/standard_model.h"

namespace lemma::driver {

namespace {

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
    convert::ConvertRequest request_;
    ProblemStyle style_;
    std::string keep_;
    bool no_data_ = false;
    InputFormat format_ = InputFormat::ByContent;
};

void Convert::declare(Arguments& arguments) {
    arguments.word("MODEL", request_.model, kModelOrInputHelp);
    arguments.word(
        "OUT",
        request_.out,
        "a folder or an archive (.tar, .tgz, .tar.bz2, .tar.xz, .zip) to write; ONNX: a file");
    arguments.group("Output");
    using convert::OutputFormat;
    convert::ConvertOptions& options = request_.options;
    model::LoadOptions& load = request_.load;
    const Choices<OutputFormat> formats = {{"sknd", OutputFormat::SkriptND},
                                           {"nnef1", OutputFormat::Nnef1},
                                           {"onnx", OutputFormat::Onnx}};
    arguments.choice("--to", request_.format, formats, "format to write (from the name of OUT)");
    arguments.flag("--flat", options.flat, "NNEF 1.0: expand compound operations such as softmax");
    arguments.text("--keep", keep_, "NAME,…", "with --flat: compound operations to keep");
    arguments.need("--keep", "--flat");
    arguments.number(
        "--opset",
        options.opset,
        {convert::kOldestOpset, convert::kNewestOpset},
        "ONNX: operator set to write (the lowest that can express the model, from 13)");
    arguments.flag("--external-data",
                   options.external_data,
                   "ONNX: write the data to OUT.data (always for models over 2 GB)");
    arguments.flag("--no-data", no_data_, "write the graph without the data of its variables");
    arguments.flag(
        "--force", options.overwrite, "overwrite files, and write into folders that are not empty");
    arguments.group("Input");
    declare_format(arguments, format_);
    arguments.texts("-i",
                    load.inputs,
                    "[NAME=]FILE",
                    "ONNX: values of inputs that decide shapes; specialises the model");
    declare_graph_options(arguments, load.check.graph);
    declare_real(arguments, load.check.graph);
    declare_problem_style(arguments, style_);
    declare_dialect(arguments, load.check);
    declare_limits(arguments, load.check);
    declare_source_limits(arguments, load.source);
    arguments.example("lemma convert net.onnx net.sknd", "Writes a folder with main.sknd.");
    arguments.example("lemma convert net.nnef.tgz net.onnx --opset=17",
                      "Writes ONNX with operator set 17.");
    arguments.example("lemma convert net.onnx net.nnef.tgz --flat",
                      "Writes an NNEF 1.0 archive of primitive operations.");
}

Outcome Convert::run(Terminal terminal, std::istream& input) const {
    convert::ConvertRequest request = request_;
    request.options.data = !no_data_;
    request.options.keep = words_of(keep_);
    model::Finding finding{.model = request.model, .diag = Diagnostics()};
    show_stage(terminal, "converting " + request.model);
    auto memory = standard_model(request.model, input, format_);
    if (!memory) {
        finding.fail(memory.error());
        return problems_of(std::move(finding), style_, terminal);
    }
    request.load.memory = std::move(*memory);
    convert::convert_model(request, finding);
    return problems_of(std::move(finding), style_, terminal);
}

}  // namespace

std::unique_ptr<Command> convert_command() { return std::make_unique<Convert>(); }

}  // namespace lemma::driver
