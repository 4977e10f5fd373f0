// SPDX-License-Identifier: Apache-2.0
// Operators on attributes (3.3.3); on tensors they are invocations.
#include <fmt/format.h>

#include <cmath>

#include "base/checked.h"
#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

Value Expander::eval_unary(ExprId id, const Unary& node, Frame& frame) {
    if (model_.checked.operations[id]) return apply(id, {node.operand}, {}, frame);
    const Value value = eval(node.operand, frame);
    if (value.unknown() || node.op == UnaryOp::Plus) return value;
    if (node.op == UnaryOp::Not) return {!std::get<bool>(value.node)};
    if (const auto* scalar = std::get_if<double>(&value.node)) return {-*scalar};
    if (std::holds_alternative<ir::SymId>(value.node)) {
        return eval_symbols(id, BinaryOp::Sub, Value{int64_t{0}}, value, frame);
    }
    return eval_integers(id, BinaryOp::Sub, 0, std::get<int64_t>(value.node), frame);
}

Value Expander::eval_integers(ExprId id, BinaryOp op, int64_t a, int64_t b, Frame& frame) {
    std::optional<int64_t> result;
    switch (op) {
        case BinaryOp::Add:
            result = checked_add(a, b);
            break;
        case BinaryOp::Sub:
            result = checked_sub(a, b);
            break;
        case BinaryOp::Mul:
            result = checked_mul(a, b);
            break;
        case BinaryOp::Div:
            if (b == 0) {
                report(operator_span(id),
                       DiagKind::DivisionByZero,
                       fmt::format("{} is divided by zero", a),
                       frame);
                return {};
            }
            if (!(a == INT64_MIN && b == -1)) result = a / b;  // towards zero
            break;
        case BinaryOp::Pow:
            if (b < 0) {
                report(operator_span(id),
                       DiagKind::BadArgument,
                       fmt::format(
                           "the integer {} is raised to {}, expected no negative exponent", a, b),
                       frame);
                return {};
            }
            result = checked_pow(a, b);
            break;
        default:
            LEMMA_CHECK(false);
    }
    if (result) return {*result};
    report(operator_span(id),
           DiagKind::IntOverflow,
           fmt::format("{} {} {} does not fit 64 bits", a, spelling(op), b),
           frame);
    return {};
}

namespace {

double scalar_result(BinaryOp op, double a, double b) {
    switch (op) {
        case BinaryOp::Add:
            return a + b;
        case BinaryOp::Sub:
            return a - b;
        case BinaryOp::Mul:
            return a * b;
        case BinaryOp::Div:
            return a / b;
        default:
            return std::pow(a, b);
    }
}

template <class T>
std::optional<bool> comparison(BinaryOp op, T a, T b) {
    switch (op) {
        case BinaryOp::Less:
            return a < b;
        case BinaryOp::LessEqual:
            return a <= b;
        case BinaryOp::Greater:
            return a > b;
        case BinaryOp::GreaterEqual:
            return a >= b;
        default:
            return std::nullopt;
    }
}

}  // namespace

Value Expander::repeat(ExprId id, const Value& sequence, int64_t count, Frame& frame) {
    const Span span = operator_span(id);
    if (count < 0) {
        report(span,
               DiagKind::BadArgument,
               fmt::format("a sequence is repeated {} times, expected no negative number", count),
               frame);
        return {};
    }
    const auto times = static_cast<size_t>(count);
    if (const auto* text = std::get_if<std::string>(&sequence.node)) {
        const size_t limit = options_.limits.max_string_bytes;
        if (text->empty()) return sequence;
        if (!fits_length(times, limit / text->size(), span, frame)) return {};
        std::string result;
        result.reserve(text->size() * times);
        for (size_t i = 0; i < times; ++i) result += *text;
        return {std::move(result)};
    }
    const Values& items = *sequence.items();
    if (items.empty()) return sequence;
    if (!fits_length(times, options_.limits.max_array_length / items.size(), span, frame))
        return {};
    if (!spend(static_cast<int64_t>(items.size() * times), span, frame)) return {};
    Values result;
    result.reserve(items.size() * times);
    for (size_t i = 0; i < times; ++i) result.insert(result.end(), items.begin(), items.end());
    return Value::array(std::move(result));
}

// `+` and `*` with an array or string operand.
Value Expander::eval_sequence(
    ExprId id, const Binary& node, const Value& a, const Value& b, Frame& frame) {
    if (node.op == BinaryOp::Mul) {
        const bool first = !a.items() && !std::holds_alternative<std::string>(a.node);
        const auto count = integer_of(first ? a : b, operator_span(id), frame);
        return count ? repeat(id, first ? b : a, *count, frame) : Value{};
    }
    const Span span = operator_span(id);
    if (const auto* text = std::get_if<std::string>(&a.node)) {
        std::string joined = *text + std::get<std::string>(b.node);
        const size_t limit = options_.limits.max_string_bytes;
        if (!fits_length(joined.size(), limit, span, frame)) return {};
        const auto work = static_cast<int64_t>(joined.size() / 16);
        return spend(work, span, frame) ? Value{std::move(joined)} : Value{};
    }
    const size_t length = a.items()->size() + b.items()->size();
    if (!fits_length(length, options_.limits.max_array_length, span, frame)) return {};
    if (!spend(static_cast<int64_t>(length), span, frame)) return {};
    Values joined = *a.items();
    joined.insert(joined.end(), b.items()->begin(), b.items()->end());
    return Value::array(std::move(joined));
}

Value Expander::eval_binary(ExprId id, const Binary& node, Frame& frame) {
    if (model_.checked.operations[id]) return apply(id, {node.lhs, node.rhs}, {}, frame);
    const Value a = eval(node.lhs, frame);
    if (const auto* flag = std::get_if<bool>(&a.node)) {
        // The right-hand side is not evaluated, so it may be invalid.
        if (node.op == BinaryOp::And && !*flag) return a;
        if (node.op == BinaryOp::Or && *flag) return a;
    }
    const Value b = eval(node.rhs, frame);
    if (a.unknown() || b.unknown()) return {};
    if (node.op == BinaryOp::And || node.op == BinaryOp::Or) return b;
    const bool symbols =
        std::holds_alternative<ir::SymId>(a.node) || std::holds_alternative<ir::SymId>(b.node);
    if (symbols && !a.items() && !b.items()) return eval_symbols(id, node.op, a, b, frame);
    if (node.op == BinaryOp::Equal) return {equal(a, b)};
    if (node.op == BinaryOp::NotEqual) return {!equal(a, b)};
    if (node.op == BinaryOp::In) {
        const auto count = static_cast<int64_t>(b.items()->size());
        if (!spend(count, operator_span(id), frame)) return {};
        for (const Value& item : *b.items()) {
            if (equal(a, item)) return {true};
        }
        return {false};
    }
    const auto is_sequence = [](const Value& value) {
        return value.items() || std::holds_alternative<std::string>(value.node);
    };
    if (is_sequence(a) || is_sequence(b)) return eval_sequence(id, node, a, b, frame);
    const auto* m = std::get_if<int64_t>(&a.node);
    const auto* n = std::get_if<int64_t>(&b.node);
    if (m && n) {
        if (const auto truth = comparison(node.op, *m, *n)) return {*truth};
        return eval_integers(id, node.op, *m, *n, frame);
    }
    // Tract accepts integers as scalars.
    const double x = m ? static_cast<double>(*m) : std::get<double>(a.node);
    const double y = n ? static_cast<double>(*n) : std::get<double>(b.node);
    if (const auto truth = comparison(node.op, x, y)) return {*truth};
    return {scalar_result(node.op, x, y)};
}

}  // namespace lemma::nnef1
