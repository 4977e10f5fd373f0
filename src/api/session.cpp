// SPDX-License-Identifier: Apache-2.0
// Sessions and their runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "api/control.h"
#include "api/convert.h"
#include "api/model.h"
#include "api/options.h"
#include "api/report.h"
#include "base/checked.h"
#include "engine/engine.h"
#include "session/session.h"
#include "session/tensors.h"

struct lemma_session {
    explicit lemma_session(lemma_model* of) : model(lemma_model_share(of)) {}
    lemma_session(const lemma_session&) = delete;
    ~lemma_session() {
        session.reset();
        lemma_model_free(model);
    }

    lemma_model* model;
    std::unique_ptr<lemma::session::Session> session;
    std::vector<lemma::engine::Engine::Bytes> given;  // of the run, to reuse the memory
    std::vector<lemma::api::LentTensor> outputs;      // of the last run
    std::map<std::string, lemma::api::LentTensor> variables;
};

namespace lemma::api {

namespace {

using model::Finding;

// The declared shape of a tensor without data.
Result<interpret::Array> zeros_of(const std::string& name, lemma_tensor given) {
    const bool odd =
        !is_type(given.type) || given.rank > tensor::kMaxRank || (given.rank > 0 && !given.shape);
    if (odd) return internal_array(name, given);  // says what is wrong
    return interpret::Array::zeros(internal_type(given.type),
                                   tensor::Shape(given.shape, given.shape + given.rank));
}

// `only_shapes`: tensors need no data.
Result<interpret::NamedArrays> given_inputs(const lemma_model& model,
                                            std::span<const lemma_tensor> inputs,
                                            bool only_shapes = false) {
    std::map<std::string, interpret::Array> arrays;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = model.about.inputs[i].name;
        if (inputs[i].type == LEMMA_NO_TYPE && inputs[i].size == 0) continue;
        const bool shape = only_shapes && !inputs[i].data;
        LEMMA_TRY(arrays[name],
                  shape ? zeros_of(name, inputs[i]) : internal_array(name, inputs[i]));
    }
    return session::gather_inputs(model.program(), std::move(arrays));
}

// The problem with the numbers and pointers of a run; empty if there is none.
std::string fault_of(const lemma_session& session,
                     const lemma_tensor* inputs,
                     size_t input_count,
                     const lemma_tensor* outputs,
                     size_t output_count) {
    const size_t wanted = session.model->about.inputs.size();
    const size_t most = session.model->about.outputs.size();
    if (input_count != wanted)
        return fmt::format("{} inputs are given, and the model has {}", input_count, wanted);
    if (output_count > most)
        return fmt::format("{} outputs are wanted, and the model has {}", output_count, most);
    if (input_count > 0 && !inputs) return "the inputs are NULL";
    if (output_count > 0 && !outputs) return "the outputs are NULL";
    return {};
}

// Writes an output to the memory of the caller, or lends it.
Result<void> give(const std::string& name, const lemma_tensor& made, lemma_tensor& to) {
    if (!to.data || made.type == LEMMA_NO_TYPE) {
        to = made;
        return {};
    }
    if (made.type == LEMMA_STR)
        return std::unexpected(
            Error{fmt::format("the output `{}` has strings: its `data` must be NULL", name)});
    if (to.size < made.size)
        return std::unexpected(Error{fmt::format(
            "the output `{}` takes {} bytes, and there is room for {}", name, made.size, to.size)});
    if (made.size > 0) std::memcpy(to.data, made.data, made.size);
    void* const data = to.data;
    to = made;
    to.data = data;
    return {};
}

// The same for the bytes of a compiled run.
Result<void> give_bytes(lemma_session& session,
                        size_t index,
                        const engine::Engine::Output& made,
                        lemma_tensor& to) {
    return give(session.model->about.outputs[index].name,
                {.type = public_type(made.dtype),
                 .rank = made.shape->size(),
                 .shape = made.shape->data(),
                 .data = made.data,
                 .size = made.bytes},
                to);
}

// Whether the numbers of a tensor agree with each other, without a message.
bool is_plain(const lemma_tensor& given) {
    if (!is_type(given.type) || given.type == LEMMA_STR || given.rank > tensor::kMaxRank ||
        (given.rank > 0 && !given.shape) || (given.size > 0 && !given.data))
        return false;
    auto bytes = std::optional(tensor::dtype_size(internal_type(given.type)));
    for (size_t axis = 0; axis < given.rank && bytes; ++axis) {
        bytes = given.shape[axis] < 0 ? std::nullopt : checked_mul(*bytes, given.shape[axis]);
    }
    return bytes && static_cast<size_t>(*bytes) == given.size;
}

// Runs from bytes to bytes, if the session can. False: the general way is needed.
Result<bool> run_directly(lemma_session& session,
                          std::span<const lemma_tensor> inputs,
                          std::span<lemma_tensor> outputs) {
    engine::Engine* const engine = session.session->direct_engine();
    if (!engine) return false;
    session.given.clear();
    for (const lemma_tensor& input : inputs) {
        if (!is_plain(input)) return false;
        session.given.push_back({internal_type(input.type), {input.shape, input.rank}, input.data});
    }
    size_t next = 0;
    return engine->run_directly(session.given, [&](const engine::Engine::Output& made) {
        const size_t index = next++;
        if (index >= outputs.size()) return Result<void>();
        return give_bytes(session, index, made, outputs[index]);
    });
}

// Keeps all outputs of a run in the session, in the order of the model.
Result<void> keep_outputs(lemma_session& session, const interpret::NamedArrays& outputs) {
    session.outputs.clear();
    const ir::Program& program = session.model->program();
    for (const ir::Port& port : program.graphs[program.main].outputs) {
        const auto& items = outputs.at(port.name);
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            if (i >= items.size()) {
                session.outputs.emplace_back();
                continue;
            }
            LEMMA_TRY(tensor::Tensor tensor, interpret::to_tensor(items[i]));
            session.outputs.emplace_back(std::move(tensor));
        }
    }
    return {};
}

// Runs from bytes to bytes as well, but may have to make the code first. Of sessions that begin at
// the same time, one makes it.
Result<bool> prepare_and_run(lemma_session& session,
                             std::span<const lemma_tensor> inputs,
                             std::span<lemma_tensor> outputs) {
    LEMMA_TRY(const bool direct, run_directly(session, inputs, outputs));
    engine::Engine* const engine = session.session->direct_engine();
    if (direct || !engine) return direct;
    {
        LEMMA_TRY(const auto turn, engine->first_turn());
        if (!turn) return false;
        LEMMA_TRY(const bool ready, engine->load_directly(session.given));
        if (!ready) {
            LEMMA_TRY(const auto given, given_inputs(*session.model, inputs));
            Finding unused;  // the run itself reports it
            session.session->prepare(given, unused);
        }
    }
    return run_directly(session, inputs, outputs);
}

void run(lemma_session& session,
         std::span<const lemma_tensor> inputs,
         std::span<lemma_tensor> outputs,
         Finding& finding) {
    const auto direct = prepare_and_run(session, inputs, outputs);
    if (!direct) return finding.fail(direct.error());
    if (*direct) return;
    const auto given = given_inputs(*session.model, inputs);
    if (!given) return finding.fail(given.error());
    const auto made = session.session->step(*given, finding);
    if (!made) return;
    if (auto done = keep_outputs(session, *made); !done) return finding.fail(done.error());
    for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = session.model->about.outputs[i].name;
        if (auto done = give(name, session.outputs[i].view(), outputs[i]); !done)
            return finding.fail(done.error());
    }
}

// A function of a session that may report places in the model.
template <class Step>
int session_call(lemma_session* session, lemma_report** report, Step step) {
    if (report) *report = nullptr;
    if (!session) return refuse("the session is NULL", report);
    Finding finding;
    guarded(finding, [&] { step(finding); });
    return hand_over(*session->model, finding, report);
}

// The same for a call that may be stopped.
template <class Step>
int controlled_call(lemma_session* session,
                    const lemma_control* given,
                    lemma_report** report,
                    Step step) {
    CallControl control;
    const int status = session_call(session, report, [&](Finding& finding) {
        auto wanted = CallControl::make(given);
        if (!wanted) return finding.fail(wanted.error());
        control = std::move(*wanted);
        session->session->set_control(control.get());
        step(finding);
    });
    if (session) session->session->set_control(nullptr);
    if (status == LEMMA_GOOD || !control.stopped()) return status;
    if (report) lemma_report_free(*report);
    return report_stopped(control.get()->error(), report);
}

}  // namespace

}  // namespace lemma::api

namespace api = lemma::api;
using lemma::model::Finding;

int lemma_session_create(lemma_model* model,
                         const lemma_session_options* options,
                         lemma_session** session,
                         lemma_report** report) {
    if (session) *session = nullptr;
    return api::call(report, [&](Finding& finding) {
        if (!model) return finding.fail({"the model is NULL"});
        if (!session) return finding.fail({"no place for the session is given"});
        const auto known = api::options_of(options, "lemma_session_options");
        if (!known) return finding.fail(known.error());
        constexpr int kMostThreads = 1024;
        if (known->threads < 0 || known->threads > kMostThreads)
            return finding.fail({fmt::format(
                "there can be 1 to {} threads, not {}", kMostThreads, known->threads)});
        auto made = std::make_unique<lemma_session>(model);
        auto own = lemma::session::Session::create(
            model->loaded, {.threads = std::max(known->threads, 1), .seed = known->seed});
        if (!own) return finding.fail(own.error());
        made->session = std::move(*own);
        *session = made.release();
    });
}

void lemma_session_free(lemma_session* session) { delete session; }

lemma_model* lemma_session_model(const lemma_session* session) {
    return session ? session->model : nullptr;
}

int lemma_prepare(lemma_session* session,
                  const lemma_tensor* inputs,
                  size_t count,
                  const lemma_control* control,
                  lemma_report** report) {
    return api::controlled_call(session, control, report, [&](Finding& finding) {
        std::string fault = api::fault_of(*session, inputs, count, nullptr, 0);
        if (!fault.empty()) return finding.fail({std::move(fault)});
        const auto given = api::given_inputs(*session->model, {inputs, count}, true);
        if (!given) return finding.fail(given.error());
        session->session->prepare(*given, finding);
    });
}

int lemma_run(lemma_session* session,
              const lemma_tensor* inputs,
              size_t input_count,
              lemma_tensor* outputs,
              size_t output_count,
              const lemma_control* control,
              lemma_report** report) {
    return api::controlled_call(session, control, report, [&](Finding& finding) {
        std::string fault = api::fault_of(*session, inputs, input_count, outputs, output_count);
        if (!fault.empty()) return finding.fail({std::move(fault)});
        api::run(*session, {inputs, input_count}, {outputs, output_count}, finding);
    });
}

int lemma_session_engine(const lemma_session* session) {
    if (!session) return LEMMA_AUTO;
    return session->session->engine() ? LEMMA_COMPILE : LEMMA_INTERPRET;
}

const char* lemma_session_engine_reason(const lemma_session* session) {
    return session ? session->session->engine_reason().c_str() : "";
}

int lemma_get_variable(lemma_session* session,
                       const char* name,
                       lemma_tensor* tensor,
                       lemma_report** report) {
    return api::session_call(session, report, [&](Finding& finding) {
        const std::string key = name ? name : "";
        const auto* const value = session->session->variable(key);
        if (!value)
            return finding.fail({fmt::format("there is no variable `{}` with a value", key)});
        auto copy = lemma::interpret::to_tensor(*value);
        if (!copy) return finding.fail(copy.error());
        auto& kept = session->variables[key] = api::LentTensor(std::move(*copy));
        if (tensor) *tensor = kept.view();
    });
}

int lemma_set_variable(lemma_session* session,
                       const char* name,
                       const lemma_tensor* tensor,
                       lemma_report** report) {
    return api::session_call(session, report, [&](Finding& finding) {
        const std::string key = name ? name : "";
        if (!tensor)
            return finding.fail({fmt::format("no value is given for the variable `{}`", key)});
        auto array = api::internal_array(key, *tensor);
        if (!array) return finding.fail(array.error());
        const auto done = session->session->set_variable(key, std::move(*array));
        if (!done) finding.fail(done.error());
    });
}

int lemma_reset(lemma_session* session, lemma_report** report) {
    return api::session_call(
        session, report, [&](Finding&) { session->session->reset_variables(); });
}

int lemma_save_variables(lemma_session* session, const char* path, lemma_report** report) {
    return api::session_call(session, report, [&](Finding& finding) {
        if (!path) return finding.fail({"no folder is given"});
        const auto done = session->session->save_variables(path);
        if (!done) finding.fail(done.error());
    });
}
