// SPDX-License-Identifier: Apache-2.0
// session/session.h — runs a model step by step. It has the values of the variables and the memory
// of runs; the rest is in the model, which other sessions may share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "interpret/interpret.h"
#include "model/finding.h"
#include "session/model.h"

namespace lemma::engine {
class Engine;
struct Frozen;
struct FreezeOptions;
}  // namespace lemma::engine
namespace lemma::session {

class Session {
public:
    // Null if there is a fault, which `finding` then reports.
    static std::unique_ptr<Session> open(const std::string& model,
                                         const SessionOptions& options,
                                         model::Finding& finding);
    // A session of a model that others may share.
    struct Own {
        int threads = 1;
        uint64_t seed = 0;  // of random operators
    };
    static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Model> model, Own options);

    ~Session();

    const Model& model() const { return *model_; }
    const std::shared_ptr<const Model>& shared_model() const { return model_; }
    const ir::Program& program() const { return model_->program(); }
    // The outputs of the model, without the ports added for kept tensors.
    std::span<const ir::Port> outputs() const { return model_->outputs(); }
    // Reports faults to `finding`, at the call in the model.
    std::optional<interpret::NamedArrays> step(const interpret::NamedArrays& inputs,
                                               model::Finding& finding);
    // Compiles for the shapes of the inputs; checks whether they fit.
    bool prepare(const interpret::NamedArrays& inputs, model::Finding& finding);
    // Of the following calls, until another one is set; null: nobody stops them.
    void set_control(const RunControl* control) { state_->set_control(control); }
    // The current value of a variable; null if it has none yet.
    const interpret::Array* variable(const std::string& name) const;
    Result<void> set_variable(const std::string& name, interpret::Array value);
    // Gives all variables the values that the model has.
    void reset_variables();
    // Why this engine runs the model, in one sentence.
    const std::string& engine_reason() const { return reason_; }
    // Null if the interpreter runs the model.
    engine::Engine* engine() { return engine_; }
    // The engine for runs without the session: only if no input decides shapes by its values.
    engine::Engine* direct_engine() { return decided_.empty() ? engine_ : nullptr; }
    // The model for code generators, with kernels for the target. `shapes` has bounds of the
    // extents that the model leaves open, by the name of the input. Those with different bounds are
    // given to each run. For sessions with a compiled engine. Of the options, numerics and weights
    // are those of the session.
    using ShapeRange = std::vector<ir::Interval>;
    Result<engine::Frozen> freeze(const engine::FreezeOptions& wanted,
                                  const std::map<std::string, ShapeRange>& shapes) const;
    // Writes a .dat file for each variable into a folder, with the model's file names; or one
    // .safetensors file.
    Result<void> save_variables(const std::string& path) const;

private:
    explicit Session(std::shared_ptr<const Model> model);
    Result<interpret::NamedArrays> interpret_instead(const interpret::NamedArrays& inputs,
                                                     const Error& trouble,
                                                     model::Finding& finding);
    void report_failed_step(const Error& error, model::Finding& finding) const;
    Result<void> save_weights(const std::string& path) const;
    bool check_deciding(const interpret::NamedArrays& inputs, model::Finding& finding);

    std::shared_ptr<const Model> model_;
    interpret::NamedArrays decided_;  // from the first step: the inputs that decided shapes
    interpret::RunOptions run_;
    std::unique_ptr<interpret::State> state_;
    std::unique_ptr<interpret::Executor> executor_;
    engine::Engine* engine_ = nullptr;  // the executor, if it is an engine
    std::string reason_;                // for the engine
};

}  // namespace lemma::session
