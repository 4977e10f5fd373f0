// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

#include "engine/engine.h"
#include "ir/program/display_name.h"
#include "model/weights.h"
#include "tensor/files/nnef_data.h"

namespace lemma::session {

namespace {

// The operation and the compounds that contain it, innermost first.
std::vector<const ir::Operation*> with_compounds(const ir::Program& program,
                                                 const ir::Operation& operation) {
    std::vector<const ir::Operation*> chain = {&operation};
    std::unordered_map<const ir::Operation*, const ir::Operation*> compounds;
    for (const ir::Operation& op : program.operations) {
        for (const ir::OpId part : op.parts) compounds.emplace(&program.operations[part], &op);
    }
    while (chain.size() <= program.operations.size()) {
        const auto found = compounds.find(chain.back());
        if (found == compounds.end()) break;
        chain.push_back(found->second);
    }
    return chain;
}

// Reports at the innermost call in the model's text; library calls below it are notes.
void report_failure(const model::LoadedModel& model,
                    const ir::Program& program,
                    const ir::Operation& op,
                    const Error& error,
                    model::Finding& finding) {
    const auto chain = with_compounds(program, op);
    size_t blamed = 0;
    while (blamed + 1 < chain.size() && sknd::is_standard(model.package, chain[blamed]->span))
        ++blamed;
    const ir::Operation& call = *chain[blamed];
    auto report =
        finding.diag.error(call.span.valid() ? call.span : Span{model.source, 0, 0},
                           DiagKind::RunFailed,
                           fmt::format("`{}` fails: {}", ir::display_name(call.op), error.message));
    for (size_t i = blamed; i-- > 0;) {
        report.note(chain[i]->span,
                    fmt::format("in `{}`, called here", ir::display_name(chain[i]->op)));
    }
    if (!op.label.empty()) report.note(fmt::format("it is the operation `{}`", op.label));
}

// The name of the graph that runs.
Span graph_place(const model::LoadedModel& model, const ir::Program& program) {
    const Span whole{model.source, 0, 0};
    if (model.package.modules.empty()) return whole;
    const sknd::LoadedModule& main = model.package[model.package.main()];
    const auto found = main.definition_index.find(program.name);
    const bool here = found != main.definition_index.end() && !main.standard;
    return here ? main.module.definitions[found->second].name.span : whole;
}

}  // namespace

Session::Session(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      decided_(model_->decided()),
      run_(model_->run_options()),
      reason_(model_->engine_reason()) {}

Session::~Session() = default;

std::unique_ptr<Session> Session::open(const std::string& path,
                                       const SessionOptions& options,
                                       model::Finding& finding) {
    auto model =
        Model::open(model::find_model(path, options.memory, options.source), options, finding);
    if (!model) return nullptr;
    auto session = create(std::move(model), {.threads = options.threads, .seed = options.run.seed});
    if (session) return std::move(*session);
    finding.fail(session.error());
    return nullptr;
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const Model> model, Own options) {
    auto session = std::unique_ptr<Session>(new Session(std::move(model)));
    const Model* const shared = session->model_.get();
    session->run_.seed = options.seed;
    session->state_ = std::make_unique<interpret::State>(shared->shared_program());
    session->state_->set_variable_source(
        [shared](ir::TensorId id) { return shared->variable_array(id); });
    if (!shared->code()) {
        session->executor_ =
            std::make_unique<interpret::Interpreter>(*session->state_, session->run_);
        return session;
    }
    engine::EngineOptions engine{
        .threads = options.threads,
        .run = session->run_,
        .weights = [shared](const ir::Tensor& tensor) { return shared->variable_data(tensor); },
        .compiler = compiler_options(shared->compile_options(), session->run_.accumulate),
        .dump_pass = shared->compile_options().dump_pass};
    LEMMA_TRY(auto made,
              engine::Engine::create(*session->state_, std::move(engine), shared->code()));
    session->engine_ = made.get();
    session->executor_ = std::move(made);
    return session;
}

const interpret::Array* Session::variable(const std::string& name) const {
    if (engine_ && !engine_->store_variables()) return nullptr;
    return state_->variable(name);
}

Result<void> Session::set_variable(const std::string& name, interpret::Array value) {
    executor_->variables_changed();
    return state_->set_variable(name, std::move(value));
}

void Session::reset_variables() {
    executor_->variables_changed();
    state_->reset_variables();
}

// The inputs that decide shapes keep the values of the first step.
bool Session::check_deciding(const interpret::NamedArrays& inputs, model::Finding& finding) {
    for (const std::string& name : model_->loaded().deciding) {
        const auto given = inputs.find(name);
        if (given == inputs.end() || given->second.size() != 1) continue;
        const auto [before, first] = decided_.emplace(name, given->second);
        if (first) continue;
        const interpret::Array& a = before->second[0];
        const interpret::Array& b = given->second[0];
        if (a.shape == b.shape && a.integers == b.integers && a.reals == b.reals) continue;
        finding.fail(
            Error{fmt::format("the input `{}` decided shapes when the model was loaded, and has "
                              "another value now",
                              name)});
        return false;
    }
    return true;
}

std::optional<interpret::NamedArrays> Session::step(const interpret::NamedArrays& inputs,
                                                    model::Finding& finding) {
    if (!check_deciding(inputs, finding)) return std::nullopt;
    auto outputs = executor_->run(inputs);
    const RunControl* const control = state_->control();
    if (!outputs && control && control->stopped()) {
        finding.fail(control->error());
        return std::nullopt;
    }
    if (!outputs && engine_) outputs = interpret_instead(inputs, outputs.error(), finding);
    if (!outputs) {
        report_failed_step(outputs.error(), finding);
        return std::nullopt;
    }
    if (auto done = model_->kept().hand_over(program(), *outputs, model_->keep_options()); !done) {
        finding.fail(done.error());
        return std::nullopt;
    }
    return std::move(*outputs);
}

bool Session::prepare(const interpret::NamedArrays& inputs, model::Finding& finding) {
    if (!check_deciding(inputs, finding)) return false;
    const auto done = engine_ ? engine_->prepare(inputs) : state_->begin_run(inputs);
    state_->end_run(false);
    if (!done) finding.fail(done.error());
    return done.has_value();
}

// Runs the step again after the engine has failed: the interpreter reports the fault of the model
// and its place. If it succeeds, the engine is at fault. A device that failed needs no second run.
// A user who asked for the engine gets its error; otherwise the interpreter takes over, and a
// remark says so.
Result<interpret::NamedArrays> Session::interpret_instead(const interpret::NamedArrays& inputs,
                                                          const Error& trouble,
                                                          model::Finding& finding) {
    const bool clear = engine_->without_code() || engine_->device_failed();
    if (model_->engine_asked() && clear) return std::unexpected(trouble);
    LEMMA_TRY(engine_->store_variables());
    auto interpreter = std::make_unique<interpret::Interpreter>(*state_, run_);
    LEMMA_TRY(interpret::NamedArrays outputs, interpreter->run(inputs));
    if (model_->engine_asked()) {
        engine_->variables_changed();
        return std::unexpected(trouble);
    }
    finding.remarks.push_back(slow_note(model_->loaded(), trouble.message));
    reason_ = trouble.message;
    engine_ = nullptr;  // it would fail again
    executor_ = std::move(interpreter);
    return outputs;
}

void Session::report_failed_step(const Error& error, model::Finding& finding) const {
    if (const ir::Operation* const op = state_->failed()) {
        finding.status = model::kWrong;
        report_failure(model_->loaded(), program(), *op, error, finding);
    } else if (state_->failed_for_inputs()) {
        finding.status = model::kUnusable;
        finding.diag.error(
            graph_place(model_->loaded(), program()), DiagKind::RunFailed, error.message);
    } else {  // the inputs do not fit, or the requested engine does not work
        finding.fail(error);
    }
}

Result<void> Session::save_weights(const std::string& path) const {
    tensor::SafetensorsFile file;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const interpret::Array* const value = variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(tensor::Tensor data, interpret::to_tensor(*value));
        file.tensors.push_back({.name = tensor.name, .tensor = std::move(data)});
    }
    return tensor::write_safetensors(path, file);
}

Result<void> Session::save_variables(const std::string& path) const {
    if (path.ends_with(model::kWeightsEnding)) return save_weights(path);
    std::error_code failed;
    for (const ir::Tensor& tensor : program().tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        const interpret::Array* const value = variable(tensor.name);
        if (!value) continue;
        LEMMA_TRY(const tensor::Tensor data, interpret::to_tensor(*value));
        const auto file = std::filesystem::path(path) / model_->loaded().data_name(tensor);
        std::filesystem::create_directories(file.parent_path(), failed);
        LEMMA_TRY(tensor::write_nnef(file.string(), data));
    }
    return {};
}

}  // namespace lemma::session
