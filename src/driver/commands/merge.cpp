// SPDX-License-Identifier: Apache-2.0
#include "edit/merge.h"

#include <fmt/format.h>

#include "driver/commands/command.h"
#include "driver/edit_report.h"
#include "driver/progress.h"

namespace lemma::driver {

namespace {

class Merge final : public Command {
public:
    std::string name() const override { return "merge"; }
    std::string summary() const override { return "joins two models, one after the other"; }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    edit::MergeRequest request_;
    EditOptions options_;
};

void Merge::declare(Arguments& arguments) {
    arguments.word("A", request_.files.model, kModelHelp);
    arguments.word("B", request_.second, "the model that follows; its format may differ");
    arguments.word("OUT", request_.files.out, kOutHelp);
    arguments.group("Connections");
    arguments.texts("--connect",
                    request_.connect,
                    "OUT=IN",
                    "an output of A and the input of B that it becomes (equal names; else the only "
                    "output and the only input)");
    arguments.flag("--keep-outputs",
                   request_.keep_outputs,
                   "connected outputs of A stay outputs of the whole");
    arguments.text("--prefix-a", request_.first_prefix, "TEXT", "put before names of A that B has");
    arguments.text("--prefix-b",
                   request_.second_prefix,
                   "TEXT",
                   "put before names of B that A has (the name of B's file)");
    declare_edit(arguments, request_.files, options_, "--to");
    arguments.remark(
        "Types of connected tensors must agree. An extent that one model leaves open takes the "
        "value of the other. Inputs of B without a connection become inputs of the whole, and "
        "outputs of A without a connection stay outputs.");
    arguments.example("lemma merge backbone.onnx head.onnx net.onnx",
                      "Connects outputs and inputs of the same names.");
    arguments.example("lemma merge pre.sknd net.onnx all.onnx --connect y=input",
                      "Puts a SkriptND model before an ONNX model.");
}

Outcome Merge::run(Terminal terminal, std::istream&) const {
    edit::MergeRequest request = request_;
    prepare(request.files, options_);
    model::Finding finding{.model = request.files.model, .diag = Diagnostics()};
    show_stage(terminal, fmt::format("merging {} and {}", request.files.model, request.second));
    const edit::Merged done = edit::merge_models(request, finding);
    EditReport report;
    report.line("wrote", request.files.out);
    report.list("connected", done.connections);
    report.number("operations", done.after.operations);
    report.number("variables", done.after.variables);
    report.number("bytes", done.after.bytes);
    report.number("renamed", done.renamed);
    report.list("inputs", done.inputs);
    report.list("outputs", done.outputs);
    return report.outcome(std::move(finding), options_, terminal);
}

}  // namespace

std::unique_ptr<Command> merge_command() { return std::make_unique<Merge>(); }

}  // namespace lemma::driver
