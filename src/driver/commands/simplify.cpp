// SPDX-License-Identifier: Apache-2.0
#include "edit/simplify.h"

#include <fmt/format.h>

#include "driver/commands/command.h"
#include "driver/edit_report.h"
#include "driver/progress.h"

namespace lemma::driver {

namespace {

class Simplify final : public Command {
public:
    std::string name() const override { return "simplify"; }
    std::string summary() const override { return "writes a model with fewer operations"; }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    edit::SimplifyRequest request_;
    EditOptions options_;
    bool no_verify_ = false;
    int64_t growth_megabytes_ = 16;
    int64_t mega_steps_ = 1000;
};

void Simplify::declare(Arguments& arguments) {
    arguments.word("MODEL", request_.files.model, kModelHelp);
    arguments.word("OUT", request_.files.out, kOutHelp);
    arguments.group("Changes");
    arguments.texts("--set",
                    request_.set,
                    "NAME=EXTENT,…",
                    "fix the shape of an input, as in x=1,3,224,224; ? keeps an extent");
    arguments.flag("--fold-batch-norm",
                   request_.fold_batch_norm,
                   "fold batch normalisations into the weights of the layers before them");
    arguments.number("--max-growth",
                     growth_megabytes_,
                     {0, int64_t{1} << 24},
                     "MiB that folded constants may add to the model (16)");
    arguments.number("--max-fold-steps",
                     mega_steps_,
                     {0, int64_t{1} << 24},
                     "million steps of the interpreter to fold constants (1000)");
    arguments.group("Verification");
    arguments.flag("--no-verify", no_verify_, "write the result without running it");
    arguments.number("--verify-runs",
                     request_.verify_runs,
                     {1, 1000},
                     "runs of both models on random inputs (2)");
    arguments.exclude("--no-verify", "--verify-runs");
    declare_edit(arguments, request_.files, options_, "--to");
    arguments.remark(
        "Constant operations are computed, and operations that copy a tensor or whose results "
        "nobody reads are removed. The result must agree with the model on random inputs: no "
        "element may differ by more than 1e-4 of the largest one (1e-2 for f16 and bf16) plus "
        "1e-6. Otherwise nothing is written, and the exit status is 1.");
    arguments.example("lemma simplify net.onnx small.onnx --fold-batch-norm",
                      "Folds constants and batch normalisations.");
    arguments.example("lemma simplify net.onnx fixed.onnx --set x=1,3,224,224",
                      "Fixes the extents of the input `x`.");
}

Outcome Simplify::run(Terminal terminal, std::istream&) const {
    edit::SimplifyRequest request = request_;
    prepare(request.files, options_);
    request.limits.max_growth = growth_megabytes_ << 20;
    request.limits.max_steps = static_cast<double>(mega_steps_) * 1e6;
    if (no_verify_) request.verify_runs = 0;
    model::Finding finding{.model = request.files.model, .diag = Diagnostics()};
    show_stage(terminal, "simplifying " + request.files.model);
    const edit::Simplified done = edit::simplify_model(request, finding);
    EditReport report;
    report.line("wrote", request.files.out);
    report.size("operations", done.before.operations, done.after.operations);
    report.size("variables", done.before.variables, done.after.variables);
    report.size("bytes", done.before.bytes, done.after.bytes);
    report.number("folded", done.folded);
    report.number("removed", done.removed);
    if (request.fold_batch_norm) report.number("batch norms", done.batch_norms);
    if (done.left > 0) report.number("beyond limits", done.left);
    if (done.difference) report.real("difference", *done.difference);
    report.list("inputs", done.inputs);
    report.list("outputs", done.outputs);
    return report.outcome(std::move(finding), options_, terminal);
}

}  // namespace

std::unique_ptr<Command> simplify_command() { return std::make_unique<Simplify>(); }

}  // namespace lemma::driver
