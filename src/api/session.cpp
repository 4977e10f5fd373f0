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
#include "api/session.h"
#include "base/checked.h"
#include "engine/engine.h"
#include "session/session.h"
#include "session/tensors.h"

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
    if (made.size > 0 && made.data != to.data) std::memcpy(to.data, made.data, made.size);
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

// ---- Carried outputs ----------------------------------------------------------------------------

ir::TensorId item_of(const std::vector<ir::Port>& ports, size_t index) {
    for (const ir::Port& port : ports) {
        if (index < port.operand.items.size()) return port.operand.items[index];
        index -= port.operand.items.size();
    }
    return {};
}

const ir::Graph& graph_of(const lemma_session& session) {
    const ir::Program& program = session.model->program();
    return program.graphs[program.main];
}

ir::TensorId input_of(const lemma_session& session, const lemma_session::Carry& carry) {
    return item_of(graph_of(session).inputs, carry.input);
}

bool has_value(lemma_session& session, const lemma_session::Carry& carry) {
    const engine::Engine* const engine = session.session->engine();
    return carry.value || (engine && engine->carried(input_of(session, carry)));
}

// Whether a carried value replaces the input.
bool is_carried(lemma_session& session, size_t input) {
    return std::ranges::any_of(session.carries, [&](const lemma_session::Carry& carry) {
        return carry.input == input && has_value(session, carry);
    });
}

// Moves the values to the engine.
Result<void> give_carried(lemma_session& session, engine::Engine& engine) {
    for (lemma_session::Carry& carry : session.carries) {
        if (!carry.value) continue;
        LEMMA_TRY(engine.set_carried(input_of(session, carry), *carry.value));
        carry.value.reset();
    }
    return {};
}

// Copies the values of the engine to the session.
Result<void> take_carried(lemma_session& session) {
    const engine::Engine* const engine = session.session->engine();
    for (lemma_session::Carry& carry : session.carries) {
        if (carry.value || !engine) continue;
        const auto* const value = engine->carried(input_of(session, carry));
        if (!value) continue;
        LEMMA_TRY(carry.value, value->value());
    }
    return {};
}

// ---- Runs ---------------------------------------------------------------------------------------

// Runs from bytes to bytes, if the session can. False: the general way is needed.
Result<bool> run_directly(lemma_session& session,
                          std::span<const lemma_tensor> inputs,
                          std::span<lemma_tensor> outputs,
                          const DeviceTensors& there) {
    engine::Engine* const engine = session.session->direct_engine();
    if (!engine) return false;
    if (!give_carried(session, *engine)) return false;
    session.given.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
        const lemma_tensor& input = inputs[i];
        if (is_carried(session, i)) {
            session.given.emplace_back();
            continue;
        }
        if (!is_plain(input)) return false;
        session.given.push_back(
            {internal_type(input.type), {input.shape, input.rank}, input.data, there.has_input(i)});
    }
    session.rooms.clear();
    for (size_t i = 0; i < outputs.size(); ++i) {
        session.rooms.push_back({outputs[i].data, outputs[i].size, there.has_output(i)});
    }
    size_t next = 0;
    const auto receive = [&](const engine::Engine::Output& made) {
        const size_t index = next++;
        if (index >= outputs.size()) return Result<void>();
        if (made.carried) {
            outputs[index] = {};
            return Result<void>();
        }
        return give_bytes(session, index, made, outputs[index]);
    };
    return engine->run_directly(session.given, receive, session.rooms, there.stream);
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

// The inputs of the caller and carried values; `lent` keeps these.
Result<interpret::NamedArrays> all_inputs(lemma_session& session,
                                          std::span<const lemma_tensor> inputs,
                                          std::vector<LentTensor>& lent) {
    std::vector<lemma_tensor> all(inputs.begin(), inputs.end());
    LEMMA_TRY(take_carried(session));
    for (const lemma_session::Carry& carry : session.carries) {
        if (!carry.value) continue;
        lent.emplace_back(*carry.value);
        all[carry.input] = lent.back().view();
    }
    return given_inputs(*session.model, all);
}

// The general way.
Result<void> run_step(lemma_session& session,
                      const interpret::NamedArrays& given,
                      std::span<lemma_tensor> outputs,
                      Finding& finding) {
    const auto made = session.session->step(given, finding);
    if (!made) return {};
    LEMMA_TRY(keep_outputs(session, *made));
    for (size_t i = 0; i < outputs.size(); ++i) {
        const std::string& name = session.model->about.outputs[i].name;
        const bool carried = std::ranges::find(session.carries, i, &lemma_session::Carry::output) !=
                             session.carries.end();
        if (carried) {
            outputs[i] = {};
            continue;
        }
        LEMMA_TRY(give(name, session.outputs[i].view(), outputs[i]));
    }
    for (lemma_session::Carry& carry : session.carries) {
        carry.value = session.outputs[carry.output].tensor();
    }
    return {};
}

// Runs from bytes to bytes as well, but may have to make the code first. Of sessions that begin at
// the same time, one makes it.
Result<bool> prepare_and_run(lemma_session& session,
                             std::span<const lemma_tensor> inputs,
                             std::span<lemma_tensor> outputs,
                             const DeviceTensors& there) {
    LEMMA_TRY(const bool direct, run_directly(session, inputs, outputs, there));
    engine::Engine* const engine = session.session->direct_engine();
    const bool again = engine && !engine->needs_arrays();
    if (direct || !again || !session.carries.empty()) return direct;
    {
        LEMMA_TRY(const auto turn, engine->first_turn());
        if (!turn) return false;
        LEMMA_TRY(const bool ready, engine->load_directly(session.given));
        if (!ready && !engine->make_directly(session.given)) {
            std::vector<lemma_tensor> seen(inputs.begin(), inputs.end());
            for (size_t i = 0; i < seen.size(); ++i) {
                if (there.has_input(i)) seen[i].data = nullptr;
            }
            LEMMA_TRY(const auto given, given_inputs(*session.model, seen, there.any()));
            Finding unused;  // the run itself reports it
            session.session->prepare(given, unused);
        }
    }
    return run_directly(session, inputs, outputs, there);
}

}  // namespace

void run(lemma_session& session,
         std::span<const lemma_tensor> inputs,
         std::span<lemma_tensor> outputs,
         const DeviceTensors& there,
         Finding& finding) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].data || !is_carried(session, i)) continue;
        return finding.fail({fmt::format("the input `{}` is carried over from the last run",
                                         session.model->about.inputs[i].name)});
    }
    if (there.any() && !session.model->loaded->device())
        return finding.fail({"the model runs on the processor: its tensors are in main memory"});
    const auto direct = prepare_and_run(session, inputs, outputs, there);
    if (!direct) return finding.fail(direct.error());
    if (*direct) return;
    if (there.any()) return run_in_main_memory(session, inputs, outputs, there, finding);
    std::vector<LentTensor> lent;
    lent.reserve(session.carries.size());
    const auto given = all_inputs(session, inputs, lent);
    if (!given) return finding.fail(given.error());
    if (auto done = run_step(session, *given, outputs, finding); !done) {
        finding.fail(done.error());
    }
}

namespace {

Result<void> carry(lemma_session& session, const std::string& output, const std::string& input) {
    const auto find = [](const auto& infos, const std::string& name) {
        return std::ranges::find(infos, name, [](const auto& info) { return info.name; });
    };
    const auto& about = session.model->about;
    const auto from = find(about.outputs, output);
    const auto to = find(about.inputs, input);
    if (from == about.outputs.end())
        return std::unexpected(Error{fmt::format("there is no output `{}`", output)});
    if (to == about.inputs.end())
        return std::unexpected(Error{fmt::format("there is no input `{}`", input)});
    lemma_session::Carry made{static_cast<size_t>(from - about.outputs.begin()),
                              static_cast<size_t>(to - about.inputs.begin()),
                              {}};
    for (const lemma_session::Carry& other : session.carries) {
        if (other.output == made.output || other.input == made.input)
            return std::unexpected(Error{fmt::format(
                "the output `{}` or the input `{}` is carried already", output, input)});
    }
    const ir::TensorId source = item_of(graph_of(session).outputs, made.output);
    const ir::TensorId target = input_of(session, made);
    const ir::Tensor& a = session.model->program().tensors[source];
    const ir::Tensor& b = session.model->program().tensors[target];
    if (a.dtype != b.dtype || a.shape.size() != b.shape.size() || a.dtype == tensor::DType::Str)
        return std::unexpected(Error{fmt::format(
            "the output `{}` cannot become the input `{}`: types or ranks differ", output, input)});
    if (engine::Engine* const engine = session.session->engine()) {
        LEMMA_TRY(engine->carry(source, target));
    }
    session.carries.push_back(std::move(made));
    return {};
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
        api::run(*session, {inputs, input_count}, {outputs, output_count}, {}, finding);
    });
}

int lemma_run_with(lemma_session* session,
                   const lemma_tensor* inputs,
                   size_t input_count,
                   lemma_tensor* outputs,
                   size_t output_count,
                   const lemma_run_options* options,
                   lemma_report** report) {
    const auto known = api::options_of(options, "lemma_run_options");
    if (!known) return api::refuse(known.error().message, report);
    return api::controlled_call(session, known->control, report, [&](Finding& finding) {
        std::string fault = api::fault_of(*session, inputs, input_count, outputs, output_count);
        if (!fault.empty()) return finding.fail({std::move(fault)});
        api::run(*session,
                 {inputs, input_count},
                 {outputs, output_count},
                 {.inputs = {known->device_inputs, known->device_inputs ? input_count : 0},
                  .outputs = {known->device_outputs, known->device_outputs ? output_count : 0},
                  .stream = known->stream},
                 finding);
    });
}

int lemma_carry(lemma_session* session,
                const char* output,
                const char* input,
                lemma_report** report) {
    return api::session_call(session, report, [&](Finding& finding) {
        const auto done = api::carry(*session, output ? output : "", input ? input : "");
        if (!done) finding.fail(done.error());
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
    return api::session_call(session, report, [&](Finding&) {
        session->session->reset_variables();
        for (auto& carry : session->carries) carry.value.reset();
        if (auto* const engine = session->session->engine()) engine->drop_carried();
    });
}

int lemma_save_variables(lemma_session* session, const char* path, lemma_report** report) {
    return api::session_call(session, report, [&](Finding& finding) {
        if (!path) return finding.fail({"no folder is given"});
        const auto done = session->session->save_variables(path);
        if (!done) finding.fail(done.error());
    });
}
