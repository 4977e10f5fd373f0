// SPDX-License-Identifier: Apache-2.0
// session/model.h — a model that sessions share: the program, the data of its variables, and the
// compiled code. Nobody changes it after loading; any number of threads may use it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpret/interpret.h"
#include "model/finding.h"
#include "model/load.h"
#include "session/compile_options.h"
#include "session/keep.h"

namespace lemma::engine {
class SharedCode;
}
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
    std::vector<tensor::MemoryFile> memory;        // the model, if it is no file
    std::map<std::string, tensor::Tensor> values;  // the same by the names of inputs
    const RunControl* control = nullptr;           // of the call; may be missing
    EngineKind engine = EngineKind::Auto;
    int threads = 1;
    CompileOptions compile;
};

class Model {
public:
    // Null if there is a fault, which `finding` then reports. `file` is the model that was found,
    // or why it was not. Of the options, threads are for sessions.
    static std::shared_ptr<const Model> open(const Result<model::ModelFile>& file,
                                             const SessionOptions& options,
                                             model::Finding& finding);
    ~Model();

    const ir::Program& program() const { return *program_; }
    const std::shared_ptr<const ir::Program>& shared_program() const { return program_; }
    // The outputs of the model, without the ports added for kept tensors.
    std::span<const ir::Port> outputs() const;
    const model::LoadedModel& loaded() const { return model_; }  // without its program
    model::Format format() const { return model_.file.format; }
    // The code of compiled models; null: the interpreter runs it.
    const std::shared_ptr<engine::SharedCode>& code() const { return code_; }
    bool engine_asked() const { return engine_asked_; }
    // The processor of compiled code; empty for the interpreter.
    std::string target() const;
    // Null: the processor.
    const std::shared_ptr<runtime::Device>& device() const { return device_; }
    // Why this engine runs the model, in one sentence.
    const std::string& engine_reason() const { return reason_; }

    const interpret::RunOptions& run_options() const { return run_; }
    const CompileOptions& compile_options() const { return compile_; }
    loop::Numerics numerics() const { return numerics_; }
    // Arrays of `SessionOptions::values`, by the names of inputs.
    const interpret::NamedArrays& decided() const { return decided_; }
    const KeepOptions& keep_options() const { return keep_; }
    const KeptOutputs& kept() const { return kept_; }

    // The initial value of a variable, from its file or random. For compiled models, the caller
    // holds `code()->making()`.
    Result<std::optional<tensor::Tensor>> variable_data(const ir::Tensor& tensor) const;
    // The same as an array, which sessions share; null if there is no data.
    Result<std::shared_ptr<const interpret::Array>> variable_array(ir::TensorId id) const;

private:
    Model();
    bool prepare_program(const SessionOptions& options, model::Finding& finding);
    Result<void> add_outputs(const std::vector<std::string>& names);
    bool keep_tensors(const SessionOptions& options, model::Finding& finding);
    bool choose_engine(const SessionOptions& options, model::Finding& finding);
    Result<void> keep_values(const std::map<std::string, tensor::Tensor>& values);
    bool check_weights(model::Finding& finding) const;
    bool load_variables(const RunControl* control, model::Finding& finding);

    std::optional<uint64_t> random_weights_;
    std::unique_ptr<model::Weights> weights_;  // from `--weights`; may be missing
    model::LoadedModel model_;
    std::shared_ptr<const ir::Program> program_;
    interpret::RunOptions run_;
    CompileOptions compile_;
    loop::Numerics numerics_ = loop::Numerics::Default;
    interpret::NamedArrays decided_;
    KeepOptions keep_;
    KeptOutputs kept_;
    std::shared_ptr<runtime::Device> device_;  // null: the processor
    std::shared_ptr<engine::SharedCode> code_;
    std::string reason_;
    bool compiled_ = false;      // requested; without a compiler, the model is interpreted
    bool engine_asked_ = false;  // explicitly: the interpreter must not take over
    mutable std::mutex arrays_mutex_;
    mutable std::unordered_map<ir::TensorId, std::weak_ptr<const interpret::Array>, IdHash> arrays_;
    std::vector<std::shared_ptr<const interpret::Array>> kept_arrays_;  // of interpreted models
};

// Why the interpreter runs a model that was to be compiled.
diag::Note slow_note(const model::LoadedModel& model, const std::string& why);

}  // namespace lemma::session
