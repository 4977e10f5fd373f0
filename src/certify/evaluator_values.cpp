// SPDX-License-Identifier: Apache-2.0
// The abstract values of expressions.
#include <algorithm>
#include <array>
#include <optional>

#include "certify/evaluator.h"

namespace lemma::certify {

namespace {

using ir::ScalarType;
using ir::SymOp;

constexpr size_t kMaxLevels = 5;

bool is_decided(const Value& c) {
    return c.error == 0 && c.low == c.high && c.clow == c.chigh && !c.nan;
}

bool is_zero(const Value& v) { return v.is_point() && v.low == 0; }

Value negated(const Value& c) {
    Value v = c;
    v.low = 1 - c.high;
    v.high = 1 - c.low;
    v.clow = 1 - c.chigh;
    v.chigh = 1 - c.clow;
    v.nonzero = false;
    return v;
}

Value exclusive(const Value& a, const Value& b) {
    if (is_decided(a)) return a.low == 0 ? b : negated(b);
    if (is_decided(b)) return b.low == 0 ? a : negated(a);
    Value v = Value::between(0, 1);
    v.error = a.error > 0 || b.error > 0 ? 1 : 0;
    v.relative = v.tiny = v.error == 0 ? 0 : kInfinity;
    return v;
}

}  // namespace

Value Evaluator::value(NodeId id, const Scope* scope) {
    for (const Scope* s = scope; s; s = s->parent) {
        for (const auto& [node, known] : s->known) {
            if (node == id) return known;
        }
    }
    const Node& node = expression_.nodes[id];
    if (node.concrete) return AbstractArray::whole(integer(id));
    const size_t level = scope ? scope->level : 0;
    const uint64_t stamp = scope ? scope->number : epochs_[node.depth];
    Memo& memo = memos_[level][id];
    if (memo.stamp == stamp) return memo.value;
    Value made = compute(id, scope);
    memos_[level][id] = {made, stamp};
    return made;
}

Value Evaluator::compute(NodeId id, const Scope* scope) {
    const Node& node = expression_.nodes[id];
    switch (node.kind) {
        case NodeKind::Constant:
            return arithmetic_.constant(node.real);
        case NodeKind::Index:
            return AbstractArray::whole(indices_[node.position]);
        case NodeKind::Load:
            return load(id, scope);
        case NodeKind::Polynomial:
            return sum(node.terms, scope);
        case NodeKind::Compare: {
            const Value left = sum(node.terms, scope), right = sum(node.right, scope);
            if (node.op == SymOp::Equal) return arithmetic_.equal(left, right);
            return node.strict ? arithmetic_.less(left, right)
                               : arithmetic_.less_equal(left, right);
        }
        case NodeKind::Operation:
            return operation(node, scope);
    }
    return Value::top();
}

Value Evaluator::sum(const std::vector<NodeTerm>& terms, const Scope* scope) {
    Value total = Value::point(0);
    for (const NodeTerm& term : terms) {
        Value product = AbstractArray::whole(term.coefficient);
        for (const NodeId factor : term.factors)
            product = arithmetic_.int_mul(product, value(factor, scope));
        total = arithmetic_.int_add(total, product);
    }
    return total;
}

// ---- Operations ---------------------------------------------------------------------------------

Value Evaluator::operation(const Node& node, const Scope* scope) {
    if (node.sigmoid != kNoNode) return arithmetic_.sigmoid(value(node.sigmoid, scope));
    if (node.op == SymOp::Select) return select(node, scope);
    if (node.op == SymOp::And || node.op == SymOp::Or) return logic(node, scope);
    std::array<Value, 2> pair;
    std::vector<Value> several;
    std::span<Value> operands = pair;
    if (node.operands.size() > 2) several.resize(node.operands.size()), operands = several;
    for (size_t i = 0; i < node.operands.size(); ++i) operands[i] = value(node.operands[i], scope);
    operands = operands.first(node.operands.size());
    const ScalarType from = expression_.nodes[node.operands.back()].type;
    switch (node.op) {
        case SymOp::Less:
            return arithmetic_.less(operands[0], operands[1]);
        case SymOp::LessEqual:
            return arithmetic_.less_equal(operands[0], operands[1]);
        case SymOp::Equal:
            return arithmetic_.equal(operands[0], operands[1]);
        case SymOp::NotEqual:
            return negated(arithmetic_.equal(operands[0], operands[1]));
        case SymOp::Xor:
            return exclusive(operands[0], operands[1]);
        case SymOp::Not:
            return negated(operands[0]);
        case SymOp::ToBool:
            return negated(arithmetic_.equal(operands[0], Value::point(0)));
        case SymOp::ToReal:
            return from == ScalarType::Real ? operands[0] : arithmetic_.to_real(operands[0]);
        case SymOp::ToInt:
            return from == ScalarType::Real ? arithmetic_.to_int(operands[0]) : operands[0];
        default:
            break;
    }
    if (from != ScalarType::Real) return int_operation(node, operands);
    Value made = real_operation(node, operands);
    return related(node, operands, made);
}

namespace {

// f(f(a, b), c) …
Value folded(std::span<const Value> operands, const auto& f) {
    Value result = operands[0];
    for (const Value& operand : operands.subspan(1)) result = f(result, operand);
    return result;
}

}  // namespace

Value Evaluator::real_operation(const Node& node, std::span<const Value> operands) {
    switch (node.op) {
        case SymOp::Add:
            return folded(operands,
                          [&](const Value& a, const Value& b) { return arithmetic_.add(a, b); });
        case SymOp::Mul:
            if (operands.size() == 2 && node.operands[0] == node.operands[1])
                return arithmetic_.square(operands[0]);
            return folded(operands,
                          [&](const Value& a, const Value& b) { return arithmetic_.mul(a, b); });
        case SymOp::Sub:
            return arithmetic_.sub(operands[0], operands[1]);
        case SymOp::Neg:
            return Arithmetic::neg(operands[0]);
        case SymOp::Div:
            return arithmetic_.div(operands[0], operands[1]);
        case SymOp::CeilDiv:
            return arithmetic_.function("ceil", arithmetic_.div(operands[0], operands[1]));
        case SymOp::Mod:
            return arithmetic_.mod(operands[0], operands[1]);
        case SymOp::Pow:
            return arithmetic_.pow(operands[0], operands[1]);
        case SymOp::Min:
            return folded(operands, Arithmetic::min);
        case SymOp::Max:
            return folded(operands, Arithmetic::max);
        case SymOp::Function:
            return arithmetic_.function(node.name, operands[0]);
        default:
            return Value::top();
    }
}

Value Evaluator::int_operation(const Node& node, std::span<const Value> operands) {
    switch (node.op) {
        case SymOp::Add:
            return folded(operands, [&](const Value& a, const Value& b) {
                return arithmetic_.int_add(a, b);
            });
        case SymOp::Mul:
            return folded(operands, [&](const Value& a, const Value& b) {
                return arithmetic_.int_mul(a, b);
            });
        case SymOp::Div:
            return arithmetic_.int_div(operands[0], operands[1]);
        case SymOp::Mod:
            return arithmetic_.int_mod(operands[0], operands[1]);
        case SymOp::Pow:
            return arithmetic_.int_pow(operands[0], operands[1]);
        case SymOp::Min:
            return folded(operands, Arithmetic::min);
        case SymOp::Max:
            return folded(operands, Arithmetic::max);
        case SymOp::Function:
            return node.name == "abs" ? arithmetic_.function("abs", operands[0])
                                      : arithmetic_.int_sign(operands[0]);
        default:
            fail("an operation on integers that has no bounds");
            return Value::top();
    }
}

// Operands without data decide whether the others are read.
Value Evaluator::logic(const Node& node, const Scope* scope) {
    const bool all = node.op == SymOp::And;
    for (const NodeId operand : node.operands) {
        if (!expression_.nodes[operand].concrete) continue;
        if ((integer(operand) != 0) != all) return Value::point(all ? 0 : 1);
    }
    Value result = Value::point(all ? 1 : 0);
    for (const NodeId operand : node.operands) {
        if (expression_.nodes[operand].concrete) continue;
        const Value one = value(operand, scope);
        result = all ? Arithmetic::min(result, one) : Arithmetic::max(result, one);
    }
    return result;
}

// ---- What belongs together ----------------------------------------------------------------------

// A number minus the maximum of its group, and a number divided by the sum of its group.
Value Evaluator::related(const Node& node, std::span<const Value> operands, Value made) {
    if (node.op != SymOp::Sub && node.op != SymOp::Div) return made;
    const Node& left = expression_.nodes[node.operands[0]];
    const Node& right = expression_.nodes[node.operands[1]];
    if (left.kind != NodeKind::Load || right.kind != NodeKind::Load) return made;
    const AbstractArray& array = *slots_[left.position].array;
    const auto& reduction = slots_[right.position].array->reduction;
    if (!reduction || reduction->source != array.number) return made;
    if (reduction->sum != (node.op == SymOp::Div)) return made;
    int64_t from = -1, to = -1;
    if (!concrete_offset(expression_.accesses[left.position], from) || from < 0) return made;
    if (!concrete_offset(expression_.accesses[right.position], to) || to < 0) return made;
    if (reduction->group[static_cast<size_t>(from)] != to) return made;
    if (reduction->sum) return arithmetic_.share(operands[0], operands[1], reduction->share_error);
    if (made.nan) return made;
    made.high = std::min(made.high, 0.0);
    made.chigh = std::min(made.chigh, 0.0);
    made.low = std::min(made.low, made.high);
    made.clow = std::min(made.clow, made.chigh);
    return sealed(made);
}

// ---- Selections ---------------------------------------------------------------------------------

// Without bounds that the outcome implies.
Value Evaluator::choose(const Value& condition, const Value& yes, const Value& no) {
    if (is_decided(condition)) return condition.low != 0 ? yes : no;
    const Value either = join(yes, no);
    if (condition.error == 0) return either;
    return join(either, join(cross(yes, no), cross(no, yes)));
}

Value Evaluator::select(const Node& node, const Scope* scope) {
    const NodeId condition = node.operands[0];
    if (expression_.nodes[condition].concrete)
        return value(node.operands[integer(condition) != 0 ? 1 : 2], scope);
    const Value c = value(condition, scope);
    if (is_decided(c)) return value(node.operands[c.low != 0 ? 1 : 2], scope);
    const size_t level = (scope ? scope->level : 0) + 1;
    if (level > kMaxLevels)
        return choose(c, value(node.operands[1], scope), value(node.operands[2], scope));
    if (memos_[level].empty()) memos_[level].resize(expression_.nodes.size());

    std::optional<Value> result;
    const auto add = [&](const Value& v) { result = result ? join(*result, v) : v; };
    const auto inside = [&](bool outcome, Worlds worlds, auto use) {
        Scope inner{.parent = scope, .level = level, .number = ++clock_, .known = {}};
        if (assume(condition, outcome, worlds, scope, inner)) use(inner);
    };
    const bool may_hold = c.high != 0 || c.nan, holds = c.chigh != 0 || c.nan;
    const bool may_fail = c.low != 1 || c.nan, fails = c.clow != 1 || c.nan;
    if (may_hold && holds)
        inside(true, Worlds::Agree, [&](Scope& s) { add(value(node.operands[1], &s)); });
    if (may_fail && fails)
        inside(false, Worlds::Agree, [&](Scope& s) { add(value(node.operands[2], &s)); });
    if (c.error > 0 || c.nan) {
        // Rounding changes the decision only where the compared values are close.
        inside(true, Worlds::Differ, [&](Scope& s) {
            const Value yes = value(node.operands[1], &s), no = value(node.operands[2], &s);
            if (may_hold && fails) add(cross(yes, no));
            if (may_fail && holds) add(cross(no, yes));
        });
    }
    return result.value_or(Value::top());
}

bool Evaluator::assume(NodeId id, bool outcome, Worlds worlds, const Scope* scope, Scope& inner) {
    constexpr size_t kMaxKnown = 32;  // a condition may use its parts many times
    const Node& node = expression_.nodes[id];
    if (node.concrete || node.kind != NodeKind::Operation) return true;
    if (inner.known.size() >= kMaxKnown) return true;
    switch (node.op) {
        case SymOp::Not:
            return assume(node.operands[0], !outcome, worlds, scope, inner);
        case SymOp::And:
        case SymOp::Or:
            if (worlds == Worlds::Differ || outcome != (node.op == SymOp::And)) return true;
            return std::ranges::all_of(node.operands, [&](NodeId operand) {
                return assume(operand, outcome, worlds, scope, inner);
            });
        case SymOp::Less:
        case SymOp::LessEqual:
        case SymOp::Equal:
        case SymOp::NotEqual:
            if (expression_.nodes[node.operands[1]].type != ScalarType::Real) return true;
            return assume_order(node, outcome, worlds, scope, inner);
        default:
            return true;
    }
}

bool Evaluator::assume_order(
    const Node& node, bool outcome, Worlds worlds, const Scope* scope, Scope& inner) {
    NodeId first = node.operands[0], second = node.operands[1];
    Value a = value(first, scope), b = value(second, scope);
    if (a.nan || b.nan) return true;
    const bool equality = node.op == SymOp::Equal || node.op == SymOp::NotEqual;
    const bool equal = equality && outcome == (node.op == SymOp::Equal);
    if (worlds == Worlds::Differ || equal) {
        const double apart = equal && worlds == Worlds::Agree ? 0 : up(a.error + b.error);
        const auto near = [&](double& low, double& high, double other_low, double other_high) {
            low = std::max(low, down(other_low - apart));
            high = std::min(high, up(other_high + apart));
        };
        const Value old = a;
        near(a.low, a.high, b.low, b.high);
        near(a.clow, a.chigh, b.clow, b.chigh);
        near(b.low, b.high, old.low, old.high);
        near(b.clow, b.chigh, old.clow, old.chigh);
    } else if (equality) {
        if (is_zero(b)) a.nonzero = true;
        if (is_zero(a)) b.nonzero = true;
    } else {
        const bool strict = outcome == (node.op == SymOp::Less);
        if (!outcome) {
            std::swap(a, b);
            std::swap(first, second);
        }
        // a <= b
        if (strict && is_zero(b)) a.nonzero = true;
        if (strict && is_zero(a)) b.nonzero = true;
        const Value old = a;
        a.high = std::min(a.high, b.high);
        a.chigh = std::min(a.chigh, b.chigh);
        b.low = std::max(b.low, old.low);
        b.clow = std::max(b.clow, old.clow);
    }
    if (a.low > a.high || a.clow > a.chigh || b.low > b.high || b.clow > b.chigh) return false;
    if (expression_.nodes[first].kind != NodeKind::Constant) inner.known.emplace_back(first, a);
    if (expression_.nodes[second].kind != NodeKind::Constant) inner.known.emplace_back(second, b);
    return true;
}

}  // namespace lemma::certify
