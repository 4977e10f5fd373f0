// SPDX-License-Identifier: Apache-2.0
// Compiles a formula to bytecode: every expression gets a register and an instruction at the
// outermost loop that it depends on.
#include <fmt/format.h>

#include <algorithm>

#include "interpret/bytecode_compiler.h"
#include "interpret/functions.h"
#include "ir/program/lane_math.h"
#include "ir/symbols/comparison.h"

namespace lemma::interpret {

namespace {

using Position = CodePosition;

constexpr int64_t kLanes = 128;
constexpr int64_t kLongEnough = 32;

}  // namespace

Result<Bytecode> Bytecode::compile(const ir::Program& program,
                                   ir::SymbolPool& symbols,
                                   const ir::Formula& formula,
                                   const Shapes& shapes,
                                   bool in_float) {
    return BytecodeCompiler(program, symbols, formula, shapes, in_float).compile();
}

Position BytecodeCompiler::fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return {};
}

Result<Bytecode> BytecodeCompiler::compile() {
    kernel_.op_ = formula_.op;
    kernel_.in_float_ = in_float_;
    new_register();  // register 0 is reserved for unused operands
    LEMMA_TRY(order_loops());
    if (formula_.counter.valid()) {
        kernel_.counter_register_ = new_register();
        places_[formula_.counter] = {kernel_.counter_register_, innermost()};
    }
    for (const ir::Access& access : formula_.accesses) accesses_[access.symbol] = &access;
    find_conditions();
    // Guards come first: they decide whether the rest of a step runs.
    for (const ir::Access& access : formula_.accesses) value(access.symbol);
    if (formula_.condition.valid()) kernel_.condition_ = value(formula_.condition).reg;
    for (const ir::Write& write : formula_.writes) add_write(write);
    if (!error_.empty()) return std::unexpected(Error{error_});
    const bool one_by_one = formula_.counter.valid() || writes_what_it_reads();
    kernel_.max_lanes_ =
        one_by_one ? 1
                   : static_cast<size_t>(std::clamp<int64_t>(kernel_.extents_.back(), 1, kLanes));
    kernel_.place_registers();
    return std::move(kernel_);
}

bool BytecodeCompiler::writes_what_it_reads() const {
    for (const ir::Access& access : formula_.accesses) {
        for (const ir::Write& write : formula_.writes) {
            if (write.tensor == access.tensor) return true;
        }
    }
    return false;
}

// Whether the steps of the loop write different elements, so that each element keeps its order of
// operations.
bool BytecodeCompiler::may_be_innermost(ir::SymId index) const {
    for (const ir::Write& write : formula_.writes) {
        const bool named = std::ranges::any_of(write.indices, [&](const ir::IndexTerm& term) {
            return term.value == index && term.guard == ir::Guard::None;
        });
        if (!named) return false;
    }
    return true;
}

// Keeps the loops of the formula, but moves a long loop innermost if the last one is short; the
// lanes are its steps. There is at least one loop.
Result<void> BytecodeCompiler::order_loops() {
    std::vector<std::pair<ir::SymId, int64_t>> loops;
    for (const ir::Bound& bound : formula_.bounds) {
        const auto extent = pool_.as_int(bound.extent);
        if (!extent) return std::unexpected(Error{"a bound that is not known"});
        loops.emplace_back(bound.index, *extent);
    }
    if (loops.empty()) loops.emplace_back(ir::SymId(), 1);
    if (!formula_.counter.valid() && !writes_what_it_reads() && formula_.writes.size() == 1) {
        size_t best = loops.size() - 1;
        for (size_t i = loops.size(); i-- > 0;) {
            const bool longer =
                loops[best].second < kLongEnough && loops[i].second > loops[best].second;
            if (longer && may_be_innermost(loops[i].first)) best = i;
        }
        std::rotate(loops.begin() + static_cast<ptrdiff_t>(best),
                    loops.begin() + static_cast<ptrdiff_t>(best) + 1,
                    loops.end());
    }
    kernel_.blocks_.resize(loops.size() + 1);
    for (size_t i = 0; i < loops.size(); ++i) {
        kernel_.extents_.push_back(loops[i].second);
        kernel_.index_registers_.push_back(new_register());
        if (!loops[i].first.valid()) continue;
        places_[loops[i].first] = {kernel_.index_registers_.back(), i + 1};
        loop_extents_[loops[i].first] = loops[i].second;
    }
    return {};
}

void BytecodeCompiler::add_write(const ir::Write& write) {
    BytecodeWrite out;
    out.array = array_index(write.tensor);
    std::optional<Position> only_if;
    if (formula_.condition.valid()) only_if = value(formula_.condition);
    out.offset = offset(write.tensor, write.indices, 0, only_if).reg;
    out.value = value(write.value).reg;
    out.real = tensor::is_real(program_.tensors[write.tensor].dtype);
    if (formula_.counter.valid() && error_.empty()) {
        int64_t stride = 1;
        const tensor::Shape& shape = shapes_.at(write.tensor);
        for (size_t axis = write.indices.size(); axis-- > 0;) {
            if (write.indices[axis].value == formula_.counter) out.counter_stride = stride;
            stride = ir::wrapping_mul(stride, shape[axis]);
        }
    }
    kernel_.writes_.push_back(out);
}

// ---- What is needed when ------------------------------------------------------------------------

void BytecodeCompiler::find_conditions() {
    const ir::SymId always = pool_.boolean(true);
    const ir::SymId written = formula_.condition.valid() ? formula_.condition : always;
    for (const ir::Write& write : formula_.writes) {
        visit_conditions(write.value, written);
        for (const ir::IndexTerm& term : write.indices) visit_conditions(term.value, written);
    }
    if (formula_.condition.valid()) visit_conditions(formula_.condition, always);
}

void BytecodeCompiler::visit_conditions(ir::SymId root, ir::SymId needed) {
    const auto known = needed_.find(root);
    ir::SymId wanted = needed;
    if (known != needed_.end()) {
        wanted = either(known->second, needed);
        if (wanted == known->second) return;
    }
    needed_[root] = wanted;
    if (const auto found = accesses_.find(root); found != accesses_.end()) {
        for (const ir::IndexTerm& term : found->second->indices) {
            for (const ir::SymId part : {term.value, term.below, term.above}) {
                if (part.valid()) visit_conditions(part, needed);
            }
        }
        return;
    }
    const ir::SymNode node = pool_.node(root);
    for (const ir::SymTerm& term : node.terms) {
        for (const ir::SymFactor& factor : term.factors) visit_conditions(factor.atom, needed);
    }
    if (node.kind == ir::SymKind::Operation && node.op == ir::SymOp::Select) {
        const ir::SymId condition = node.operands[0];
        visit_conditions(condition, needed);
        const auto otherwise = pool_.apply(ir::SymOp::Not, {condition});
        const auto taken = pool_.apply(ir::SymOp::And, {needed, condition});
        const auto other =
            otherwise ? pool_.apply(ir::SymOp::And, {needed, *otherwise}) : std::nullopt;
        visit_conditions(node.operands[1], taken.value_or(needed));
        visit_conditions(node.operands[2], other.value_or(needed));
        return;
    }
    const bool logic = node.kind == ir::SymKind::Operation &&
                       (node.op == ir::SymOp::And || node.op == ir::SymOp::Or);
    if (logic) needed = visit_logic(node, needed);
    for (const ir::SymId operand : node.operands) {
        if (!logic || reads(operand)) visit_conditions(operand, needed);
    }
}

// The disjunction of two conditions. A part after a condition that reads an element needs the
// element both for the condition and under it. `p || p && q` must be `p` here, because an element
// cannot decide about itself.
ir::SymId BytecodeCompiler::either(ir::SymId a, ir::SymId b) {
    const auto parts = [&](ir::SymId id, ir::SymOp op) {
        const ir::SymNode node = pool_.node(id);
        const bool several = node.kind == ir::SymKind::Operation && node.op == op;
        return several ? node.operands : std::vector<ir::SymId>{id};
    };
    const auto implies = [&](ir::SymId stronger, ir::SymId weaker) {
        const std::vector<ir::SymId> all = parts(stronger, ir::SymOp::And);
        return std::ranges::all_of(parts(weaker, ir::SymOp::And), [&](ir::SymId part) {
            return pool_.as_bool(part) == true || std::ranges::find(all, part) != all.end();
        });
    };
    for (const ir::SymId one : parts(a, ir::SymOp::Or)) {
        if (implies(b, one)) return a;
    }
    if (implies(a, b)) return b;
    return pool_.apply(ir::SymOp::Or, {a, b}).value_or(pool_.boolean(true));
}

// `c ? x[i] : false` is `c && x[i]` here: an operand without reads decides whether the rest is
// read.
ir::SymId BytecodeCompiler::visit_logic(const ir::SymNode& node, ir::SymId needed) {
    ir::SymId rest = needed;
    for (const ir::SymId operand : node.operands) {
        if (reads(operand)) continue;
        visit_conditions(operand, needed);
        const auto open = node.op == ir::SymOp::And ? std::optional(operand)
                                                    : pool_.apply(ir::SymOp::Not, {operand});
        const auto both = open ? pool_.apply(ir::SymOp::And, {rest, *open}) : std::nullopt;
        rest = both.value_or(rest);
    }
    return rest;
}

bool BytecodeCompiler::reads(ir::SymId id) const {
    const auto symbols = pool_.symbols_of(id);
    return std::ranges::any_of(symbols, [&](ir::SymId s) { return accesses_.contains(s); });
}

// ---- Values -------------------------------------------------------------------------------------

Position BytecodeCompiler::value(ir::SymId id) {
    const auto known = places_.find(id);
    if (known != places_.end()) return known->second;
    if (!active_.insert(id).second) return fail("whether an element is read depends on itself");
    const Position place = make(id);
    active_.erase(id);
    places_[id] = place;
    return place;
}

Position BytecodeCompiler::make(ir::SymId id) {
    if (const auto found = accesses_.find(id); found != accesses_.end())
        return access(*found->second);
    if (pool_.is_constant(id)) return constant(id);
    const ir::SymNode node = pool_.node(id);
    switch (node.kind) {
        case ir::SymKind::Constant:
            return constant(id);
        case ir::SymKind::Symbol:
            return fail(fmt::format("`{}` has no value", node.name));
        case ir::SymKind::Polynomial:
            return sum(node.terms);
        case ir::SymKind::Operation:
            return operation(node);
    }
    return {};
}

Position BytecodeCompiler::constant(ir::SymId id) {
    const uint32_t reg = new_register();
    Register& value = kernel_.initial_[reg];
    if (const auto number = pool_.as_int(id)) {
        value.integer = *number;
    } else if (const auto real = pool_.as_real(id)) {
        value.real = in_float_ ? ir::to_float(*real) : *real;
    } else if (const auto flag = pool_.as_bool(id)) {
        value.integer = *flag;
    } else {
        auto& texts = kernel_.constant_texts_;
        const std::string text = pool_.as_string(id).value_or("");
        const auto known = std::ranges::find(texts, text);
        value.integer = known - texts.begin();
        if (known == texts.end()) texts.push_back(text);
    }
    return {reg, 0};
}

Position BytecodeCompiler::emit(Code code, Position a, Position b, Position c) {
    const size_t depth = std::max({a.depth, b.depth, c.depth});
    const uint32_t target = new_register();
    put(depth, {code, false, target, a.reg, b.reg, c.reg, 0});
    return {target, depth};
}

Position BytecodeCompiler::emit_real(Code code, Position a, Position b) {
    return rounded(emit(code, a, b));
}

// In float, the quotient is rounded before the ceiling is taken.
Position BytecodeCompiler::ceil_div(Position a, Position b) {
    if (!in_float_) return emit(Code::CeilDivR, a, b);
    return function("ceil", emit_real(Code::DivR, a, b));
}

Position BytecodeCompiler::modulo(Position a, Position b) {
    if (!in_float_) return emit(Code::ModR, a, b);
    const Position whole = function("floor", emit_real(Code::DivR, a, b));
    return emit_real(Code::SubR, a, emit_real(Code::MulR, whole, b));
}

// Adds outer parts first, so that inner loops add only the parts that change there.
Position BytecodeCompiler::chain(Code code, const std::vector<Position>& unsorted) {
    std::vector<Position> places = unsorted;
    std::stable_sort(
        places.begin(), places.end(), [](Position a, Position b) { return a.depth < b.depth; });
    Position result = places.front();
    for (size_t i = 1; i < places.size(); ++i) result = emit(code, result, places[i]);
    return result;
}

Position BytecodeCompiler::product(const ir::SymTerm& term) {
    std::vector<Position> factors;
    if (term.coefficient != 1 || term.factors.empty()) factors.push_back(integer(term.coefficient));
    for (const ir::SymFactor& factor : term.factors) {
        for (uint32_t i = 0; i < factor.power; ++i) factors.push_back(value(factor.atom));
    }
    return chain(Code::MulI, factors);
}

Position BytecodeCompiler::sum(const std::vector<ir::SymTerm>& terms) {
    if (terms.empty()) return integer(0);
    std::vector<Position> places;
    for (const ir::SymTerm& term : terms) places.push_back(product(term));
    return chain(Code::AddI, places);
}

Position BytecodeCompiler::comparison(const ir::SymNode& node) {
    const ir::Comparison sides = ir::comparison_of(pool_, node.operands[0], node.op);
    const Position left = sum(sides.left);
    const Position right = sum(sides.right);
    if (node.op == ir::SymOp::Equal) return emit(Code::EqualI, left, right);
    if (!sides.strict) return emit(Code::LessEqualI, left, right);
    return emit(Code::Not, emit(Code::LessEqualI, right, left));
}

Position BytecodeCompiler::operation(const ir::SymNode& node) {
    if (compares_with_zero(node)) return comparison(node);
    std::vector<Position> operands;
    for (const ir::SymId operand : node.operands) operands.push_back(value(operand));
    const ir::ScalarType from = pool_.type(node.operands.back());
    const bool real = from == ir::ScalarType::Real;
    const auto pick = [&](Code of_int, Code of_real) { return real ? of_real : of_int; };
    switch (node.op) {
        case ir::SymOp::Add:
        case ir::SymOp::Mul: {
            // Reals are added in the written order; sorting by depth would re-associate them.
            const Code code = node.op == ir::SymOp::Add ? pick(Code::AddI, Code::AddR)
                                                        : pick(Code::MulI, Code::MulR);
            Position result = operands.front();
            for (size_t i = 1; i < operands.size(); ++i) {
                result =
                    real ? emit_real(code, result, operands[i]) : emit(code, result, operands[i]);
            }
            return result;
        }
        case ir::SymOp::Sub:
            return emit_real(Code::SubR, operands[0], operands[1]);
        case ir::SymOp::Neg:
            return emit(Code::NegR, operands[0]);
        case ir::SymOp::Div:
            return real ? emit_real(Code::DivR, operands[0], operands[1])
                        : emit(Code::DivI, operands[0], operands[1]);
        case ir::SymOp::CeilDiv:
            return ceil_div(operands[0], operands[1]);
        case ir::SymOp::Mod:
            return real ? modulo(operands[0], operands[1])
                        : emit(Code::ModI, operands[0], operands[1]);
        case ir::SymOp::Pow:
            return real ? emit_real(Code::PowR, operands[0], operands[1])
                        : emit(Code::PowI, operands[0], operands[1]);
        case ir::SymOp::Min:
            return chain(pick(Code::MinI, Code::MinR), operands);
        case ir::SymOp::Max:
            return chain(pick(Code::MaxI, Code::MaxR), operands);
        case ir::SymOp::Less:
            return emit(Code::LessR, operands[0], operands[1]);
        case ir::SymOp::LessEqual:
            return emit(pick(Code::LessEqualI, Code::LessEqualR), operands[0], operands[1]);
        case ir::SymOp::Equal:
            return emit(pick(Code::EqualI, Code::EqualR), operands[0], operands[1]);
        case ir::SymOp::NotEqual:
            return emit(pick(Code::NotEqualI, Code::NotEqualR), operands[0], operands[1]);
        case ir::SymOp::And:
            return chain(Code::And, operands);
        case ir::SymOp::Or:
            return chain(Code::Or, operands);
        case ir::SymOp::Xor:
            return emit(Code::Xor, operands[0], operands[1]);
        case ir::SymOp::Not:
            return emit(Code::Not, operands[0]);
        case ir::SymOp::Select:
            return emit(Code::Select, operands[0], operands[1], operands[2]);
        case ir::SymOp::ToInt:
            return real ? emit(Code::RealToInt, operands[0]) : operands[0];
        case ir::SymOp::ToReal:
            if (real) return operands[0];
            return emit(in_float_ ? Code::IntToFloat : Code::IntToReal, operands[0]);
        case ir::SymOp::ToBool:
            return emit(pick(Code::IntToBool, Code::RealToBool), operands[0]);
        case ir::SymOp::Function:
            break;
    }
    if (!real) return emit(node.name == "abs" ? Code::AbsI : Code::SignI, operands[0]);
    return function(node.name, operands[0]);
}

Position BytecodeCompiler::function(std::string_view name, Position operand) {
    const auto function = find_function(name);
    if (!function) return fail(fmt::format("no function `{}`", name));
    kernel_.functions_.push_back(function);
    const uint32_t target = new_register();
    put(operand.depth,
        {Code::Function,
         false,
         target,
         operand.reg,
         static_cast<uint32_t>(kernel_.functions_.size() - 1),
         0,
         0});
    return rounded({target, operand.depth});
}

// ---- Memory -------------------------------------------------------------------------------------

uint32_t BytecodeCompiler::array_index(ir::TensorId tensor) {
    const auto [it, fresh] = array_indices_.emplace(tensor, kernel_.tensors_.size());
    if (fresh) {
        if (!shapes_.contains(tensor)) {
            fail(fmt::format("`{}` has no data", program_.tensors[tensor].name));
        }
        kernel_.tensors_.push_back(tensor);
        kernel_.names_.push_back(program_.tensors[tensor].name);
    }
    return it->second;
}

Position BytecodeCompiler::remapped(const ir::IndexTerm& term, Position bound) {
    const Position index = value(term.value);
    const Position below = value(term.below);
    const Position above = value(term.above);
    const size_t depth = std::max({index.depth, below.depth, above.depth});
    const uint32_t target = new_register();
    put(depth, {Code::Remap, false, target, index.reg, bound.reg, below.reg, above.reg});
    return {target, depth};
}

Position BytecodeCompiler::offset(ir::TensorId tensor,
                                  const std::vector<ir::IndexTerm>& terms,
                                  size_t least_depth,
                                  std::optional<Position> only_if) {
    const uint32_t array = array_index(tensor);
    if (!shapes_.contains(tensor)) return {};
    const tensor::Shape& shape = shapes_.at(tensor);
    if (shape.size() != terms.size()) return fail("an access of the wrong rank");
    std::vector<Position> parts = {integer(0)};
    int64_t stride = 1;  // overflows only if there are no elements
    for (size_t axis = terms.size(); axis-- > 0; stride = ir::wrapping_mul(stride, shape[axis])) {
        const ir::IndexTerm& term = terms[axis];
        if (term.value == formula_.counter) continue;
        const Position index = checked_index(array, term, shape[axis], only_if);
        parts.push_back(stride == 1 ? index : emit(Code::MulI, index, integer(stride)));
    }
    Position result = chain(Code::AddI, parts);
    result.depth = std::max(result.depth, least_depth);
    return result;
}

Position BytecodeCompiler::checked_index(uint32_t array,
                                         const ir::IndexTerm& term,
                                         int64_t extent,
                                         std::optional<Position> only_if) {
    Position index = value(term.value);
    const Position bound = integer(extent);
    check_fits(array, term, only_if);
    if (term.guard == ir::Guard::Skip) {
        put(index.depth, {Code::GuardIndex, false, 0, index.reg, bound.reg, 0, 0});
        return index;
    }
    if (term.guard == ir::Guard::Remap) index = remapped(term, bound);
    const ir::Interval range = pool_.range(term.value);
    if (term.guard == ir::Guard::None && range.low >= 0 && range.high < extent) return index;
    const size_t depth = std::max(index.depth, only_if ? only_if->depth : 0);
    put(depth,
        {Code::CheckIndex,
         only_if.has_value(),
         array,
         index.reg,
         bound.reg,
         only_if ? only_if->reg : 0,
         0});
    return index;
}

Position BytecodeCompiler::access(const ir::Access& access) {
    // An output is read where it is written: in the innermost loop, after earlier steps.
    const bool written = std::ranges::any_of(
        formula_.writes, [&](const ir::Write& write) { return write.tensor == access.tensor; });
    const size_t least_depth = written ? innermost() : 0;
    std::optional<Position> only_if;
    // An access that no value needs exists only for its guards.
    const auto needed = needed_.find(access.symbol);
    const ir::SymId when = needed != needed_.end() ? needed->second : pool_.boolean(false);
    if (pool_.as_bool(when) != true) only_if = value(when);
    const Position at = offset(access.tensor, access.indices, least_depth, only_if);
    const size_t depth = std::max(at.depth, only_if ? only_if->depth : 0);
    const uint32_t target = new_register();
    put(depth,
        {only_if ? Code::LoadIf : Code::Load,
         false,
         target,
         array_index(access.tensor),
         at.reg,
         only_if ? only_if->reg : 0,
         0});
    const bool wide = program_.tensors[access.tensor].dtype == ir::DType::F64;
    return wide ? rounded({target, depth}) : Position{target, depth};
}

}  // namespace lemma::interpret
