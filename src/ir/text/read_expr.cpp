// SPDX-License-Identifier: Apache-2.0
// Expressions. Each function has its grammar rule; each level binds tighter than the one before.
#include <fmt/format.h>

#include <charconv>

#include "ir/symbols/scalar_math.h"
#include "ir/text/read_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

namespace {

struct Sign {
    std::string_view text;
    SymOp op;
    bool swap = false;  // a > b is b < a
};
constexpr Sign kComparisons[] = {{"<", SymOp::Less},
                                 {"<=", SymOp::LessEqual},
                                 {">", SymOp::Less, true},
                                 {">=", SymOp::LessEqual, true},
                                 {"==", SymOp::Equal},
                                 {"!=", SymOp::NotEqual}};
constexpr Sign kProducts[] = {
    {"*", SymOp::Mul}, {"/", SymOp::Div}, {"\\", SymOp::CeilDiv}, {"%", SymOp::Mod}};
constexpr Sign kLogic[] = {{"&&", SymOp::And}, {"||", SymOp::Or}, {"^", SymOp::Xor}};

std::pair<DiagKind, std::string_view> explain(SymFault fault) {
    switch (fault) {
        case SymFault::Overflow:
            return {DiagKind::IntOverflow, "this does not fit 64 bits"};
        case SymFault::DivisionByZero:
            return {DiagKind::DivisionByZero, "a division by zero"};
        case SymFault::NegativeExponent:
        case SymFault::NotANumber:
            return {DiagKind::BadArgument, "this has no value"};
        case SymFault::TooDeep:
            return {DiagKind::TooDeep, "this expression is nested too deeply"};
        default:
            return {DiagKind::OperandType, "operands of types that the operation does not take"};
    }
}

}  // namespace

bool Reader::too_deep() {
    if (depth_ <= kMaxTextDepth) return false;
    fail(DiagKind::TooDeep, fmt::format("expressions nest more than {} deep", kMaxTextDepth));
    return true;
}

Reader::MaybeSym Reader::or_fault(MaybeSym result, Span span) {
    if (result) return result;
    const auto [kind, message] = explain(program_.symbols.fault());
    fail(span, kind, std::string(message));
    return std::nullopt;
}

Reader::MaybeSym Reader::apply(SymOp op, const std::vector<SymId>& operands, Span span) {
    return or_fault(program_.symbols.apply(op, operands), span);
}

Reader::MaybeSym Reader::read_typed(ScalarType type, std::string_view what) {
    const Span span = span_here();
    const MaybeSym value = read_expr();
    if (!value || program_.symbols.type(*value) == type) return value;
    fail(span,
         DiagKind::TypeMismatch,
         fmt::format("{} is {}, expected {}",
                     what,
                     scalar_type_text(program_.symbols.type(*value)),
                     scalar_type_text(type)));
    return std::nullopt;
}

// expr = logic ['?' expr ':' expr]
Reader::MaybeSym Reader::read_expr() {
    const Nested nested(depth_);
    if (too_deep()) return std::nullopt;
    const Span span = span_here();
    const MaybeSym condition = read_logic();
    if (!condition || !accept("?")) return condition;
    const MaybeSym consequent = read_expr();
    if (!consequent || !expect(":")) return std::nullopt;
    const MaybeSym alternative = read_expr();
    if (!alternative) return std::nullopt;
    return apply(SymOp::Select, {*condition, *consequent, *alternative}, span);
}

// logic = compare {'&&' compare} | compare {'||' compare} | compare {'^' compare}
Reader::MaybeSym Reader::read_logic() {
    const Span span = span_here();
    const MaybeSym first = read_compare();
    if (!first) return std::nullopt;
    for (const Sign& sign : kLogic) {
        if (!is_sign(sign.text)) continue;
        std::vector<SymId> operands = {*first};
        while (accept(sign.text)) {
            const MaybeSym next = read_compare();
            if (!next) return std::nullopt;
            operands.push_back(*next);
            if (sign.op != SymOp::Xor) continue;
            const MaybeSym both = apply(sign.op, operands, span);
            if (!both) return std::nullopt;
            operands = {*both};
        }
        return sign.op == SymOp::Xor ? MaybeSym(operands[0]) : apply(sign.op, operands, span);
    }
    return first;
}

// compare = sum [('<' | '<=' | '>' | '>=' | '==' | '!=') sum]
Reader::MaybeSym Reader::read_compare() {
    const Span span = span_here();
    const MaybeSym left = read_sum();
    if (!left) return std::nullopt;
    for (const Sign& sign : kComparisons) {
        if (!accept(sign.text)) continue;
        const MaybeSym right = read_sum();
        if (!right) return std::nullopt;
        return sign.swap ? apply(sign.op, {*right, *left}, span)
                         : apply(sign.op, {*left, *right}, span);
    }
    return left;
}

// sum = product {('+' | '-') product}
Reader::MaybeSym Reader::read_sum() {
    const Span span = span_here();
    MaybeSym left = read_product();
    if (!left || (!is_sign("+") && !is_sign("-"))) return left;
    const bool whole = program_.symbols.type(*left) == ScalarType::Int;
    std::vector<SymId> terms = {*left};
    while (left && (is_sign("+") || is_sign("-"))) {
        const bool minus = take().text == "-";
        MaybeSym right = read_product();
        if (!right) return std::nullopt;
        if (!whole) {
            left = apply(minus ? SymOp::Sub : SymOp::Add, {*left, *right}, span);
            continue;
        }
        if (minus) right = apply(SymOp::Neg, {*right}, span);
        if (!right) return std::nullopt;
        terms.push_back(*right);
    }
    return whole ? add_up(std::move(terms), span) : left;
}

// Adds by halves, so that a long sum does not leave all its prefixes in the pool.
Reader::MaybeSym Reader::add_up(std::vector<SymId> terms, Span span) {
    while (terms.size() > 1) {
        std::vector<SymId> sums;
        for (size_t i = 0; i + 1 < terms.size(); i += 2) {
            const MaybeSym sum = apply(SymOp::Add, {terms[i], terms[i + 1]}, span);
            if (!sum) return std::nullopt;
            sums.push_back(*sum);
        }
        if (terms.size() % 2 == 1) sums.push_back(terms.back());
        terms = std::move(sums);
    }
    return terms[0];
}

// product = unary {('*' | '/' | '\' | '%') unary}
Reader::MaybeSym Reader::read_product() {
    const Span span = span_here();
    MaybeSym left = read_unary();
    while (left) {
        const Sign* found = nullptr;
        for (const Sign& sign : kProducts)
            if (is_sign(sign.text)) found = &sign;
        if (!found) return left;
        take();
        const MaybeSym right = read_unary();
        if (!right) return std::nullopt;
        left = apply(found->op, {*left, *right}, span);
    }
    return left;
}

// unary = ('-' | '!') unary | power
Reader::MaybeSym Reader::read_unary() {
    const Nested nested(depth_);
    if (too_deep()) return std::nullopt;
    const Span span = span_here();
    if (accept("-")) {
        if (peek().kind == TextKind::Int && !is_sign("**", 1)) return read_number(true);
        const MaybeSym operand = read_unary();
        return operand ? apply(SymOp::Neg, {*operand}, span) : std::nullopt;
    }
    if (accept("!")) {
        const MaybeSym operand = read_unary();
        return operand ? apply(SymOp::Not, {*operand}, span) : std::nullopt;
    }
    return read_power();
}

// power = primary ['**' unary]
Reader::MaybeSym Reader::read_power() {
    const Span span = span_here();
    const MaybeSym base = read_primary();
    if (!base || !accept("**")) return base;
    const MaybeSym exponent = read_unary();
    return exponent ? apply(SymOp::Pow, {*base, *exponent}, span) : std::nullopt;
}

// primary = number | string | name | name '(' exprs ')' | tensor '[' indices ']' | '(' expr ')'
Reader::MaybeSym Reader::read_primary() {
    const TextToken& token = peek();
    switch (token.kind) {
        case TextKind::Int:
        case TextKind::Real:
            return read_number(false);
        case TextKind::String:
            return program_.symbols.string(take().value);
        case TextKind::Tensor:
            return read_access(false);
        case TextKind::Word:
            return is_sign("(", 1) ? read_call(take()) : read_named();
        default:
            break;
    }
    if (!accept("(")) {
        unexpected("an expression");
        return std::nullopt;
    }
    const MaybeSym inner = read_expr();
    if (!inner || !expect(")")) return std::nullopt;
    return inner;
}

Reader::MaybeSym Reader::read_number(bool negative) {
    const Span span = span_here();
    const TextToken& token = take();
    const char* const end = token.text.data() + token.text.size();
    if (token.kind == TextKind::Real) {
        double value = 0;
        if (std::from_chars(token.text.data(), end, value).ec == std::errc())
            return program_.symbols.real(negative ? -value : value);
        fail(span, DiagKind::BadNumber, "a real that no double can hold");
        return std::nullopt;
    }
    uint64_t value = 0;
    const bool fits = std::from_chars(token.text.data(), end, value).ec == std::errc() &&
                      value <= uint64_t{INT64_MAX} + (negative ? 1 : 0);
    if (fits) return program_.symbols.integer(static_cast<int64_t>(negative ? 0 - value : value));
    fail(span, DiagKind::IntRange, "an integer that does not fit 64 bits");
    return std::nullopt;
}

Reader::MaybeSym Reader::read_named() {
    const Span span = span_here();
    const TextToken& token = take();
    const std::string name(token.text);
    if (name == "true" || name == "false") return program_.symbols.boolean(name == "true");
    if (name == "inf") return program_.symbols.real(std::numeric_limits<double>::infinity());
    if (name == "nan") return program_.symbols.real(std::numeric_limits<double>::quiet_NaN());
    if (state_) {
        const auto local = state_->names.find(name);
        if (local != state_->names.end()) return local->second;
    }
    const auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    fail(span, DiagKind::UndeclaredName, fmt::format("no symbol `{}`", name));
    return std::nullopt;
}

Reader::MaybeSym Reader::read_call(const TextToken& name) {
    const Span span{file_, name.begin, name.end};
    std::vector<SymId> operands;
    if (!expect("(")) return std::nullopt;
    do {
        const MaybeSym operand = read_expr();
        if (!operand) return std::nullopt;
        operands.push_back(*operand);
    } while (accept(","));
    if (!expect(")")) return std::nullopt;
    if (name.text == "min") return apply(SymOp::Min, operands, span);
    if (name.text == "max") return apply(SymOp::Max, operands, span);
    if (name.text == "int") return apply(SymOp::ToInt, operands, span);
    if (name.text == "real") return apply(SymOp::ToReal, operands, span);
    if (name.text == "bool") return apply(SymOp::ToBool, operands, span);
    if (is_function(name.text) && operands.size() == 1)
        return or_fault(program_.symbols.function(name.text, operands[0]), span);
    fail(span,
         DiagKind::NoFunction,
         fmt::format("no function `{}` of {} operands", name.text, operands.size()));
    return std::nullopt;
}

}  // namespace lemma::ir
