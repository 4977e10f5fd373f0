// SPDX-License-Identifier: Apache-2.0
#include "view/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "engine/engine.h"
#include "ir/text/text_words.h"
#include "session/tensors.h"
#include "show/cost.h"
#include "view/engine_view.h"

namespace lemma::view {

namespace {

using Clock = std::chrono::steady_clock;
using session::EngineKind;

constexpr size_t kMostRuns = 200;
constexpr uint64_t kWeightSeed = 1;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Error reason(const model::Finding& finding, const std::string& otherwise) {
    if (finding.unusable) return *finding.unusable;
    if (!finding.diag.items().empty()) return Error{finding.diag.items().front().message};
    return Error{otherwise};
}

// The largest difference, and its share of the largest value.
struct Difference {
    double absolute = 0, largest = 0;

    void add(const interpret::Array& got, const interpret::Array& wanted) {
        const auto one = [&](double a, double b) {
            if (std::isfinite(b)) largest = std::max(largest, std::abs(b));
            if (a == b || (std::isnan(a) && std::isnan(b))) return;
            const double difference = std::abs(a - b);
            absolute = std::isnan(difference) ? INFINITY : std::max(absolute, difference);
        };
        const size_t reals = std::min(got.reals.size(), wanted.reals.size());
        for (size_t i = 0; i < reals; ++i) one(got.reals[i], wanted.reals[i]);
        const size_t integers = std::min(got.integers.size(), wanted.integers.size());
        for (size_t i = 0; i < integers; ++i)
            one(static_cast<double>(got.integers[i]), static_cast<double>(wanted.integers[i]));
    }
    Json json() const {
        const auto number = [](double value) {
            return std::isfinite(value) ? Json(value) : Json("inf");
        };
        const double relative = absolute == 0 ? 0 : largest > 0 ? absolute / largest : INFINITY;
        return {{"max_abs", number(absolute)}, {"max_rel", number(relative)}};
    }
};

}  // namespace

Workbench::Workbench(const ViewedModel& viewed, WorkbenchOptions options)
    : viewed_(viewed), options_(std::move(options)) {}

Workbench::~Workbench() = default;

Result<std::unique_ptr<session::Session>> Workbench::open(EngineKind engine,
                                                          int threads,
                                                          bool all_tensors,
                                                          const RunControl& control) const {
    if (!viewed_.loaded) {
        return std::unexpected(Error{viewed_.own_program ? "a program has no data to run it with"
                                                         : "the model has errors"});
    }
    session::SessionOptions options = options_.session;
    options.engine = engine;
    options.threads = threads;
    options.control = &control;
    if (!options.random_weights) options.random_weights = kWeightSeed;
    if (all_tensors) options.extra_outputs = {"*"};
    model::Finding finding{.model = options_.model, .diag = Diagnostics()};
    auto session = session::Session::open(options_.model, options, finding);
    if (!session) return std::unexpected(reason(finding, "the model cannot be run"));
    if (session->program().operations.size() != viewed_.program()->operations.size())
        return std::unexpected(Error{"the files of the model have changed; start again"});
    session->set_control(&control);
    return session;
}

Result<interpret::NamedArrays> Workbench::inputs(const ir::Program& program, uint64_t seed) const {
    LEMMA_TRY(interpret::NamedArrays inputs,
              session::read_inputs(program, options_.session.inputs, options_.session.read_input));
    LEMMA_TRY(session::add_random_inputs(program, seed, inputs));
    return inputs;
}

// ---- Values -------------------------------------------------------------------------------------

Result<Workbench::Arrays> Workbench::run_all(EngineKind engine,
                                             uint64_t seed,
                                             const RunControl& control) const {
    LEMMA_TRY(const auto session, open(engine, 1, true, control));
    const ir::Program& program = session->program();
    LEMMA_TRY(interpret::NamedArrays given, inputs(program, seed));
    model::Finding finding{.model = options_.model, .diag = Diagnostics()};
    auto outputs = session->step(given, finding);
    if (!outputs) return std::unexpected(reason(finding, "the run failed"));
    Arrays arrays;
    const ir::Graph& main = program.graphs[program.main];
    const auto take = [&](const std::vector<ir::Port>& ports, interpret::NamedArrays& from) {
        for (const ir::Port& port : ports) {
            auto& values = from[port.name];
            const size_t count = std::min(values.size(), port.operand.items.size());
            for (size_t i = 0; i < count; ++i)
                arrays.try_emplace(program.tensors[port.operand.items[i]].name,
                                   std::move(values[i]));
        }
    };
    take(main.outputs, *outputs);
    take(main.inputs, given);
    return arrays;
}

Result<Json> Workbench::run(uint64_t seed, const RunControl& control) {
    LEMMA_TRY(results_, run_all(EngineKind::Auto, seed, control));
    Json tensors = Json::object();
    for (const auto& [name, array] : results_) {
        LEMMA_TRY(go_on(&control));
        tensors[name] = tensor_json(array, nullptr);
    }
    return Json{{"tensors", std::move(tensors)}};
}

Result<Json> Workbench::compare(const RunControl& control) {
    constexpr uint64_t kSeed = 1;
    LEMMA_TRY(const Arrays wanted, run_all(EngineKind::Interpret, kSeed, control));
    LEMMA_TRY(const Arrays got, run_all(EngineKind::Jit, kSeed, control));
    const ir::Program& program = *viewed_.program();
    Json operations = Json::object();
    for (size_t i = 0; i < program.operations.size(); ++i) {
        Difference difference;
        bool known = false;
        for (const ir::Port& port : program.operations[make_id<ir::OpId>(i)].outputs) {
            for (const ir::TensorId item : port.operand.items) {
                const std::string& name = program.tensors[item].name;
                const auto a = got.find(name), b = wanted.find(name);
                if (a == got.end() || b == wanted.end()) continue;
                known = true;
                difference.add(a->second, b->second);
            }
        }
        if (known) operations[std::to_string(i)] = difference.json();
    }
    return Json{{"operations", std::move(operations)}};
}

Result<Json> Workbench::tensor(const std::string& name, const SliceWish& slice) const {
    if (const auto found = results_.find(name); found != results_.end())
        return tensor_json(found->second, &slice);
    if (const ir::Program* const program = viewed_.program(); program && viewed_.loaded) {
        for (const ir::Tensor& tensor : program->tensors) {
            if (tensor.role != ir::TensorRole::Variable || tensor.name != name) continue;
            LEMMA_TRY(const auto data, viewed_.loaded->data(tensor));
            if (data) return tensor_json(*data, &slice);
            return std::unexpected(Error{fmt::format("the model has no data for `{}`", name)});
        }
    }
    return std::unexpected(Error{fmt::format("no values of `{}` yet: run the model first", name)});
}

Result<Json> Workbench::weights(const RunControl& control) const {
    Json tensors = Json::object();
    if (!viewed_.loaded) return tensors;
    for (const ir::Tensor& tensor : viewed_.program()->tensors) {
        if (tensor.role != ir::TensorRole::Variable) continue;
        LEMMA_TRY(go_on(&control));
        LEMMA_TRY(const auto data, viewed_.loaded->data(tensor));
        if (data) tensors[tensor.name] = tensor_json(*data, nullptr);
    }
    return tensors;
}

// ---- The engine ---------------------------------------------------------------------------------

Result<session::Session*> Workbench::prepared(int threads, const RunControl& control) {
    if (engine_ && threads_ == threads) {
        engine_->set_control(&control);
        return engine_.get();
    }
    engine_.reset();
    constexpr uint64_t kSeed = 1;
    LEMMA_TRY(auto session, open(EngineKind::Jit, threads, false, control));
    LEMMA_TRY(const interpret::NamedArrays given, inputs(session->program(), kSeed));
    LEMMA_TRY(session->engine()->prepare(given));
    engine_ = std::move(session);
    threads_ = threads;
    return engine_.get();
}

Result<Json> Workbench::profile(int threads, const RunControl& control) {
    LEMMA_TRY(session::Session* const session, prepared(threads, control));
    engine::Engine& engine = *session->engine();
    LEMMA_TRY(engine.run_again());
    Times times{.threads = threads, .total = INFINITY};
    const auto start = Clock::now();
    std::vector<double> steps;
    for (size_t run = 0; run < kMostRuns && (run < 2 || seconds_since(start) < options_.seconds);
         ++run) {
        LEMMA_TRY(go_on(&control));
        const auto begin = Clock::now();
        LEMMA_TRY(engine.run_again(&steps));
        times.total = std::min(times.total, seconds_since(begin));
        if (times.steps.empty()) times.steps = steps;
        for (size_t i = 0; i < std::min(steps.size(), times.steps.size()); ++i)
            times.steps[i] = std::min(times.steps[i], steps[i]);
    }
    if (options_.peak) {
        LEMMA_TRY(times.peak, options_.peak(threads));
    }
    return times_json(session->program(), engine, times);
}

Result<Json> Workbench::memory(const RunControl& control) {
    LEMMA_TRY(session::Session* const session, prepared(std::max(threads_, 1), control));
    return memory_json(session->program(), *session->engine());
}

Result<Json> Workbench::kernels(std::optional<uint32_t> operation, const RunControl& control) {
    LEMMA_TRY(session::Session* const session, prepared(std::max(threads_, 1), control));
    return kernels_json(session->program(), *session->engine(), operation);
}

}  // namespace lemma::view
