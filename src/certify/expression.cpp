// SPDX-License-Identifier: Apache-2.0
#include "certify/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "ir/program/lane_math.h"
#include "ir/symbols/comparison.h"

namespace lemma::certify {

namespace {

class Builder {
public:
    Builder(const ir::Program& program, const ir::Formula& formula, const Shapes& shapes)
        : program_(program), pool_(program.symbols), formula_(formula), shapes_(shapes) {}

    Result<Expression> build();

private:
    NodeId node(ir::SymId id);
    Node make(ir::SymId id);
    Node load(size_t access);
    Node constant(ir::SymId id);
    Node operation(ir::SymId id, const ir::SymNode& symbol);
    std::vector<NodeTerm> terms(const std::vector<ir::SymTerm>& terms);
    Place place(ir::TensorId tensor, const std::vector<ir::IndexTerm>& indices);
    void find_affine(Place& place, const std::vector<ir::IndexTerm>& indices);
    NodeId add(Node made);
    void settle(Node& made);
    NodeId sigmoid_operand(const Node& division) const;
    bool is_constant(NodeId id, double value) const {
        const Node& node = out_.nodes[id];
        return node.kind == NodeKind::Constant && node.type == ir::ScalarType::Real &&
               node.real == value;
    }
    void fail(std::string message) {
        if (error_.empty()) error_ = std::move(message);
    }

    const ir::Program& program_;
    const ir::SymbolPool& pool_;
    const ir::Formula& formula_;
    const Shapes& shapes_;
    Expression out_;
    std::map<ir::SymId, NodeId> known_;
    std::map<ir::SymId, size_t> accesses_;  // by symbol
    std::vector<ir::SymId> loops_;
    std::string error_;
};

NodeId Builder::add(Node made) {
    settle(made);
    out_.nodes.push_back(std::move(made));
    return static_cast<NodeId>(out_.nodes.size() - 1);
}

// The depth, and whether a number is enough.
void Builder::settle(Node& made) {
    if (made.kind == NodeKind::Load || made.kind == NodeKind::Index) return;
    made.concrete = made.type == ir::ScalarType::Int || made.type == ir::ScalarType::Bool;
    const auto visit = [&](NodeId id) {
        made.depth = std::max(made.depth, out_.nodes[id].depth);
        made.concrete &= out_.nodes[id].concrete;
    };
    for (const NodeId operand : made.operands) visit(operand);
    for (const auto* side : {&made.terms, &made.right}) {
        for (const NodeTerm& term : *side) {
            for (const NodeId factor : term.factors) visit(factor);
        }
    }
}

NodeId Builder::node(ir::SymId id) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    Node made = make(id);
    const NodeId result = add(std::move(made));
    known_[id] = result;
    return result;
}

Node Builder::constant(ir::SymId id) {
    Node made{.kind = NodeKind::Constant, .type = pool_.type(id)};
    if (const auto whole = pool_.as_int(id)) {
        made.integer = *whole;
    } else if (const auto real = pool_.as_real(id)) {
        made.real = *real;
    } else if (const auto flag = pool_.as_bool(id)) {
        made.integer = *flag;
    } else {
        fail("texts have no bounds");
    }
    return made;
}

std::vector<NodeTerm> Builder::terms(const std::vector<ir::SymTerm>& terms) {
    std::vector<NodeTerm> made;
    for (const ir::SymTerm& term : terms) {
        NodeTerm one{.coefficient = term.coefficient};
        for (const ir::SymFactor& factor : term.factors) {
            one.factors.insert(one.factors.end(), factor.power, node(factor.atom));
        }
        made.push_back(std::move(one));
    }
    return made;
}

Node Builder::make(ir::SymId id) {
    if (const auto found = accesses_.find(id); found != accesses_.end()) return load(found->second);
    if (pool_.is_constant(id)) return constant(id);
    const ir::SymNode symbol = pool_.node(id);
    switch (symbol.kind) {
        case ir::SymKind::Constant:
            return constant(id);
        case ir::SymKind::Symbol:
            fail(fmt::format("`{}` is not known before the run", symbol.name));
            return {};
        case ir::SymKind::Polynomial:
            return {.kind = NodeKind::Polynomial,
                    .type = ir::ScalarType::Int,
                    .terms = terms(symbol.terms)};
        case ir::SymKind::Operation:
            return operation(id, symbol);
    }
    return {};
}

Node Builder::operation(ir::SymId id, const ir::SymNode& symbol) {
    Node made{
        .kind = NodeKind::Operation, .op = symbol.op, .type = pool_.type(id), .name = symbol.name};
    const bool compares = symbol.op == ir::SymOp::LessEqual || symbol.op == ir::SymOp::Equal;
    if (compares && symbol.operands.size() == 1) {
        const ir::Comparison sides = ir::comparison_of(pool_, symbol.operands[0], symbol.op);
        made.kind = NodeKind::Compare;
        made.terms = terms(sides.left);
        made.right = terms(sides.right);
        made.strict = sides.strict;
        return made;
    }
    for (const ir::SymId operand : symbol.operands) made.operands.push_back(node(operand));
    made.sigmoid = sigmoid_operand(made);
    return made;
}

// 1 / (exp(-x) + 1)
NodeId Builder::sigmoid_operand(const Node& division) const {
    const auto is = [&](NodeId id, ir::SymOp op) {
        const Node& node = out_.nodes[id];
        return node.kind == NodeKind::Operation && node.op == op;
    };
    if (division.op != ir::SymOp::Div || division.type != ir::ScalarType::Real) return kNoNode;
    if (!is_constant(division.operands[0], 1) || !is(division.operands[1], ir::SymOp::Add))
        return kNoNode;
    const auto& sum = out_.nodes[division.operands[1]].operands;
    if (sum.size() != 2) return kNoNode;
    const bool last = is_constant(sum[1], 1);
    if (!last && !is_constant(sum[0], 1)) return kNoNode;
    const NodeId power = last ? sum[0] : sum[1];
    if (!is(power, ir::SymOp::Function) || out_.nodes[power].name != "exp") return kNoNode;
    const NodeId negative = out_.nodes[power].operands[0];
    return is(negative, ir::SymOp::Neg) ? out_.nodes[negative].operands[0] : kNoNode;
}

Node Builder::load(size_t position) {
    const ir::Access& access = formula_.accesses[position];
    Node made{.kind = NodeKind::Load, .type = pool_.type(access.symbol), .position = position};
    Place place = this->place(access.tensor, access.indices);
    for (const AccessIndex& index : place.indices) {
        for (const NodeId id : {index.value, index.below, index.above}) {
            if (id != kNoNode) made.depth = std::max(made.depth, out_.nodes[id].depth);
        }
    }
    // An output is read where it is written, after earlier steps.
    const bool written = std::ranges::any_of(
        formula_.writes, [&](const ir::Write& write) { return write.tensor == access.tensor; });
    if (written) made.depth = out_.extents.size();
    out_.accesses[position] = std::move(place);
    return made;
}

Place Builder::place(ir::TensorId tensor, const std::vector<ir::IndexTerm>& indices) {
    Place made{.tensor = tensor};
    const auto shape = shapes_.find(tensor);
    if (shape == shapes_.end() || shape->second.size() != indices.size()) {
        fail(fmt::format("`{}` has no known shape", program_.tensors[tensor].name));
        return made;
    }
    made.shape = shape->second;
    for (const ir::IndexTerm& term : indices) {
        AccessIndex index{.guard = term.guard, .value = node(term.value)};
        if (term.guard == ir::Guard::Remap) {
            index.below = node(term.below);
            index.above = node(term.above);
        }
        made.indices.push_back(index);
    }
    find_affine(made, indices);
    return made;
}

// Sums of loop indices with ranges inside of the tensor need no checks at every step.
void Builder::find_affine(Place& place, const std::vector<ir::IndexTerm>& indices) {
    std::vector<int64_t> factors(loops_.size(), 0);
    constexpr int64_t kMost = int64_t{1} << 58;  // eight of them fit
    int64_t base = 0, stride = 1;
    for (size_t axis = indices.size(); axis-- > 0;) {
        if (indices[axis].guard != ir::Guard::None) return;
        int64_t low = 0, high = 0;
        const auto add = [&](int64_t coefficient, std::optional<size_t> loop) {
            const int64_t last = loop ? std::max<int64_t>(out_.extents[*loop] - 1, 0) : 1;
            const auto most = checked_mul(coefficient, last);
            const auto step = checked_mul(coefficient, stride);
            if (!most || !step || *most > kMost || *most < -kMost) return false;
            if (loop) {
                factors[*loop] = ir::wrapping_add(factors[*loop], *step);
                low += std::min<int64_t>(*most, 0);
                high += std::max<int64_t>(*most, 0);
            } else {
                base = ir::wrapping_add(base, *step);
                low += *most;
                high += *most;
            }
            return true;
        };
        const auto loop_of = [&](NodeId id) -> std::optional<size_t> {
            if (out_.nodes[id].kind != NodeKind::Index) return std::nullopt;
            return out_.nodes[id].position;
        };
        const Node& value = out_.nodes[place.indices[axis].value];
        if (value.kind == NodeKind::Index) {
            if (!add(1, value.position)) return;
        } else if (value.kind == NodeKind::Constant) {
            if (!add(value.integer, std::nullopt)) return;
        } else if (value.kind == NodeKind::Polynomial && value.terms.size() <= 8) {
            for (const NodeTerm& term : value.terms) {
                if (term.factors.size() > 1) return;
                const auto loop = term.factors.empty() ? std::nullopt : loop_of(term.factors[0]);
                if (!term.factors.empty() && !loop) return;
                if (!add(term.coefficient, loop)) return;
            }
        } else {
            return;
        }
        if (low < 0 || high >= place.shape[axis]) return;
        stride *= place.shape[axis];  // the number of elements fits: the tensor exists
    }
    place.affine = true;
    place.base = base;
    place.factors = std::move(factors);
}

Result<Expression> Builder::build() {
    out_.op = formula_.op;
    if (formula_.counter.valid()) return std::unexpected(Error{"its extent depends on the data"});
    for (const ir::Bound& bound : formula_.bounds) {
        const auto extent = pool_.as_int(bound.extent);
        if (!extent) return std::unexpected(Error{"an extent is not known before the run"});
        out_.extents.push_back(*extent);
    }
    for (const ir::Bound& bound : formula_.bounds) {
        Node index{.kind = NodeKind::Index,
                   .type = ir::ScalarType::Int,
                   .concrete = true,
                   .depth = loops_.size() + 1,
                   .position = loops_.size()};
        known_[bound.index] = add(std::move(index));
        loops_.push_back(bound.index);
    }
    out_.accesses.resize(formula_.accesses.size());
    for (size_t i = 0; i < formula_.accesses.size(); ++i)
        accesses_[formula_.accesses[i].symbol] = i;
    for (const ir::Access& access : formula_.accesses) node(access.symbol);
    if (formula_.condition.valid()) out_.condition = node(formula_.condition);
    for (const ir::Write& write : formula_.writes) {
        Place at = place(write.tensor, write.indices);
        out_.writes.push_back({std::move(at), node(write.value)});
    }
    if (!error_.empty()) return std::unexpected(Error{error_});
    return std::move(out_);
}

}  // namespace

Result<Expression> make_expression(const ir::Program& program,
                                   const ir::Formula& formula,
                                   const Shapes& shapes) {
    return Builder(program, formula, shapes).build();
}

}  // namespace lemma::certify
