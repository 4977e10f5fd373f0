// SPDX-License-Identifier: Apache-2.0
// Emits instructions that detect overflow in index arithmetic.
#include <algorithm>
#include <cmath>

#include "interpret/bytecode_compiler.h"
#include "ir/symbols/comparison.h"

namespace lemma::interpret {

namespace {

using Position = CodePosition;

constexpr double kMostInt = 9.2e18;

// A single element or symbol, without arithmetic.
bool is_one_atom(const std::vector<ir::SymTerm>& terms) {
    return terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1 &&
           terms[0].factors[0].power == 1;
}

}  // namespace

double BytecodeCompiler::size(const ir::SymTerm& term) const {
    double result = std::abs(static_cast<double>(term.coefficient));
    for (const ir::SymFactor& factor : term.factors) {
        result *= std::pow(size(factor.atom), factor.power);
    }
    return std::isnan(result) ? HUGE_VAL : result;
}

double BytecodeCompiler::size(ir::SymId id) const {
    if (const auto loop = loop_extents_.find(id); loop != loop_extents_.end()) {
        return static_cast<double>(loop->second);
    }
    const ir::SymNode node = pool_.node(id);
    double result = 0;
    for (const ir::SymTerm& term : node.terms) result += size(term);
    if (node.kind == ir::SymKind::Polynomial) return result;
    const ir::Interval range = pool_.range(id);
    if (range.low != INT64_MIN && range.high != INT64_MAX) {
        return std::max(std::abs(static_cast<double>(range.low)),
                        std::abs(static_cast<double>(range.high)));
    }
    if (node.kind != ir::SymKind::Operation) return HUGE_VAL;
    switch (node.op) {
        case ir::SymOp::Div:
            return size(node.operands[0]);
        case ir::SymOp::Mod:
            return size(node.operands[1]);
        case ir::SymOp::Min:
        case ir::SymOp::Max:
            for (const ir::SymId operand : node.operands) result = std::max(result, size(operand));
            return result;
        case ir::SymOp::Select:
            return std::max(size(node.operands[1]), size(node.operands[2]));
        default:
            return HUGE_VAL;
    }
}

bool BytecodeCompiler::sum_fits(const std::vector<ir::SymTerm>& terms) {
    double total = 0;
    for (const ir::SymTerm& term : terms) {
        total += size(term);
        for (const ir::SymFactor& factor : term.factors) {
            if (!fits(factor.atom)) return false;
        }
    }
    return total < kMostInt || is_one_atom(terms);
}

// Whether no arithmetic in it can overflow. Casts of reals and elements cannot.
bool BytecodeCompiler::fits(ir::SymId id) {
    if (const auto known = fits_.find(id); known != fits_.end()) return known->second;
    if (accesses_.contains(id) || pool_.is_constant(id)) return true;
    const ir::SymNode node = pool_.node(id);
    bool result = true;
    if (node.kind == ir::SymKind::Polynomial) {
        result = sum_fits(node.terms);
    } else if (compares_with_zero(node)) {
        const ir::Comparison sides = ir::comparison_of(pool_, node.operands[0], node.op);
        result = sum_fits(sides.left) && sum_fits(sides.right);
    } else if (node.kind == ir::SymKind::Operation) {
        const bool sums =
            node.op == ir::SymOp::Add || node.op == ir::SymOp::Mul || node.op == ir::SymOp::Pow;
        if (sums && node.type == ir::ScalarType::Int) result = size(id) < kMostInt;
        for (const ir::SymId operand : node.operands) {
            const ir::ScalarType type = pool_.type(operand);
            const bool counts = type == ir::ScalarType::Int || type == ir::ScalarType::Bool;
            result = result && (!counts || fits(operand));
        }
    }
    return fits_[id] = result;
}

// An element plus or minus at most `room`. If that overflows, the index is outside of every tensor
// anyway.
bool BytecodeCompiler::is_near_element(ir::SymId id, double room) {
    if (accesses_.contains(id)) return true;
    const ir::SymNode node = pool_.node(id);
    if (node.kind == ir::SymKind::Operation && node.op == ir::SymOp::ToInt) return true;
    if (node.kind == ir::SymKind::Operation && node.op == ir::SymOp::Select) {
        const auto good = [&](ir::SymId arm) { return fits(arm) || is_near_element(arm, room); };
        return fits(node.operands[0]) && good(node.operands[1]) && good(node.operands[2]);
    }
    std::optional<ir::SymId> element;
    for (const ir::SymTerm& term : node.terms) {
        for (const ir::SymFactor& factor : term.factors) {
            if (!std::isinf(size(factor.atom)) && !fits(factor.atom)) return false;
        }
        if (const double far = size(term); far <= room) {
            room -= far;
            continue;
        }
        const bool one = std::abs(static_cast<double>(term.coefficient)) == 1 &&
                         term.factors.size() == 1 && term.factors[0].power == 1;
        if (!one || element) return false;
        element = term.factors[0].atom;
    }
    return element && is_near_element(*element, room);
}

std::optional<Position> BytecodeCompiler::join(std::optional<Position> a,
                                               std::optional<Position> b) {
    if (!a || !b) return a ? a : b;
    return emit(Code::Or, *a, *b);
}

std::optional<Position> BytecodeCompiler::sum_overflow(const std::vector<ir::SymTerm>& terms) {
    std::optional<Position> overflows, total;
    const auto next = [&](std::optional<Position>& so_far, Position place, Code check, Code code) {
        if (so_far) overflows = join(overflows, emit(check, *so_far, place));
        so_far = so_far ? emit(code, *so_far, place) : place;
    };
    for (const ir::SymTerm& term : terms) {
        std::optional<Position> product = integer(term.coefficient);
        for (const ir::SymFactor& factor : term.factors) {
            overflows = join(overflows, overflow(factor.atom));
            for (uint32_t i = 0; i < factor.power; ++i) {
                next(product, value(factor.atom), Code::MulOverflows, Code::MulI);
            }
        }
        next(total, *product, Code::AddOverflows, Code::AddI);
    }
    return overflows;
}

std::optional<Position> BytecodeCompiler::operation_overflow(const ir::SymNode& node) {
    if (compares_with_zero(node)) {
        const ir::Comparison sides = ir::comparison_of(pool_, node.operands[0], node.op);
        return join(sum_fits(sides.left) ? std::nullopt : sum_overflow(sides.left),
                    sum_fits(sides.right) ? std::nullopt : sum_overflow(sides.right));
    }
    std::vector<std::optional<Position>> parts;
    for (const ir::SymId operand : node.operands) parts.push_back(overflow(operand));
    if (node.op == ir::SymOp::Select) {
        const Position no = value(pool_.boolean(false));
        const Position condition = value(node.operands[0]);
        return join(parts[0],
                    emit(Code::Select, condition, parts[1].value_or(no), parts[2].value_or(no)));
    }
    std::optional<Position> result;
    for (const auto& part : parts) result = join(result, part);
    const bool sums = node.op == ir::SymOp::Add || node.op == ir::SymOp::Mul;
    if (node.type != ir::ScalarType::Int || (!sums && node.op != ir::SymOp::Pow)) return result;
    if (node.op == ir::SymOp::Pow) {
        const Position base = value(node.operands[0]);
        return join(result, emit(Code::PowOverflows, base, value(node.operands[1])));
    }
    Position total = value(node.operands[0]);
    const bool adds = node.op == ir::SymOp::Add;
    for (size_t i = 1; i < node.operands.size(); ++i) {
        const Position operand = value(node.operands[i]);
        result = join(result, emit(adds ? Code::AddOverflows : Code::MulOverflows, total, operand));
        total = emit(adds ? Code::AddI : Code::MulI, total, operand);
    }
    return result;
}

std::optional<Position> BytecodeCompiler::overflow(ir::SymId id) {
    const ir::ScalarType type = pool_.type(id);
    const bool counts = type == ir::ScalarType::Int || type == ir::ScalarType::Bool;
    if (!counts || fits(id)) return std::nullopt;
    if (const auto known = overflows_.find(id); known != overflows_.end()) return known->second;
    const ir::SymNode node = pool_.node(id);
    const auto result =
        node.kind == ir::SymKind::Polynomial ? sum_overflow(node.terms) : operation_overflow(node);
    return overflows_[id] = result;
}

void BytecodeCompiler::check_fits(uint32_t array,
                                  const ir::IndexTerm& term,
                                  std::optional<Position> only_if) {
    constexpr double kNear = 2.3e18;
    const bool remapped = term.guard == ir::Guard::Remap;
    std::optional<Position> overflows;
    if (remapped || !is_near_element(term.value, kNear)) overflows = overflow(term.value);
    for (const ir::SymId part : {term.below, term.above}) {
        if (!remapped || is_near_element(part, kNear)) continue;
        overflows = join(overflows, overflow(part));
    }
    if (!overflows) return;
    // A Skip guard applies even if the element is not needed.
    if (term.guard == ir::Guard::Skip) only_if = std::nullopt;
    put(std::max(overflows->depth, only_if ? only_if->depth : 0),
        {Code::CheckFits,
         only_if.has_value(),
         array,
         overflows->reg,
         0,
         only_if ? only_if->reg : 0,
         0});
}

}  // namespace lemma::interpret
