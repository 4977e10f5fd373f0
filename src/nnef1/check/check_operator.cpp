// SPDX-License-Identifier: Apache-2.0
// Types of operators (3.3.3, table 1). On tensors they are invocations of fragments.
#include <fmt/format.h>

#include "nnef1/check/checker.h"

namespace lemma::nnef1 {

std::string_view fragment_of(UnaryOp op) {
    switch (op) {
        case UnaryOp::Plus:
            return "copy";
        case UnaryOp::Minus:
            return "neg";
        case UnaryOp::Not:
            return "not";
    }
    return "";
}

std::string_view fragment_of(BinaryOp op) {
    return op == BinaryOp::In ? "" : kBinaryFragments[static_cast<size_t>(op)];
}

ExprId bare(const Nodes& nodes, ExprId id) {
    while (const auto* paren = std::get_if<Paren>(&nodes.exprs[id].node)) id = paren->inner;
    return id;
}

Span operator_span(const Expr& expr) {
    Span span = expr.span;
    if (const auto* binary = std::get_if<Binary>(&expr.node)) {
        span.begin = binary->op_begin;
        span.end = span.begin + static_cast<uint32_t>(spelling(binary->op).size());
    } else if (const auto* unary = std::get_if<Unary>(&expr.node)) {
        span.end = span.begin + static_cast<uint32_t>(spelling(unary->op).size());
    }
    return span;
}

namespace {

bool is_number(const ValueType& type) {
    return type.is(TypeName::Integer) || type.is(TypeName::Scalar);
}

bool is_sequence(const ValueType& type) { return type.array() || type.is(TypeName::String); }

}  // namespace

ValueType Checker::unary_type(ExprId id, const Unary& node) {
    const ValueType type = type_of(node.operand);
    if (type.bad()) return type;
    if (type.tensor()) return tensor_operator(id, fragment_of(node.op), {node.operand});
    const bool fits = node.op == UnaryOp::Not ? type.is(TypeName::Logical) : is_number(type);
    if (fits) return type;
    diag_
        .error(operator_span(id),
               DiagKind::OperandType,
               fmt::format("`{}` is applied to `{}`, expected {}",
                           spelling(node.op),
                           text(type),
                           node.op == UnaryOp::Not ? "`logical`" : "`integer` or `scalar`"))
        .note("NNEF 1.0.4, 3.3.3, table 1");
    return {};
}

// Checks the operands like arguments of the fragment.
ValueType Checker::tensor_operator(ExprId id,
                                   std::string_view name,
                                   const std::vector<ExprId>& operands) {
    const Signature* const signature = operations_.find(name);
    LEMMA_CHECK(signature && signature->params.size() == operands.size());
    checked_.operations[id] = signature;
    std::vector<ValueType> params = signature->params;
    if (signature->generic()) {  // copy
        checked_.generics[id] = type_of(operands[0]).name;
        if (checked_.generics[id]) params[0] = bind(params[0], *checked_.generics[id]);
    }
    for (size_t i = 0; i < operands.size(); ++i) {
        const ValueType type = type_of(operands[i]);
        if (can_cast(type, params[i], dialect_)) continue;
        auto report = diag_.error(expr(operands[i]).span,
                                  DiagKind::OperandType,
                                  fmt::format("an operand is `{}`, expected `{}`, which `{}` takes",
                                              text(type),
                                              text(params[i]),
                                              name));
        if (type.is(TypeName::Integer)) report.note("a scalar has a point or an exponent: `1.0`");
        report.note(
            "NNEF 1.0.4, 3.3.3: operators on tensors are checked as if the fragment was called");
        return {};
    }
    return signature->generic() ? type_of(operands[0]) : signature->result();
}

ValueType Checker::bad_operands(ExprId id,
                                const Binary& node,
                                const ValueType& a,
                                const ValueType& b) {
    auto report = diag_.error(
        operator_span(id),
        DiagKind::OperandType,
        fmt::format("`{}` is applied to `{}` and `{}`", spelling(node.op), text(a), text(b)));
    if (is_number(a) && is_number(b)) {
        report.note("integers and scalars must not be mixed; `scalar(…)` makes one of the other");
    }
    if ((node.op == BinaryOp::And || node.op == BinaryOp::Or) &&
        std::holds_alternative<Binary>(expr(node.rhs).node)) {
        report.note("`in` binds less than `&&` and `||`; put it in parentheses");
    }
    report.note("NNEF 1.0.4, 3.3.3, table 1");
    return {};
}

// `+` joins arrays and strings, `*` repeats them.
ValueType Checker::sequence_operator(ExprId id,
                                     const Binary& node,
                                     const ValueType& a,
                                     const ValueType& b) {
    if (node.op == BinaryOp::Add) {
        if (auto type =
                is_sequence(a) && is_sequence(b) ? common_type(a, b, dialect_) : std::nullopt) {
            return *type;
        }
    } else if (node.op == BinaryOp::Mul) {
        if (is_sequence(a) && b.is(TypeName::Integer)) return a;
        if (is_sequence(b) && a.is(TypeName::Integer)) return b;
    }
    return bad_operands(id, node, a, b);
}

ValueType Checker::in_type(ExprId id, const ValueType& item, const ValueType& array) {
    const ValueType logical = ValueType::primitive(TypeName::Logical);
    const bool tensors = has_tensor(item) || has_tensor(array);
    const bool fits = array.array() && (array.items.empty() ||
                                        common_type(item, array.items[0], dialect_).has_value());
    if (item.bad() || array.bad() || (fits && !tensors)) return logical;
    auto report =
        diag_.error(operator_span(id),
                    DiagKind::OperandType,
                    fmt::format("`in` is applied to `{}` and `{}`", text(item), text(array)));
    if (std::holds_alternative<Binary>(expr(id).node) && array.is(TypeName::Logical)) {
        report.note("`in` binds less than `&&` and `||`; put it in parentheses");
    }
    report.note("NNEF 1.0.4, 3.3.3: `in` tests whether an item is contained in an array");
    return logical;
}

ValueType Checker::binary_type(ExprId id, const Binary& node) {
    const ValueType a = type_of(node.lhs);
    const ValueType b = type_of(node.rhs);
    if (node.op == BinaryOp::In) return in_type(id, a, b);
    if (a.bad() || b.bad()) return {};
    if (is_sequence(a) || is_sequence(b)) {
        if (node.op == BinaryOp::Add || node.op == BinaryOp::Mul) {
            return sequence_operator(id, node, a, b);
        }
    }
    if ((a.tensor() || b.tensor()) && !a.array() && !b.array() && !a.tuple() && !b.tuple()) {
        return tensor_operator(id, fragment_of(node.op), {node.lhs, node.rhs});
    }
    const ValueType logical = ValueType::primitive(TypeName::Logical);
    switch (node.op) {
        case BinaryOp::Add:
        case BinaryOp::Sub:
        case BinaryOp::Mul:
        case BinaryOp::Div:
        case BinaryOp::Pow:
            return is_number(a) && a == b ? a : bad_operands(id, node, a, b);
        case BinaryOp::Less:
        case BinaryOp::LessEqual:
        case BinaryOp::Greater:
        case BinaryOp::GreaterEqual:
            return is_number(a) && a == b ? logical : bad_operands(id, node, a, b);
        case BinaryOp::Equal:
        case BinaryOp::NotEqual: {
            const bool same = common_type(a, b, Dialect::Strict).has_value();
            return same && !has_tensor(a) && !has_tensor(b) ? logical
                                                            : bad_operands(id, node, a, b);
        }
        default:
            break;
    }
    const bool logicals = a.is(TypeName::Logical) && b.is(TypeName::Logical);
    return logicals ? logical : bad_operands(id, node, a, b);
}

}  // namespace lemma::nnef1
