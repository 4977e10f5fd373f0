// session/session.h — a model that can run: composed, with the data of its variables, step by step.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "interpret/interpret.h"
#include "model/finding.h"
#include "model/load.h"
#include "session/compile_options.h"
#include "session/keep.h"

namespace lemma::engine {
class Engine;
struct Frozen;
struct FreezeOptions;
}  // namespace lemma::engine
namespace lemma::model {
class Weights;
}

namespace lemma::session {

enum class EngineKind {
    Auto,  // compiled, unless interpreting a small model is faster
    Interpret,
    Jit,
};

struct SessionOptions {
    model::CheckOptions check;
    tensor::SourceLimits source;
    std::string weights;                     // a file with data that replaces the model's own
    std::optional<uint64_t> random_weights;  // a seed for variables without data
    bool quantize = false;                   // apply `@quantize`
    interpret::RunOptions run;
    KeepOptions keep;
    // Names of tensors that become outputs after those of the model; `*`: all outside of loops.
    std::vector<std::string> extra_outputs;
    // Files as for `-i`, for models with inputs that decide shapes.
    std::vector<std::string> inputs;
    model::InputReader read_input;
    EngineKind engine = EngineKind::Auto;
    int threads = 1;
    CompileOptions compile;
};

class Session {
public:
    // Null if there is a fault, which `finding` then reports.
    static std::unique_ptr<Session> open(const std::string& model,
                                         const SessionOptions& options,
                                         model::Finding& finding);

    ~Session();

    const ir::Program& program() const { return state_->program(); }
    // What the model's file says about itself (ONNX).
    const model::Metadata& metadata() const { return model_.metadata; }
    // The outputs of the model, without the ports added for kept tensors.
    std::span<const ir::Port> outputs() const;
    // Reports faults to `finding`, at the call in the model.
    std::optional<interpret::NamedArrays> step(const interpret::NamedArrays& inputs,
                                               model::Finding& finding);
    // The current value of a variable; null if it has none yet.
    const interpret::Array* variable(const std::string& name) const {
        return state_->variable(name);
    }
    Result<void> set_variable(const std::string& name, interpret::Array value);
    model::Format format() const { return model_.file.format; }
    // The processor of compiled code; empty for the interpreter.
    std::string target() const;
    // Why this engine runs the model, in one sentence.
    const std::string& engine_reason() const { return reason_; }
    // Null if the interpreter runs the model.
    engine::Engine* engine() { return engine_; }
    // The engine for runs without the session: only if no input decides shapes by its values.
    engine::Engine* direct_engine() { return decided_.empty() ? engine_ : nullptr; }
    // The model for code generators, with kernels for the target. `shapes` has bounds of the extents
    // that the model leaves open, by the name of the input. Those with different bounds are given to
    // each run. For sessions with a compiled engine. Of the options, numerics and weights are those
    // of the session.
    using ShapeRange = std::vector<ir::Interval>;
    Result<engine::Frozen> freeze(const engine::FreezeOptions& wanted,
                                  const std::map<std::string, ShapeRange>& shapes) const;
    // Writes a .dat file for each variable into a folder, with the model's file names; or one
    // .safetensors file.
    Result<void> save_variables(const std::string& path) const;

private:
    Session();
    bool load_variables(model::Finding& finding);
    bool prepare_program(const SessionOptions& options, model::Finding& finding);
    Result<void> add_outputs(const std::vector<std::string>& names);
    bool keep_tensors(const SessionOptions& options, model::Finding& finding);
    bool open_executor(const SessionOptions& options, model::Finding& finding);
    Result<std::unique_ptr<engine::Engine>> make_engine(const SessionOptions& options);
    Result<interpret::NamedArrays> interpret_instead(const interpret::NamedArrays& inputs,
                                                     const Error& trouble,
                                                     model::Finding& finding);
    void report_failed_step(const Error& error, model::Finding& finding) const;
    // The initial value of a variable, from its file or random.
    Result<std::optional<tensor::Tensor>> variable_data(const ir::Tensor& tensor) const;
    bool check_weights(model::Finding& finding) const;
    Result<void> save_weights(const std::string& path) const;
    bool check_deciding(const interpret::NamedArrays& inputs, model::Finding& finding);

    std::optional<uint64_t> random_weights_;
    std::unique_ptr<model::Weights> weights_;  // from `--weights`; may be missing
    model::LoadedModel model_;                 // without its program, which the state has
    interpret::NamedArrays decided_;  // from the first step: the inputs that decided shapes
    interpret::RunOptions run_;
    loop::Numerics numerics_ = loop::Numerics::Default;
    std::unique_ptr<interpret::State> state_;
    std::unique_ptr<interpret::Executor> executor_;
    engine::Engine* engine_ = nullptr;  // the executor, if it is an engine
    KeepOptions keep_;
    KeptOutputs kept_;
    bool compiled_ = false;      // requested; without a compiler, the model is interpreted
    std::string reason_;         // for the engine
    bool engine_asked_ = false;  // explicitly: the interpreter must not take over
};

}  // namespace lemma::session
