// SPDX-License-Identifier: Apache-2.0
#include "edit/extract.h"

#include <fmt/format.h>

#include "driver/commands/command.h"
#include "driver/edit_report.h"
#include "driver/progress.h"

namespace lemma::driver {

namespace {

class Extract final : public Command {
public:
    std::string name() const override { return "extract"; }
    std::string summary() const override { return "writes a part of a model as a model"; }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    edit::ExtractRequest request_;
    EditOptions options_;
};

void Extract::declare(Arguments& arguments) {
    arguments.word("MODEL", request_.files.model, kModelHelp);
    arguments.word("OUT", request_.files.out, kOutHelp);
    arguments.group("Part");
    arguments.texts("--from",
                    request_.from,
                    "NAME,…",
                    "tensors that become inputs; an operation: its inputs (the model's inputs)");
    arguments.texts("--to",
                    request_.to,
                    "NAME,…",
                    "tensors that become outputs; an operation: its results (the model's outputs)");
    arguments.flag("--add-inputs",
                   request_.add_inputs,
                   "add inputs of the model that the part needs and --from does not name");
    declare_edit(arguments, request_.files, options_, "--format");
    arguments.remark(
        "Names are those of `lemma show` and `lemma run --dump`; for ONNX also those in the file. "
        "Operators stay as they are, unless a cut goes through one.");
    arguments.example("lemma extract net.onnx head.onnx --from=features",
                      "Writes everything after the tensor `features`.");
    arguments.example("lemma extract net.onnx block.sknd --from=conv1 --to=relu3",
                      "Writes the operations from `conv1` to `relu3` as SkriptND.");
}

Outcome Extract::run(Terminal terminal, std::istream&) const {
    edit::ExtractRequest request = request_;
    prepare(request.files, options_);
    model::Finding finding{.model = request.files.model, .diag = Diagnostics()};
    show_stage(terminal, "extracting from " + request.files.model);
    const edit::Extracted done = edit::extract_model(request, finding);
    EditReport report;
    report.line("wrote", request.files.out);
    report.size("operations", done.before.operations, done.after.operations);
    report.size("variables", done.before.variables, done.after.variables);
    report.size("bytes", done.before.bytes, done.after.bytes);
    report.list("inputs", done.inputs);
    report.list("outputs", done.outputs);
    return report.outcome(std::move(finding), options_, terminal);
}

}  // namespace

std::unique_ptr<Command> extract_command() { return std::make_unique<Extract>(); }

}  // namespace lemma::driver
