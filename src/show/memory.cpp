// SPDX-License-Identifier: Apache-2.0
#include "show/memory.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/match.h"
#include "show/cost.h"

namespace lemma::show {

namespace {

using TensorList = std::vector<ir::TensorId>;

class MemoryModel {
public:
    explicit MemoryModel(const ir::Program& program) : program_(program) {}

    // The run of a graph; `live` has the tensors that exist at its beginning.
    Amount run(const std::vector<ir::OpId>& ops, const TensorList& live, const TensorList& results);
    Amount total() const { return total_; }

private:
    void count(ir::TensorId id) {
        if (counted_.insert(id).second) total_ += bytes(program_, id);
    }
    // Compounds are replaced by their parts.
    void flatten(const std::vector<ir::OpId>& ops, std::vector<ir::OpId>& steps) const;
    TensorList made_by(const ir::Operation& op) const;
    // The earlier tensors that the operation and its bodies read.
    void find_reads(const ir::Operation& op, TensorList& found) const;
    Amount body_peak(const ir::Operation& op);
    TensorList loop_state(const ir::Operation& op) const;
    bool counts(ir::TensorId id) const {
        const ir::TensorRole role = program_.tensors[id].role;
        return role == ir::TensorRole::Input || role == ir::TensorRole::Intermediate;
    }

    const ir::Program& program_;
    std::set<ir::TensorId> counted_;
    Amount total_;
};

void append(TensorList& list, const std::vector<ir::Port>& ports) {
    for (const ir::Port& port : ports) {
        list.insert(list.end(), port.operand.items.begin(), port.operand.items.end());
    }
}

// The live tensors with their amounts, kept so that the total can shrink again.
class Live {
public:
    explicit Live(const ir::Program& program) : program_(program) {}
    void add(ir::TensorId id) {
        if (there_.insert(id).second) sum_ += bytes(program_, id);
    }
    void remove(ir::TensorId id) {
        if (there_.erase(id) == 0) return;
        sum_.value = std::max<int64_t>(sum_.value - bytes(program_, id).value, 0);
    }
    Amount sum() const { return sum_; }

private:
    const ir::Program& program_;
    std::set<ir::TensorId> there_;
    Amount sum_;
};

void MemoryModel::flatten(const std::vector<ir::OpId>& ops, std::vector<ir::OpId>& steps) const {
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program_.operations[id];
        if (op.compound())
            flatten(op.parts, steps);
        else
            steps.push_back(id);
    }
}

// The outputs and intermediate results of the formulas.
TensorList MemoryModel::made_by(const ir::Operation& op) const {
    TensorList made;
    append(made, op.outputs);
    for (const ir::Formula& formula : op.formulas) {
        for (const ir::Write& write : formula.writes) made.push_back(write.tensor);
    }
    return made;
}

void MemoryModel::find_reads(const ir::Operation& op, TensorList& found) const {
    append(found, op.inputs);
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        std::vector<ir::OpId> steps;
        flatten(graph.operations, steps);
        for (const ir::OpId step : steps) find_reads(program_.operations[step], found);
        append(found, graph.outputs);
    }
}

TensorList MemoryModel::loop_state(const ir::Operation& op) const {
    const auto* loop = std::get_if<ir::Loop>(&op.control);
    if (loop == nullptr) return {};
    TensorList state = loop->carried;
    state.insert(state.end(), loop->items.begin(), loop->items.end());
    if (loop->index.valid()) state.push_back(loop->index);
    return state;
}

Amount MemoryModel::body_peak(const ir::Operation& op) {
    Amount peak;
    for (const Body& body : bodies(op)) {
        const ir::Graph& graph = program_.graphs[body.graph];
        TensorList results;
        append(results, graph.outputs);
        peak = larger(peak, run(graph.operations, loop_state(op), results));
    }
    return peak;
}

Amount MemoryModel::run(const std::vector<ir::OpId>& ops,
                        const TensorList& live,
                        const TensorList& results) {
    std::vector<ir::OpId> steps;
    flatten(ops, steps);
    std::unordered_map<ir::TensorId, size_t, IdHash> last_use;
    std::vector<TensorList> reads(steps.size());
    for (size_t i = 0; i < steps.size(); ++i) {
        find_reads(program_.operations[steps[i]], reads[i]);
        for (const ir::TensorId id : reads[i]) last_use[id] = i;
    }
    for (const ir::TensorId id : results) last_use[id] = steps.size();

    Live now(program_);
    for (const ir::TensorId id : live) {
        if (!counts(id)) continue;
        count(id);
        now.add(id);
    }
    Amount peak = now.sum();
    for (size_t i = 0; i < steps.size(); ++i) {
        const ir::Operation& op = program_.operations[steps[i]];
        TensorList gone = reads[i];
        for (const ir::TensorId id : made_by(op)) {
            count(id);
            now.add(id);
            last_use.try_emplace(id, i);
            gone.push_back(id);
        }
        peak = larger(peak, now.sum() + body_peak(op));
        for (const ir::TensorId id : gone) {
            if (last_use[id] == i) now.remove(id);
        }
    }
    return peak;
}

}  // namespace

MemoryUse memory_use(const ir::Program& program) {
    const ir::Graph& main = program.graphs[program.main];
    TensorList inputs, results;
    append(inputs, main.inputs);
    append(results, main.outputs);
    for (const ir::Update& update : program.updates) results.push_back(update.value);
    MemoryModel model(program);
    const Amount peak = model.run(main.operations, inputs, results);
    return {.total = model.total(), .peak = peak};
}

}  // namespace lemma::show
