// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include "driver/commands/command.h"
#include "driver/options.h"
#include "driver/progress.h"

namespace lemma::driver {

namespace {

class Compile final : public Command {
public:
    explicit Compile(bool reference) { request_.folder = reference; }

    std::string name() const override { return is_reference() ? "reference" : "compile"; }
    std::string summary() const override {
        return is_reference() ? "the same as `lemma compile --form=certified`"
                              : "writes a model as C code";
    }
    std::string group() const override { return kCodeCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    // `lemma reference` is the older name of the certified form.
    bool is_reference() const { return request_.folder; }

    compile::Request request_;
    ProblemStyle style_;
};

void Compile::declare(Arguments& arguments) {
    arguments.word("MODEL", request_.model, kModelHelp);
    arguments.group("Output");
    using compile::Form;
    session::SessionOptions& options = request_.session;
    if (is_reference()) {
        arguments.text("-o,--output", request_.out, "DIR", "folder to write (.)");
    } else {
        arguments.text("-o,--output",
                       request_.out,
                       "DIR|FILE.o|FILE.so",
                       "folder to write (.); an object file or a shared library: the fast form as "
                       "machine code, with its header FILE.h");
        const Choices<Form> forms = {{"certified", Form::Certified}, {"fast", Form::Fast}};
        arguments.choice(
            "--form",
            request_.form,
            forms,
            "certified: C99 with contracts, for proofs; fast: C with vectors (certified)");
        arguments.text("--target",
                       options.compile.target,
                       "NAME",
                       "processor of the fast form: generic, avx2, avx512 or neon (this one)");
        declare_numerics(
            arguments, options.compile.numerics, "precision of the fast form (default)");
        arguments.texts("--shape",
                        request_.shapes,
                        "NAME=1..8x3x224x224",
                        "the shape of an input with runtime extents, in the fast form; `1..8` "
                        "leaves an extent to each run, within these bounds");
    }
    arguments.text("--name", request_.name, "NAME", "prefix of files and functions (model)");
    arguments.group("Input");
    arguments.texts(
        "-i,--input", options.inputs, "[NAME=]FILE", "the value of an input that decides shapes");
    declare_certified(arguments, request_.certified);
    declare_loading(arguments, options);
    declare_problem_style(arguments, style_);
    arguments.remark(
        "Writes NAME.c and NAME.h, the constants in weights*.c, the arithmetic in sx.c, an example "
        "in main.c, "
        "a Makefile, and NAME.json with the names of inputs and outputs. The same model gives the "
        "same bytes.");
    if (is_reference()) {
        arguments.example("lemma reference net.onnx -o code", "Writes certified C to a folder.");
        return;
    }
    arguments.example("lemma compile net.onnx -o code", "Writes certified C99 to a folder.");
    arguments.example("lemma compile net.onnx --form=fast --target=avx2 -o code",
                      "Writes C with vectors for a processor.");
    arguments.example("lemma compile net.onnx --name=net -o libnet.so",
                      "Writes a shared library and its header libnet.h.");
}

Outcome Compile::run(Terminal terminal, std::istream&) const {
    model::Finding finding{.model = request_.model, .diag = Diagnostics()};
    compile::Request request = request_;
    show_progress(terminal, request.session);
    show_stage(terminal, "compiling " + request.model);
    compile::compile_model(request, finding);
    return problems_of(std::move(finding), style_, terminal);
}

}  // namespace

std::unique_ptr<Command> compile_command() { return std::make_unique<Compile>(false); }
std::unique_ptr<Command> reference_command() { return std::make_unique<Compile>(true); }

}  // namespace lemma::driver
