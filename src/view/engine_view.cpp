// SPDX-License-Identifier: Apache-2.0
#include "view/engine_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/utf8.h"
#include "ir/text/text_words.h"
#include "loop/ir/node.h"
#include "show/cost.h"

namespace lemma::view {

namespace {

constexpr size_t kMostGroup = 256;                        // operations of a kernel
constexpr size_t kMostLoopsBytes = size_t{64} << 10;      // of one kernel
constexpr size_t kMostAllLoopsBytes = size_t{768} << 10;  // of all kernels
constexpr double kMacOperations = 2;                      // a multiplication and an addition

using StorageSet = std::set<loop::StorageId>;

void add_place(const loop::Plan& plan, ir::TensorId tensor, StorageSet& used) {
    const auto place = plan.places.find(tensor);
    if (place != plan.places.end()) used.insert(plan.root(place->second.storage));
}

// The memory that a step works on.
StorageSet storages_of(const ir::Program& program,
                       const loop::Plan& plan,
                       const loop::PlanStep& step) {
    StorageSet used;
    if (const loop::ScheduledKernel* const kernel = step.kernel()) {
        for (const loop::StorageId id : kernel->arguments)
            if (id.valid()) used.insert(plan.root(id));
        return used;
    }
    for (const ir::TensorId id : step.reads) add_place(plan, id, used);
    for (const ir::TensorId id : step.writes) add_place(plan, id, used);
    for (const ir::TensorId id : loop::used_tensors(program, step.op)) add_place(plan, id, used);
    return used;
}

int64_t bytes_of(const loop::Storage& storage) {
    return storage.elements * tensor::dtype_size(storage.dtype);
}

std::string name_of(const ir::Program& program, const loop::PlanStep& step) {
    const std::string& op = program.operations[step.op].op;
    return step.label.empty() ? op : fmt::format("{} {}", op, step.label);
}

Json ids_json(const std::vector<ir::OpId>& ops) {
    Json ids = Json::array();
    for (const ir::OpId id : ops) ids.push_back(id.value);
    return ids;
}

}  // namespace

// ---- Operations ---------------------------------------------------------------------------------

ProgramIndex::ProgramIndex(const ir::Program& program) : program_(program) {
    add(program.graphs[program.main].operations, {}, 0);
}

void ProgramIndex::add(const std::vector<ir::OpId>& ops, ir::OpId parent, int depth) {
    if (depth > ir::kMaxOperationDepth) return;
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program_.operations[id];
        if (!parents_.emplace(id, parent).second) continue;
        if (!op.compound()) {
            for (const ir::Port& port : op.outputs)
                for (const ir::TensorId item : port.operand.items) makers_.emplace(item, id);
        }
        add(op.parts, id, depth + 1);
        for (const show::Body& body : show::bodies(op))
            add(program_.graphs[body.graph].operations, id, depth + 1);
    }
}

// From the tensors that it writes back to those that it reads.
std::vector<ir::OpId> ProgramIndex::operations_of(const loop::PlanStep& step) const {
    std::set<ir::OpId> found = {step.op};
    if (!step.kernel()) return {step.op};
    const std::set<ir::TensorId> read(step.reads.begin(), step.reads.end());
    std::vector<ir::TensorId> open = step.writes;
    std::set<ir::TensorId> seen(open.begin(), open.end());
    while (!open.empty() && found.size() < kMostGroup) {
        const ir::TensorId tensor = open.back();
        open.pop_back();
        const auto maker = makers_.find(tensor);
        if (maker == makers_.end()) continue;
        found.insert(maker->second);
        for (const ir::Port& port : program_.operations[maker->second].inputs) {
            for (const ir::TensorId item : port.operand.items) {
                if (!read.contains(item) && seen.insert(item).second) open.push_back(item);
            }
        }
    }
    return {found.begin(), found.end()};
}

std::vector<ir::OpId> ProgramIndex::around(ir::OpId id) const {
    std::vector<ir::OpId> chain;
    while (id.valid() && chain.size() < static_cast<size_t>(ir::kMaxOperationDepth)) {
        chain.push_back(id);
        const auto parent = parents_.find(id);
        if (parent == parents_.end()) break;
        id = parent->second;
    }
    return chain;
}

// ---- Times --------------------------------------------------------------------------------------

Json times_json(const ir::Program& program, const engine::Engine& engine, const Times& times) {
    const loop::Plan& plan = engine.plan();
    const ProgramIndex index(program);
    struct Sum {
        double seconds = 0, operations = 0;
    };
    std::map<uint32_t, Sum> sums;
    Json kernels = Json::array();
    const std::vector<size_t>& numbers = engine.plan_steps();
    const size_t count = std::min(numbers.size(), times.steps.size());
    for (size_t i = 0; i < count; ++i) {
        const loop::PlanStep& step = plan.steps[numbers[i]];
        const double seconds = times.steps[i];
        for (const ir::OpId id : index.around(step.op)) {
            sums[id.value].seconds += seconds;
            sums[id.value].operations += step.operations;
        }
        int64_t bytes = 0;
        for (const loop::StorageId id : storages_of(program, plan, step))
            bytes += bytes_of(plan.storages[id]);
        Json kernel = {{"name", name_of(program, step)},
                       {"ms", seconds * 1e3},
                       {"operations", ids_json(index.operations_of(step))},
                       {"macs", step.operations / kMacOperations},
                       {"bytes", bytes}};
        if (step.kernel()) kernel["schedule"] = step.kernel()->schedule;
        if (const auto* const slow = std::get_if<loop::InterpretedStep>(&step.kind))
            kernel["interpreted"] = slow->why;
        if (times.peak > 0 && seconds > 0)
            kernel["share_of_peak"] = step.operations / seconds / times.peak;
        kernels.push_back(std::move(kernel));
    }
    Json operations = Json::object(), shares = Json::object();
    for (const auto& [id, sum] : sums) {
        operations[std::to_string(id)] = sum.seconds * 1e3;
        if (times.peak > 0 && sum.seconds > 0 && sum.operations > 0)
            shares[std::to_string(id)] = sum.operations / sum.seconds / times.peak;
    }
    return {{"threads", times.threads},
            {"total_ms", times.total * 1e3},
            {"peak_gflops", times.peak / 1e9},
            {"operations", std::move(operations)},
            {"share_of_peak", std::move(shares)},
            {"kernels", std::move(kernels)}};
}

// ---- Memory -------------------------------------------------------------------------------------

Json memory_json(const ir::Program& program, const engine::Engine& engine) {
    const loop::Plan& plan = engine.plan();
    struct Life {
        size_t first, last;
    };
    std::map<loop::StorageId, Life> lives;
    const std::vector<size_t>& numbers = engine.plan_steps();
    for (size_t i = 0; i < numbers.size(); ++i) {
        for (const loop::StorageId id : storages_of(program, plan, plan.steps[numbers[i]])) {
            const auto [life, added] = lives.try_emplace(id, Life{i, i});
            life->second.last = i;
        }
    }
    Json blocks = Json::array();
    for (const auto& [id, life] : lives) {
        const loop::Storage& storage = plan.storages[id];
        if (storage.offset < 0 || storage.role != loop::StorageRole::Computed) continue;
        const std::string name =
            storage.tensor.valid() ? program.tensors[storage.tensor].name : std::string();
        blocks.push_back({{"tensor", name},
                          {"first", life.first},
                          {"last", life.last},
                          {"offset", storage.offset},
                          {"bytes", bytes_of(storage)}});
    }
    Json names = Json::array();
    for (const size_t number : numbers) names.push_back(name_of(program, plan.steps[number]));
    return {{"arena_bytes", plan.arena_bytes},
            {"steps", numbers.size()},
            {"step_names", std::move(names)},
            {"blocks", std::move(blocks)}};
}

// ---- Kernels ------------------------------------------------------------------------------------

Json kernels_json(const ir::Program& program,
                  const engine::Engine& engine,
                  std::optional<uint32_t> operation) {
    const loop::Plan& plan = engine.plan();
    const loop::Plan loops = engine.plan_again();
    const ProgramIndex index(program);
    Json kernels = Json::array();
    size_t bytes = 0;
    for (const size_t number : engine.plan_steps()) {
        const loop::PlanStep& step = plan.steps[number];
        const std::vector<ir::OpId> group = index.operations_of(step);
        const bool wanted = !operation || std::ranges::any_of(group, [&](ir::OpId id) {
            const std::vector<ir::OpId> chain = index.around(id);
            return std::ranges::find(chain, *operation, &ir::OpId::value) != chain.end();
        });
        if (!wanted) continue;
        Json kernel = {{"operations", ids_json(group)}, {"name", name_of(program, step)}};
        if (const loop::ScheduledKernel* const made = step.kernel()) {
            kernel["schedule"] = made->schedule;
            const loop::ScheduledKernel* const full =
                number < loops.steps.size() ? loops.steps[number].kernel() : nullptr;
            if (full && bytes < kMostAllLoopsBytes) {
                std::string text = diag::shortened(loop::print(full->function), kMostLoopsBytes);
                bytes += text.size();
                kernel["loops"] = std::move(text);
            }
        } else if (const auto* const slow = std::get_if<loop::InterpretedStep>(&step.kind)) {
            kernel["schedule"] = "interpreted: " + slow->why;
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

}  // namespace lemma::view
