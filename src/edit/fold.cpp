// SPDX-License-Identifier: Apache-2.0
#include "edit/fold.h"

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "edit/evaluate.h"
#include "edit/slice.h"
#include "edit/summary.h"
#include "edit/uses.h"

namespace lemma::edit {

namespace {

// Chooses the operations. Operands come before results, so one pass finds chains.
class Chooser {
public:
    Chooser(const ir::Program& program, const FoldLimits& limits)
        : program_(program), limits_(limits) {
        for (const ir::Update& update : program.updates) changing_.insert(update.variable);
    }

    void run() {
        const ir::Graph& main = program_.graphs[program_.main];
        TensorSet read;  // by what stays
        for (const ir::OpId id : main.operations) {
            const Uses uses = uses_of(program_, id);
            if (is_constant(id, uses) && fits(id, uses)) {
                ++operations;
                computed_.insert(uses.made.begin(), uses.made.end());
            } else {
                read.insert(uses.reads.begin(), uses.reads.end());
            }
        }
        for (const ir::TensorId id : items_of(main.outputs)) read.insert(id);
        for (const ir::Update& update : program_.updates) read.insert(update.value);
        for (const ir::TensorId id : computed_) {
            if (read.contains(id)) results.push_back(id);
        }
        std::ranges::sort(results);
    }

    std::vector<ir::TensorId> results;  // read by operations that stay
    int64_t operations = 0, left = 0;

private:
    bool is_stored(ir::TensorId id) const {
        const ir::TensorRole role = program_.tensors[id].role;
        if (role == ir::TensorRole::Constant) return true;
        return role == ir::TensorRole::Variable && !changing_.contains(id);
    }

    bool is_constant(ir::OpId id, const Uses& uses) {
        const auto known = [&](ir::TensorId read) {
            return is_stored(read) || computed_.contains(read);
        };
        if (uses.made.empty() || !std::ranges::all_of(uses.reads, known)) return false;
        // What a number is rounded to depends on quantisers. Strings stay where they are.
        const auto plain = [&](ir::TensorId made) {
            const ir::Tensor& tensor = program_.tensors[made];
            return !tensor.quantizer && tensor.dtype != ir::DType::Str && has_numbers(tensor);
        };
        if (!std::ranges::all_of(uses.made, plain)) return false;
        if (!symbols_of(program_, id).read.empty()) return false;
        bool simple = true;  // random numbers differ from run to run
        visit(program_, id, [&](const ir::Operation& op) {
            simple = simple && (op.kind == ir::OperationKind::Primitive ||
                                op.kind == ir::OperationKind::Compound);
        });
        return simple;
    }

    bool has_numbers(const ir::Tensor& tensor) const {
        return std::ranges::all_of(tensor.shape, [&](ir::SymId extent) {
            return program_.symbols.as_int(extent).has_value();
        });
    }

    // Bytes in the file; one item for all elements counts once.
    int64_t stored_bytes(ir::TensorId id) const {
        const ir::Tensor& tensor = program_.tensors[id];
        if (tensor.role != ir::TensorRole::Constant) return bytes_of(program_, tensor);
        return static_cast<int64_t>(tensor.items.size()) * tensor::dtype_size(tensor.dtype);
    }

    bool fits(ir::OpId id, const Uses& uses) {
        int64_t before = 0, after = 0;
        for (const ir::TensorId read : uses.reads)
            before = checked_add(before, stored_bytes(read)).value_or(INT64_MAX);
        for (const ir::TensorId made : uses.made) {
            const int64_t bytes = bytes_of(program_, program_.tensors[made]);
            after = checked_add(after, bytes).value_or(INT64_MAX);
            // Extents that are known and give no number of bytes are too large.
            const bool empty = std::ranges::any_of(
                program_.tensors[made].shape,
                [&](ir::SymId extent) { return program_.symbols.as_int(extent) == 0; });
            if (bytes == 0 && !empty) after = INT64_MAX;
        }
        const double steps = steps_of(id);
        const int64_t growth = std::max<int64_t>(after - before, 0);
        if (growth > limits_.max_growth - growth_ || steps > limits_.max_steps - steps_) {
            ++left;
            return false;
        }
        growth_ += growth;
        steps_ += steps;
        return true;
    }

    double steps_of(ir::OpId id) const {
        double all = 0;
        visit(program_, id, [&](const ir::Operation& op) {
            for (const ir::Formula& formula : op.formulas) {
                double steps = 1;
                for (const ir::Bound& bound : formula.bounds)
                    steps *= static_cast<double>(program_.symbols.range(bound.extent).high);
                all += steps;
            }
        });
        return all;
    }

    const ir::Program& program_;
    const FoldLimits& limits_;
    TensorSet changing_, computed_;
    int64_t growth_ = 0;
    double steps_ = 0;
};

std::vector<ir::Scalar> scalar_items(const tensor::Tensor& value) {
    if (value.size() != 1) return {};
    if (tensor::is_real(value.dtype())) return {value.real(0)};
    if (value.dtype() == tensor::DType::Bool) return {value.integer(0) != 0};
    return {value.integer(0)};
}

}  // namespace

Result<Folded> fold_constants(const model::LoadedModel& model, const FoldLimits& limits) {
    Chooser chooser(model.program, limits);
    chooser.run();
    Folded folded{.operations = chooser.operations, .left = chooser.left};
    if (chooser.results.empty()) return folded;
    LEMMA_TRY(std::vector<tensor::Tensor> values, evaluate(model, chooser.results));
    for (size_t i = 0; i < values.size(); ++i) {
        const ir::TensorId id = chooser.results[i];
        folded.stored.push_back({id, scalar_items(values[i])});
        if (folded.stored.back().items.empty())
            folded.data.emplace(model.program.tensors[id].name, std::move(values[i]));
    }
    return folded;
}

// ---- Identities ---------------------------------------------------------------------------------

namespace {

// y[i, j] = x[i, j] for all i and j, with the same type.
std::optional<ir::TensorId> copied_by(const ir::Program& program, const ir::Operation& op) {
    if (op.kind != ir::OperationKind::Primitive || op.formulas.size() != 1) return std::nullopt;
    const ir::Formula& formula = op.formulas[0];
    if (formula.op != ir::FormulaOp::Assign || formula.accesses.size() != 1 ||
        formula.writes.size() != 1 || formula.condition.valid() || formula.counter.valid())
        return std::nullopt;
    const ir::Access& access = formula.accesses[0];
    const ir::Write& write = formula.writes[0];
    const ir::Tensor& from = program.tensors[access.tensor];
    const ir::Tensor& to = program.tensors[write.tensor];
    const bool same = write.value == access.symbol && access.indices == write.indices &&
                      from.dtype == to.dtype && from.shape == to.shape && !to.quantizer;
    // Each index runs over its whole axis.
    std::set<ir::SymId> seen;
    for (size_t i = 0; same && i < write.indices.size(); ++i) {
        const ir::IndexTerm& term = write.indices[i];
        const auto bound = std::ranges::find(formula.bounds, term.value, &ir::Bound::index);
        const bool number =
            program.symbols.as_int(term.value) == 0 && program.symbols.as_int(to.shape[i]) == 1;
        const bool whole = bound != formula.bounds.end() && bound->extent == to.shape[i] &&
                           seen.insert(term.value).second;
        if (term.guard != ir::Guard::None || (!number && !whole)) return std::nullopt;
    }
    return same ? std::optional(access.tensor) : std::nullopt;
}

void collect(const ir::Program& program,
             const std::vector<ir::OpId>& list,
             std::unordered_map<ir::TensorId, ir::TensorId, IdHash>& same) {
    for (const ir::OpId id : list) {
        const ir::Operation& op = program.operations[id];
        if (op.compound()) {
            // Only operations that do nothing else vanish; others keep their definition.
            std::unordered_map<ir::TensorId, ir::TensorId, IdHash> inner;
            collect(program, op.parts, inner);
            const Uses uses = uses_of(program, id);
            if (std::ranges::all_of(uses.made,
                                    [&](ir::TensorId made) { return inner.contains(made); }))
                same.insert(inner.begin(), inner.end());
            continue;
        }
        if (const auto from = copied_by(program, op))
            same.emplace(op.outputs[0].operand.items[0], *from);
    }
}

}  // namespace

std::unordered_map<ir::TensorId, ir::TensorId, IdHash> find_identities(const ir::Program& program) {
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> same;
    const ir::Graph& main = program.graphs[program.main];
    collect(program, main.operations, same);
    // Outputs stay different tensors that operations make.
    TensorSet outputs;
    for (const ir::TensorId id : items_of(main.outputs)) {
        if (!same.contains(id)) outputs.insert(id);
    }
    for (const ir::TensorId id : items_of(main.outputs)) {
        if (!same.contains(id)) continue;
        const ir::TensorId from = follow(same, id);
        const bool made = program.tensors[from].role == ir::TensorRole::Intermediate;
        if (!made || !outputs.insert(from).second) same.erase(id);
    }
    return same;
}

}  // namespace lemma::edit
