// SPDX-License-Identifier: Apache-2.0
#include "engine/extent_code.h"

#include <fmt/format.h>

#include <utility>

#include "tensor/room.h"

namespace lemma::engine {

using ir::SymOp;
using loop::ExprId;
using loop::Kind;
using loop::Op;

OpenExtents::OpenExtents(ir::SymbolPool& symbols,
                         const std::vector<OpenExtent>& open,
                         const std::unordered_map<ir::SymId, int64_t, IdHash>& known)
    : symbols_(symbols) {
    for (const auto& [symbol, value] : known) with_[symbol] = symbols.integer(value);
    for (const OpenExtent& extent : open) {
        const ir::SymId bounded =
            symbols.symbol(extent.name, ir::ScalarType::Int, {extent.low, extent.high});
        index_[bounded] = index_.size();
        with_[extent.symbol] = bounded;
    }
}

std::optional<size_t> OpenExtents::number(ir::SymId symbol) const {
    const auto found = index_.find(symbol);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
}

Result<tensor::Shape> OpenExtents::most(const std::vector<ir::SymId>& shape) {
    tensor::Shape result;
    for (const ir::SymId part : shape) {
        const auto extent = bounded(part);
        if (!extent) return std::unexpected(Error{"an extent has no value"});
        for (const ir::SymId symbol : symbols_.symbols_of(*extent)) {
            if (index_.contains(symbol)) continue;
            return std::unexpected(
                Error{fmt::format("the extent `{}` depends on data", symbols_.text(symbol))});
        }
        const int64_t high = symbols_.range(*extent).high;
        if (high > tensor::kMaxElements) {
            return std::unexpected(
                Error{fmt::format("the extent `{}` has no upper bound", symbols_.text(*extent))});
        }
        result.push_back(std::max<int64_t>(high, 0));
    }
    if (!tensor::room(result)) return std::unexpected(Error{"a tensor may be too large"});
    return result;
}

// ---- Code ---------------------------------------------------------------------------------------

ExtentCode::ExtentCode(OpenExtents& open)
    : open_(open), symbols_(open.symbols()), build_(function_) {
    function_.name = "extents";
    function_.item = build_.var("item");
    extents_ = build_.buffer("extents", tensor::DType::I64, false);
    never_ = build_.boolean(false);
    bad_ = never_;
}

ExtentCode::Value ExtentCode::fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return {build_.integer(0), never_};
}

ExprId ExtentCode::either(ExprId a, ExprId b) {
    if (a == never_) return b;
    return b == never_ ? a : build_.make(Op::Or, {a, b});
}

ExprId ExtentCode::both(ExprId a, ExprId b) {
    return a == never_ || b == never_ ? never_ : build_.make(Op::And, {a, b});
}

// Sums and products of 64 bits are then those of whole numbers.
bool ExtentCode::is_finite(ir::SymId bounded) const {
    const ir::Interval range = symbols_.range(bounded);
    return range.low != INT64_MIN && range.high != INT64_MAX;
}

ExprId ExtentCode::value(ir::SymId id) {
    const auto bounded = open_.bounded(id);
    if (!bounded) return fail("an extent has no value").value;
    const Value result = compute(*bounded);
    bad_ = either(bad_, result.fault);
    return result.value;
}

// A condition that divides by zero says nothing, as in State::check.
void ExtentCode::require(ir::SymId condition) {
    const auto bounded = open_.bounded(condition);
    if (!bounded || symbols_.prove(*bounded) == true) return;
    const Value holds = compute(*bounded);
    const ExprId fails = build_.make(Op::Not, {holds.value});
    const ExprId counts = build_.make(Op::Not, {holds.fault});
    bad_ = either(bad_, holds.fault == never_ ? fails : both(counts, fails));
}

void ExtentCode::require_inside(ir::SymId id, int64_t low, int64_t high) {
    const ExprId found = value(id);
    const auto bounded = open_.bounded(id);
    if (!bounded) return;
    const ir::Interval range = symbols_.range(*bounded);
    if (range.low < low) bad_ = either(bad_, build_.make(Op::Less, {found, build_.integer(low)}));
    if (range.high > high) {
        bad_ = either(bad_, build_.make(Op::Less, {build_.integer(high), found}));
    }
}

void ExtentCode::check_given(ir::SymId symbol, int64_t low, int64_t high) {
    const ExprId given = value(symbol);
    bad_ = either(bad_, build_.make(Op::Less, {given, build_.integer(low)}));
    bad_ = either(bad_, build_.make(Op::Less, {build_.integer(high), given}));
}

ExprId ExtentCode::elements(const std::vector<ir::SymId>& shape) {
    ExprId product = build_.integer(1);
    for (const ir::SymId part : shape) {
        require_inside(part, 0, tensor::kMaxElements);
        product = build_.make(Op::Mul, {product, value(part)});
    }
    return product;
}

void ExtentCode::store(loop::BufferId buffer, int64_t at, ExprId value) {
    loop::Address address;
    address.offset = at;
    function_.body.push_back({loop::StoreStmt{buffer, address, value, {}}});
}

loop::Function ExtentCode::finish() {
    const loop::BufferId flag = build_.buffer("flag", tensor::DType::I64, true);
    loop::If failed{bad_, {}};
    failed.body.push_back({loop::StoreStmt{flag, {}, build_.integer(1), {}}});
    if (bad_ != never_) function_.body.push_back({std::move(failed)});
    return std::move(function_);
}

// ---- Values -------------------------------------------------------------------------------------

ExtentCode::Value ExtentCode::compute(ir::SymId bounded) {
    if (const auto found = values_.find(bounded); found != values_.end()) return found->second;
    const Value result = computed(bounded);
    values_[bounded] = result;
    return result;
}

ExtentCode::Value ExtentCode::computed(ir::SymId bounded) {
    if (const auto number = symbols_.as_int(bounded)) return {build_.integer(*number), never_};
    if (const auto flag = symbols_.as_bool(bounded)) return {build_.boolean(*flag), never_};
    if (const auto real = symbols_.as_real(bounded)) {
        return {build_.real(*real, Kind::F64), never_};
    }
    const ir::SymNode node = symbols_.node(bounded);
    if (node.type == ir::ScalarType::Str) return fail("an extent depends on text");
    if (node.kind == ir::SymKind::Symbol) {
        const auto number = open_.number(bounded);
        if (!number) return fail(fmt::format("the extent `{}` depends on data", node.name));
        loop::Address address;
        address.offset = static_cast<int64_t>(*number);
        return {build_.load(extents_, address), never_};
    }
    if (node.type == ir::ScalarType::Int && !is_finite(bounded)) {
        return fail(fmt::format("the extent `{}` has no bounds", symbols_.text(bounded)));
    }
    if (node.kind == ir::SymKind::Polynomial) return sum(node.terms);
    return operation(node);
}

ExtentCode::Value ExtentCode::sum(const std::vector<ir::SymTerm>& terms) {
    Value result{build_.integer(0), never_};
    for (const ir::SymTerm& term : terms) {
        ExprId product = build_.integer(term.coefficient);
        for (const ir::SymFactor& factor : term.factors) {
            const Value atom = compute(factor.atom);
            result.fault = either(result.fault, atom.fault);
            for (uint32_t i = 0; i < factor.power; ++i) {
                product = build_.make(Op::Mul, {product, atom.value});
            }
        }
        result.value = build_.make(Op::Add, {result.value, product});
    }
    return result;
}

// Operands that do not count need no value.
ExtentCode::Value ExtentCode::logic(const ir::SymNode& node) {
    const Op op = node.op == SymOp::And ? Op::And : Op::Or;
    Value result = compute(node.operands[0]);
    for (size_t i = 1; i < node.operands.size(); ++i) {
        const Value next = compute(node.operands[i]);
        const ExprId counts = op == Op::And ? result.value : build_.make(Op::Not, {result.value});
        result.fault = either(result.fault, both(counts, next.fault));
        result.value = build_.make(op, {result.value, next.value});
    }
    return result;
}

ExtentCode::Value ExtentCode::function(const ir::SymNode& node) {
    const Value x = compute(node.operands[0]);
    const bool real = build_.type(x.value).real();
    const auto number = [&](int64_t n) {
        return real ? build_.real(static_cast<double>(n), Kind::F64) : build_.integer(n);
    };
    if (node.name == "sign") {
        const ExprId below =
            build_.select(build_.make(Op::Less, {x.value, number(0)}), number(-1), number(0));
        const ExprId above = build_.make(Op::Less, {number(0), x.value});
        return {build_.select(above, number(1), below), x.fault};
    }
    const std::pair<const char*, Op> known[] = {{"abs", Op::Abs},
                                                {"sqrt", Op::Sqrt},
                                                {"floor", Op::Floor},
                                                {"ceil", Op::Ceil},
                                                {"round", Op::Round}};
    for (const auto& [name, op] : known) {
        if (node.name == name) return {build_.make(op, {x.value}), x.fault};
    }
    return fail(fmt::format("an extent needs the function `{}`", node.name));
}

ExtentCode::Value ExtentCode::operation(const ir::SymNode& node) {
    const ExprId zero = build_.integer(0);
    const bool alone = node.operands.size() == 1;
    switch (node.op) {
        case SymOp::And:
        case SymOp::Or:
            return logic(node);
        case SymOp::Function:
            return function(node);
        case SymOp::Select: {
            const Value condition = compute(node.operands[0]);
            const Value a = compute(node.operands[1]);
            const Value b = compute(node.operands[2]);
            const ExprId other = build_.make(Op::Not, {condition.value});
            const ExprId fault = either(both(condition.value, a.fault), both(other, b.fault));
            return {build_.select(condition.value, a.value, b.value),
                    either(condition.fault, fault)};
        }
        case SymOp::LessEqual:
        case SymOp::Equal:
            if (!alone) break;
            if (symbols_.type(node.operands[0]) != ir::ScalarType::Int) break;
            if (const Value x = compute(node.operands[0]); true) {
                const Op op = node.op == SymOp::Equal ? Op::Equal : Op::LessEqual;
                return {build_.make(op, {x.value, zero}), x.fault};
            }
            break;
        default:
            break;
    }
    std::vector<ExprId> v;
    ExprId fault = never_;
    for (const ir::SymId operand : node.operands) {
        const Value next = compute(operand);
        v.push_back(next.value);
        fault = either(fault, next.fault);
    }
    const bool real = symbols_.type(node.operands.back()) == ir::ScalarType::Real;
    const auto chain = [&](Op op) -> Value {
        ExprId result = v[0];
        for (size_t i = 1; i < v.size(); ++i) result = build_.make(op, {result, v[i]});
        return {result, fault};
    };
    switch (node.op) {
        case SymOp::Add:
            return chain(Op::Add);
        case SymOp::Sub:
            return chain(Op::Sub);
        case SymOp::Mul:
            return chain(Op::Mul);
        case SymOp::Min:
            return chain(Op::Min);
        case SymOp::Max:
            return chain(Op::Max);
        case SymOp::Xor:
            return chain(Op::Xor);
        case SymOp::Div:
        case SymOp::Mod: {
            const bool whole = node.op == SymOp::Div;
            if (real) return whole ? chain(Op::Div) : fail("an extent needs a real remainder");
            const ir::Interval by = symbols_.range(node.operands[1]);
            if (by.low <= 0 && by.high >= 0) {
                fault = either(fault, build_.make(Op::Equal, {v[1], zero}));
            }
            return chain(whole ? Op::Div : Op::Mod);
        }
        case SymOp::Less:
            return chain(Op::Less);
        case SymOp::LessEqual:
            return chain(Op::LessEqual);
        case SymOp::Equal:
            return chain(Op::Equal);
        case SymOp::NotEqual:
            return chain(Op::NotEqual);
        case SymOp::Neg:
            return {build_.make(Op::Neg, {v[0]}), fault};
        case SymOp::Not:
            return {build_.make(Op::Not, {v[0]}), fault};
        case SymOp::ToReal:
            return {real ? v[0] : build_.cast(v[0], Kind::F64), fault};
        case SymOp::ToInt:
            return {build_.cast(v[0], Kind::Int), fault};
        case SymOp::ToBool:
            if (build_.type(v[0]).kind == Kind::Bool) return {v[0], fault};
            if (!real) return {build_.make(Op::NotEqual, {v[0], zero}), fault};
            break;
        default:
            break;
    }
    return fail("an extent needs arithmetic that the code does not have");
}

}  // namespace lemma::engine
