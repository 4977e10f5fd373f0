// driver/run/session.h — a model that can run: composed, with the data of its variables, step by
// step.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/finding.h"
#include "driver/load.h"
#include "loop/interpret.h"

namespace lemma::driver {

class Engine;
class Weights;
enum class EngineKind { Interpret, Jit };

struct SessionOptions {
    CheckOptions check;
    tensor::SourceLimits source;
    std::string weights;                     // a file with data that replaces the model's own
    std::optional<uint64_t> random_weights;  // a seed for variables without data
    bool quantize = false;                   // apply `@quantize`
    loop::RunOptions run;
    // Files as `-i` takes them, for models with inputs that decide shapes.
    std::vector<std::string> inputs;
    EngineKind engine = EngineKind::Interpret;
    int threads = 1;
};

class Session {
public:
    // Null when something is wrong, which `finding` tells then.
    static std::unique_ptr<Session> open(const std::string& model,
                                         const SessionOptions& options,
                                         Finding& finding);

    ~Session();

    const ir::Program& program() const { return interpreter_->program(); }
    // Reports to the finding what goes wrong, at the call in the model.
    std::optional<loop::NamedArrays> step(const loop::NamedArrays& inputs, Finding& finding);
    // The value that a variable has now; null before it was given one.
    const loop::Array* variable(const std::string& name) const {
        return interpreter_->variable(name);
    }
    Result<void> set_variable(const std::string& name, loop::Array value);
    // Null when the interpreter runs it.
    Engine* engine() { return engine_.get(); }
    // A .dat file for each variable, named as the model's own, in a folder; or one .safetensors
    // file.
    Result<void> save_variables(const std::string& path) const;

private:
    Session();
    bool load_variables(const SessionOptions& options, const Weights* weights, Finding& finding);
    bool check_weights(const SessionOptions& options,
                       const Weights& weights,
                       Finding& finding) const;
    Result<std::optional<loop::Array>> initial_value(const ir::Tensor& variable,
                                                     const SessionOptions& options,
                                                     const Weights* weights) const;
    Result<void> save_weights(const std::string& path) const;
    bool check_deciding(const loop::NamedArrays& inputs, Finding& finding);

    LoadedModel model_;          // without its program, which the interpreter has
    loop::NamedArrays decided_;  // by the first step: the values of inputs that decided shapes
    std::unique_ptr<loop::Interpreter> interpreter_;
    std::unique_ptr<Engine> engine_;
};

// Arguments of all commands that run models.
void declare_session(Arguments& arguments, SessionOptions& options);

}  // namespace lemma::driver
