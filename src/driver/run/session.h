// driver/run/session.h — a model that can run: composed, with the data of its variables, step by
// step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driver/finding.h"
#include "driver/load.h"
#include "driver/run/compile_options.h"
#include "driver/run/keep.h"
#include "loop/interpret.h"

namespace lemma::driver {

class Engine;
class Weights;
enum class EngineKind {
    Auto,  // compiled, unless the model is so small that interpreting it is done sooner
    Interpret,
    Jit,
};

struct SessionOptions {
    CheckOptions check;
    tensor::SourceLimits source;
    std::string weights;                     // a file with data that replaces the model's own
    std::optional<uint64_t> random_weights;  // a seed for variables without data
    bool quantize = false;                   // apply `@quantize`
    loop::RunOptions run;
    KeepOptions keep;
    // Files as `-i` takes them, for models with inputs that decide shapes.
    std::vector<std::string> inputs;
    EngineKind engine = EngineKind::Auto;
    int threads = 1;
    CompileOptions compile;
};

class Session {
public:
    // Null when something is wrong, which `finding` tells then.
    static std::unique_ptr<Session> open(const std::string& model,
                                         const SessionOptions& options,
                                         Finding& finding);

    ~Session();

    const ir::Program& program() const { return interpreter_->program(); }
    // The outputs of the model, without those that are there to be kept.
    std::span<const ir::Port> outputs() const;
    // Reports to the finding what goes wrong, at the call in the model.
    std::optional<loop::NamedArrays> step(const loop::NamedArrays& inputs, Finding& finding);
    // The value that a variable has now; null before it was given one.
    const loop::Array* variable(const std::string& name) const {
        return interpreter_->variable(name);
    }
    Result<void> set_variable(const std::string& name, loop::Array value);
    // Null when the interpreter runs it.
    Engine* engine() { return engine_.get(); }
    // If runs may leave the session out: no input decides about shapes by its values.
    Engine* direct_engine() { return decided_.empty() ? engine_.get() : nullptr; }
    // A .dat file for each variable, named as the model's own, in a folder; or one .safetensors
    // file.
    Result<void> save_variables(const std::string& path) const;

private:
    Session();
    bool load_variables(Finding& finding);
    bool prepare_program(const SessionOptions& options, loop::RunOptions& run, Finding& finding);
    bool keep_tensors(const SessionOptions& options, loop::RunOptions& run, Finding& finding);
    bool open_engine(const SessionOptions& options, Finding& finding);
    // What a variable holds before the first step, as its file has it or at random.
    Result<std::optional<tensor::Tensor>> variable_data(const ir::Tensor& tensor) const;
    bool check_weights(Finding& finding) const;
    Result<void> save_weights(const std::string& path) const;
    bool check_deciding(const loop::NamedArrays& inputs, Finding& finding);

    std::optional<uint64_t> random_weights_;
    std::unique_ptr<Weights> weights_;  // of a file of their own; may be missing
    LoadedModel model_;                 // without its program, which the interpreter has
    loop::NamedArrays decided_;  // by the first step: the values of inputs that decided shapes
    std::unique_ptr<loop::Interpreter> interpreter_;
    std::unique_ptr<Engine> engine_;
    KeepOptions keep_;
    KeptOutputs kept_;
    bool compiled_ = false;      // wanted so; without the compiler it is interpreted all the same
    bool engine_asked_ = false;  // by name: then the interpreter is no way out
};

// Arguments of all commands that run models.
void declare_session(Arguments& arguments, SessionOptions& options);

}  // namespace lemma::driver
