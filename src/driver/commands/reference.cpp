#include "sonnx/reference/reference.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/version.h"
#include "driver/commands/command.h"
#include "driver/options.h"
#include "model/files.h"
#include "model/load.h"
#include "model/onnx/model.h"
#include "sonnx/sha256.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

class Reference final : public Command {
public:
    std::string name() const override { return "reference"; }
    std::string summary() const override { return "writes an ONNX model as C code for proofs"; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    Result<void> write(model::Finding& finding) const;

    std::string model_;
    std::string out_;
    model::LoadOptions load_;
    ProblemStyle style_;
};

void Reference::declare(Arguments& arguments) {
    arguments.word("MODEL", model_, "an .onnx file with static shapes");
    arguments.text("-o,--output", out_, "DIR", "folder to write (.)");
    declare_problem_style(arguments, style_);
    declare_limits(arguments, load_.check);
    declare_source_limits(arguments, load_.source);
    arguments.remark(
        "Writes model.c, model.h, weights.c, weights.h, sx.c and sx.h: C99 with literal extents, "
        "one function\n"
        "per node, and ACSL contracts that Frama-C proves (docs/assurance.md). Supports Add, "
        "Concat, Conv,\n"
        "Div, Expand, Mul and Sub. Compile with -std=c99 -ffp-contract=off.");
}

Result<void> Reference::write(model::Finding& finding) const {
    LEMMA_TRY(const model::ModelFile file, model::find_model(model_, load_.source));
    if (file.format != model::Format::Onnx)
        return std::unexpected(Error{"there are references of ONNX models only"});
    LEMMA_TRY(const model::OnnxModel loaded,
              model::load_onnx(file, load_.check, {}, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return {};
    if (!loaded.imported.program)
        return std::unexpected(
            Error{model::undecided_text(loaded.imported) + ": C needs static shapes"});

    LEMMA_TRY(tensor::hold_bytes(*loaded.model.bytes));
    const sonnx::Subject subject{.model = loaded.model,
                                 .base = finding.diag,
                                 .inferred = sonnx::inferred_types(*loaded.imported.program)};
    const sonnx::ReferenceInput input{
        .subject = subject,
        .file = loaded.file,
        .read_external = loaded.read_external,
        .origin = fmt::format(
            "lemma {}, model SHA-256 {}", kVersion, sonnx::sha256(*loaded.model.bytes))};
    const auto files = sonnx::write_reference(input, finding.diag);
    if (!files) return {};
    const fs::path folder = out_.empty() ? fs::path(".") : fs::path(out_);
    LEMMA_TRY(tensor::make_folder(folder.string()));
    for (const sonnx::SourceFile& source : *files) {
        LEMMA_TRY(tensor::write_file((folder / source.name).string(), source.text));
    }
    return {};
}

Outcome Reference::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = model_, .diag = Diagnostics()};
    if (const auto done = write(finding); !done) {
        finding.fail(done.error());
    } else if (finding.diag.has_errors()) {
        finding.status = model::kWrong;
    }
    return problems_of(std::move(finding), style_, terminal);
}

}  // namespace

std::unique_ptr<Command> reference_command() { return std::make_unique<Reference>(); }

}  // namespace lemma::driver
