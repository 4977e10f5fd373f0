// SPDX-License-Identifier: Apache-2.0
#include "engine/samples.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"

namespace lemma::engine {

namespace {

using ir::SymId;
using ir::SymOp;

class Samples {
public:
    Samples(const ir::Program& program, OpenExtents& open, SymId extent)
        : program_(program),
          open_(open),
          symbols_(open.symbols()),
          extent_(extent),
          count_(open.bounded(extent).value_or(extent)) {}

    bool separate();

private:
    // The rows of a sample along the first axis; 0: the tensor is the same for all samples. Nothing
    // if the tensor has the extent in another way.
    std::optional<int64_t> rows(ir::TensorId id);
    bool is_good(const ir::Operation& op);
    bool is_good(const ir::Formula& formula);
    bool is_good_index(ir::TensorId id, const std::vector<ir::IndexTerm>& indices);
    bool is_row(SymId index, int64_t rows);
    bool is_below(SymId rest, int64_t rows);
    // Whether the expression has neither the extent nor the variable of the sample.
    bool is_free(SymId id) {
        const auto symbols = symbols_.symbols_of(id);
        return std::ranges::none_of(
            symbols, [&](SymId s) { return s == extent_ || s == count_ || s == sample_; });
    }
    SymId bounded(SymId id) { return open_.bounded(id).value_or(id); }

    const ir::Program& program_;
    OpenExtents& open_;
    ir::SymbolPool& symbols_;
    SymId extent_, count_;  // of the program; with its bounds
    // Of the formula under test.
    SymId sample_;
    const ir::Formula* formula_ = nullptr;
};

std::optional<int64_t> Samples::rows(ir::TensorId id) {
    const ir::Tensor& tensor = program_.tensors[id];
    const auto is_symbol = [&](const ir::Scalar& item) {
        const auto* const symbol = std::get_if<SymId>(&item);
        return symbol && !is_free(bounded(*symbol));
    };
    if (std::ranges::any_of(tensor.items, is_symbol)) return std::nullopt;
    for (size_t axis = 1; axis < tensor.shape.size(); ++axis) {
        if (!is_free(bounded(tensor.shape[axis]))) return std::nullopt;
    }
    if (tensor.shape.empty()) return 0;
    const SymId first = bounded(tensor.shape[0]);
    if (is_free(first)) return 0;
    const auto affine = symbols_.affine_in(first, count_);
    if (!affine || affine->offset != 0 || affine->factor < 1) return std::nullopt;
    return affine->factor;
}

// Whether 0 <= rest < rows, where `rest` is a sum of variables of the formula.
bool Samples::is_below(SymId rest, int64_t rows) {
    if (const auto number = symbols_.as_int(rest)) return *number >= 0 && *number < rows;
    const ir::SymNode node = symbols_.node(rest);
    std::vector<ir::SymTerm> terms = node.terms;
    if (node.kind == ir::SymKind::Symbol) terms = {{1, {{rest, 1}}}};
    if (terms.empty()) return false;
    int64_t most = 0;
    for (const ir::SymTerm& term : terms) {
        int64_t largest = 1;
        if (!term.factors.empty()) {
            const bool plain = term.factors.size() == 1 && term.factors[0].power == 1;
            const auto bound = std::ranges::find_if(formula_->bounds, [&](const ir::Bound& b) {
                return plain && b.index == term.factors[0].atom;
            });
            if (bound == formula_->bounds.end()) return false;
            const auto extent = symbols_.as_int(bounded(bound->extent));
            if (!extent) return false;
            largest = std::max<int64_t>(*extent - 1, 0);
        }
        const auto product = checked_mul(term.coefficient, largest);
        const auto sum = product ? checked_add(most, *product) : std::nullopt;
        if (term.coefficient < 0 || !sum) return false;
        most = *sum;
    }
    return most < rows;
}

// Whether the index is a row of the sample: rows * sample + rest.
bool Samples::is_row(SymId index, int64_t rows) {
    const auto rest = symbols_.substitute(index, {{sample_, symbols_.integer(0)}});
    if (!rest || !is_free(*rest)) return false;
    const auto begin = symbols_.apply(SymOp::Mul, sample_, symbols_.integer(rows));
    const auto whole = begin ? symbols_.apply(SymOp::Add, *begin, *rest) : std::nullopt;
    return whole && *whole == index && is_below(*rest, rows);
}

bool Samples::is_good_index(ir::TensorId id, const std::vector<ir::IndexTerm>& indices) {
    const auto found = rows(id);
    if (!found) return false;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
        const ir::IndexTerm& term = indices[axis];
        for (const SymId end : {term.below, term.above}) {
            if (end.valid() && !is_free(bounded(end))) return false;
        }
        const SymId index = bounded(term.value);
        const bool good = axis == 0 && *found > 0 ? is_row(index, *found) : is_free(index);
        if (!good) return false;
    }
    return *found == 0 || !indices.empty();
}

// A formula over samples writes the rows of each sample from rows of the same sample.
bool Samples::is_good(const ir::Formula& formula) {
    formula_ = &formula;
    sample_ = {};
    if (formula.counter.valid()) return false;
    for (const ir::Bound& bound : formula.bounds) {
        const SymId extent = bounded(bound.extent);
        if (extent == count_ && !sample_.valid()) {
            sample_ = bound.index;
        } else if (!is_free(extent)) {
            return false;
        }
    }
    const auto is_good_tensor = [&](ir::TensorId id, const auto& indices) {
        if (sample_.valid()) return is_good_index(id, indices);
        return rows(id) == 0 && std::ranges::all_of(indices, [&](const ir::IndexTerm& term) {
                   return is_free(bounded(term.value));
               });
    };
    for (const ir::Access& access : formula.accesses) {
        if (!is_good_tensor(access.tensor, access.indices)) return false;
    }
    if (formula.condition.valid() && !is_free(bounded(formula.condition))) return false;
    return std::ranges::all_of(formula.writes, [&](const ir::Write& write) {
        const bool all = !sample_.valid() || rows(write.tensor).value_or(0) > 0;
        return all && is_good_tensor(write.tensor, write.indices) && is_free(bounded(write.value));
    });
}

bool Samples::is_good(const ir::Operation& op) {
    const auto same_for_all = [&](const std::vector<ir::Port>& ports) {
        return std::ranges::all_of(ports, [&](const ir::Port& port) {
            return std::ranges::all_of(port.operand.items,
                                       [&](ir::TensorId id) { return rows(id) == 0; });
        });
    };
    switch (op.kind) {
        case ir::OperationKind::Compound:
            return std::ranges::all_of(
                op.parts, [&](ir::OpId part) { return is_good(program_.operations[part]); });
        case ir::OperationKind::Primitive:
            return std::ranges::all_of(op.formulas, [&](const auto& f) { return is_good(f); });
        case ir::OperationKind::Intrinsic:
            return same_for_all(op.inputs) && same_for_all(op.outputs);
        case ir::OperationKind::Control:
            return false;
    }
    return false;
}

bool Samples::separate() {
    if (!program_.updates.empty()) return false;
    const ir::Graph& graph = program_.graphs[program_.main];
    const auto all = [&](const std::vector<ir::Port>& ports, auto&& good) {
        return std::ranges::all_of(ports, [&](const ir::Port& port) {
            return !port.operand.length.valid() &&
                   std::ranges::all_of(port.operand.items,
                                       [&](ir::TensorId id) { return good(rows(id)); });
        });
    };
    return all(graph.inputs, [](auto rows) { return rows.has_value(); }) &&
           all(graph.outputs, [](auto rows) { return rows.value_or(0) > 0; }) &&
           std::ranges::all_of(graph.operations,
                               [&](ir::OpId id) { return is_good(program_.operations[id]); });
}

}  // namespace

bool has_separate_samples(const ir::Program& program, OpenExtents& open, ir::SymId extent) {
    return Samples(program, open, extent).separate();
}

}  // namespace lemma::engine
