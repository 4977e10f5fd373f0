// From a formula to a kernel: every expression gets a register, and an instruction at the outermost
// loop that it depends on.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "loop/functions.h"
#include "loop/kernel.h"

namespace lemma::loop {

namespace {

// A register, and the number of loops around the instruction that fills it.
struct Place {
    uint32_t reg = 0;
    size_t depth = 0;
};

}  // namespace

class KernelCompiler {
public:
    KernelCompiler(ir::Program& program,
                   const ir::Formula& formula,
                   const std::unordered_map<ir::TensorId, Array*, IdHash>& arrays)
        : program_(program), pool_(program.symbols), formula_(formula), arrays_(arrays) {}

    Result<Kernel> compile();

private:
    Place value(ir::SymId id);
    Place make(ir::SymId id);
    Place constant(ir::SymId id);
    Place polynomial(const ir::SymNode& node);
    Place product(const ir::SymTerm& term);
    Place operation(const ir::SymNode& node);
    Place chain(Code code, const std::vector<Place>& places);
    Place access(const ir::Access& access);
    // The offset of the element, with checks and guards put before it.
    Place offset(ir::TensorId tensor,
                 const std::vector<ir::IndexTerm>& terms,
                 size_t least_depth,
                 std::optional<Place> only_if);
    Place emit(Code code, Place a, Place b = {}, Place c = {});
    void put(size_t depth, Instruction instruction) {
        kernel_.blocks_[depth].push_back(instruction);
    }
    Place integer(int64_t number) { return value(pool_.integer(number)); }
    uint32_t new_register() {
        kernel_.registers_.push_back({});
        return static_cast<uint32_t>(kernel_.registers_.size() - 1);
    }
    uint32_t array_index(ir::TensorId tensor);
    Place fail(std::string message);
    void find_conditions();
    void visit_conditions(ir::SymId root, ir::SymId needed);

    ir::Program& program_;
    ir::SymbolPool& pool_;
    const ir::Formula& formula_;
    const std::unordered_map<ir::TensorId, Array*, IdHash>& arrays_;
    Kernel kernel_;
    std::map<ir::SymId, Place> places_;
    std::map<ir::SymId, const ir::Access*> accesses_;
    std::map<ir::TensorId, uint32_t> array_indices_;
    // When an element is needed at all: those in a branch of a select only where it is taken.
    std::map<ir::SymId, ir::SymId> needed_;
    std::string error_;
};

Result<Kernel> Kernel::compile(ir::Program& program,
                               const ir::Formula& formula,
                               const std::unordered_map<ir::TensorId, Array*, IdHash>& arrays) {
    return KernelCompiler(program, formula, arrays).compile();
}

Place KernelCompiler::fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return {};
}

Result<Kernel> KernelCompiler::compile() {
    kernel_.op_ = formula_.op;
    kernel_.blocks_.resize(formula_.bounds.size() + 1);
    new_register();  // register 0 is nobody's, so that unused operands may name it
    for (size_t i = 0; i < formula_.bounds.size(); ++i) {
        const auto extent = pool_.as_int(formula_.bounds[i].extent);
        if (!extent) return std::unexpected(Error{"a bound that is not known"});
        kernel_.extents_.push_back(*extent);
        const uint32_t reg = new_register();
        kernel_.index_registers_.push_back(reg);
        places_[formula_.bounds[i].index] = {reg, i + 1};
    }
    if (formula_.counter.valid()) {
        kernel_.counter_register_ = new_register();
        places_[formula_.counter] = {kernel_.counter_register_, formula_.bounds.size()};
    }
    for (const ir::Access& access : formula_.accesses) accesses_[access.symbol] = &access;
    find_conditions();
    // Guards first: they decide whether the rest of a step runs.
    for (const ir::Access& access : formula_.accesses) value(access.symbol);
    if (formula_.condition.valid()) kernel_.condition_ = value(formula_.condition).reg;
    for (const ir::Write& write : formula_.writes) {
        KernelWrite out;
        out.array = array_index(write.tensor);
        out.offset = offset(write.tensor, write.indices, 0, std::nullopt).reg;
        out.value = value(write.value).reg;
        out.real = tensor::is_real(program_.tensors[write.tensor].dtype);
        if (formula_.counter.valid()) {
            int64_t stride = 1;
            const Array& array = *arrays_.at(write.tensor);
            for (size_t axis = write.indices.size(); axis-- > 0;) {
                if (write.indices[axis].value == formula_.counter) out.counter_stride = stride;
                stride *= array.shape[axis];
            }
        }
        kernel_.writes_.push_back(out);
    }
    if (!error_.empty()) return std::unexpected(Error{error_});
    return std::move(kernel_);
}

// ---- What is needed when ------------------------------------------------------------------------

void KernelCompiler::find_conditions() {
    const ir::SymId always = pool_.boolean(true);
    for (const ir::Write& write : formula_.writes) {
        visit_conditions(write.value, always);
        for (const ir::IndexTerm& term : write.indices) visit_conditions(term.value, always);
    }
    if (formula_.condition.valid()) visit_conditions(formula_.condition, always);
}

void KernelCompiler::visit_conditions(ir::SymId root, ir::SymId needed) {
    const auto known = needed_.find(root);
    ir::SymId wanted = needed;
    if (known != needed_.end()) {
        const auto either = pool_.apply(ir::SymOp::Or, {known->second, needed});
        wanted = either.value_or(pool_.boolean(true));
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
    for (const ir::SymId operand : node.operands) visit_conditions(operand, needed);
}

// ---- Values -------------------------------------------------------------------------------------

Place KernelCompiler::value(ir::SymId id) {
    const auto known = places_.find(id);
    if (known != places_.end()) return known->second;
    const Place place = make(id);
    places_[id] = place;
    return place;
}

Place KernelCompiler::make(ir::SymId id) {
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
            return polynomial(node);
        case ir::SymKind::Operation:
            return operation(node);
    }
    return {};
}

Place KernelCompiler::constant(ir::SymId id) {
    const uint32_t reg = new_register();
    Register& value = kernel_.registers_[reg];
    if (const auto number = pool_.as_int(id)) {
        value.integer = *number;
    } else if (const auto real = pool_.as_real(id)) {
        value.real = *real;
    } else if (const auto flag = pool_.as_bool(id)) {
        value.integer = *flag;
    } else {
        return fail("strings cannot be computed with in a formula");
    }
    return {reg, 0};
}

Place KernelCompiler::emit(Code code, Place a, Place b, Place c) {
    const size_t depth = std::max({a.depth, b.depth, c.depth});
    const uint32_t target = new_register();
    put(depth, {code, false, target, a.reg, b.reg, c.reg});
    return {target, depth};
}

// Outer parts first, so that inner loops add only what changes there.
Place KernelCompiler::chain(Code code, const std::vector<Place>& unsorted) {
    std::vector<Place> places = unsorted;
    std::stable_sort(
        places.begin(), places.end(), [](Place a, Place b) { return a.depth < b.depth; });
    Place result = places.front();
    for (size_t i = 1; i < places.size(); ++i) result = emit(code, result, places[i]);
    return result;
}

Place KernelCompiler::product(const ir::SymTerm& term) {
    std::vector<Place> factors;
    if (term.coefficient != 1 || term.factors.empty()) factors.push_back(integer(term.coefficient));
    for (const ir::SymFactor& factor : term.factors) {
        for (uint32_t i = 0; i < factor.power; ++i) factors.push_back(value(factor.atom));
    }
    return chain(Code::MulI, factors);
}

Place KernelCompiler::polynomial(const ir::SymNode& node) {
    std::vector<Place> terms;
    for (const ir::SymTerm& term : node.terms) terms.push_back(product(term));
    return chain(Code::AddI, terms);
}

Place KernelCompiler::operation(const ir::SymNode& node) {
    std::vector<Place> operands;
    for (const ir::SymId operand : node.operands) operands.push_back(value(operand));
    const ir::ScalarType from = pool_.type(node.operands.back());
    const bool real = from == ir::ScalarType::Real;
    const auto pick = [&](Code of_int, Code of_real) { return real ? of_real : of_int; };
    switch (node.op) {
        case ir::SymOp::Add:
        case ir::SymOp::Mul: {
            // Reals are added in the order written; sorting by depth would re-associate them.
            const Code code = node.op == ir::SymOp::Add ? pick(Code::AddI, Code::AddR)
                                                        : pick(Code::MulI, Code::MulR);
            Place result = operands.front();
            for (size_t i = 1; i < operands.size(); ++i) result = emit(code, result, operands[i]);
            return result;
        }
        case ir::SymOp::Sub:
            return emit(Code::SubR, operands[0], operands[1]);
        case ir::SymOp::Neg:
            return emit(Code::NegR, operands[0]);
        case ir::SymOp::Div:
            return emit(pick(Code::DivI, Code::DivR), operands[0], operands[1]);
        case ir::SymOp::CeilDiv:
            return emit(Code::CeilDivR, operands[0], operands[1]);
        case ir::SymOp::Mod:
            return emit(pick(Code::ModI, Code::ModR), operands[0], operands[1]);
        case ir::SymOp::Pow:
            return emit(pick(Code::PowI, Code::PowR), operands[0], operands[1]);
        case ir::SymOp::Min:
            return chain(pick(Code::MinI, Code::MinR), operands);
        case ir::SymOp::Max:
            return chain(pick(Code::MaxI, Code::MaxR), operands);
        case ir::SymOp::Less:
            return emit(Code::LessR, operands[0], operands[1]);
        case ir::SymOp::LessEqual:
            if (operands.size() == 1) operands.push_back(integer(0));
            return emit(pick(Code::LessEqualI, Code::LessEqualR), operands[0], operands[1]);
        case ir::SymOp::Equal:
            if (operands.size() == 1) operands.push_back(integer(0));
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
            return real ? operands[0] : emit(Code::IntToReal, operands[0]);
        case ir::SymOp::ToBool:
            return emit(pick(Code::IntToBool, Code::RealToBool), operands[0]);
        case ir::SymOp::Function:
            break;
    }
    if (!real) return emit(node.name == "abs" ? Code::AbsI : Code::SignI, operands[0]);
    const auto function = find_function(node.name);
    if (!function) return fail(fmt::format("no function `{}`", node.name));
    kernel_.functions_.push_back(function);
    const uint32_t target = new_register();
    put(operands[0].depth,
        {Code::Function,
         false,
         target,
         operands[0].reg,
         static_cast<uint32_t>(kernel_.functions_.size() - 1),
         0});
    return {target, operands[0].depth};
}

// ---- Memory -------------------------------------------------------------------------------------

uint32_t KernelCompiler::array_index(ir::TensorId tensor) {
    const auto [it, fresh] = array_indices_.emplace(tensor, kernel_.arrays_.size());
    if (fresh) {
        const auto array = arrays_.find(tensor);
        if (array == arrays_.end())
            fail(fmt::format("`{}` has no data", program_.tensors[tensor].name));
        kernel_.arrays_.push_back(array == arrays_.end() ? nullptr : array->second);
        kernel_.names_.push_back(program_.tensors[tensor].name);
    }
    return it->second;
}

Place KernelCompiler::offset(ir::TensorId tensor,
                             const std::vector<ir::IndexTerm>& terms,
                             size_t least_depth,
                             std::optional<Place> only_if) {
    const uint32_t index = array_index(tensor);
    const Array* array = kernel_.arrays_[index];
    if (!array || array->shape.size() != terms.size()) return fail("an access of the wrong rank");
    std::vector<Place> parts = {integer(0)};
    int64_t stride = 1;
    for (size_t axis = terms.size(); axis-- > 0;) {
        const ir::IndexTerm& term = terms[axis];
        const int64_t extent = array->shape[axis];
        Place place = value(term.value);
        const Place bound = integer(extent);
        if (term.guard == ir::Guard::Skip) {
            put(place.depth, {Code::GuardIndex, false, 0, place.reg, bound.reg, 0});
        } else {
            if (term.guard == ir::Guard::Remap) {
                const Place below = value(term.below);
                const Place above = value(term.above);
                // The two lie side by side.
                const uint32_t first = new_register();
                const uint32_t second = new_register();
                const size_t depth = std::max({place.depth, below.depth, above.depth});
                const Place zero = integer(0);
                put(depth, {Code::AddI, false, first, below.reg, zero.reg, 0});
                put(depth, {Code::AddI, false, second, above.reg, zero.reg, 0});
                const uint32_t target = new_register();
                put(depth, {Code::Remap, false, target, place.reg, bound.reg, first});
                place = {target, depth};
            }
            const ir::Interval range = pool_.range(term.value);
            const bool safe =
                term.guard == ir::Guard::None && range.low >= 0 && range.high < extent;
            if (!safe && term.value != formula_.counter) {
                const size_t depth = std::max(place.depth, only_if ? only_if->depth : 0);
                put(depth,
                    {Code::CheckIndex,
                     only_if.has_value(),
                     index,
                     place.reg,
                     bound.reg,
                     only_if ? only_if->reg : 0});
            }
        }
        if (term.value != formula_.counter) {
            parts.push_back(stride == 1 ? place : emit(Code::MulI, place, integer(stride)));
        }
        stride *= extent;
    }
    Place result = chain(Code::AddI, parts);
    result.depth = std::max(result.depth, least_depth);
    return result;
}

Place KernelCompiler::access(const ir::Access& access) {
    // An output is read where it is written: in the innermost loop, behind earlier steps.
    bool written = false;
    for (const ir::Write& write : formula_.writes)
        written = written || write.tensor == access.tensor;
    const size_t least_depth = written ? formula_.bounds.size() : 0;
    std::optional<Place> only_if;
    const auto needed = needed_.find(access.symbol);
    if (needed != needed_.end() && pool_.as_bool(needed->second) != true)
        only_if = value(needed->second);
    const Place at = offset(access.tensor, access.indices, least_depth, only_if);
    const size_t depth = std::max(at.depth, only_if ? only_if->depth : 0);
    const uint32_t target = new_register();
    put(depth,
        {only_if ? Code::LoadIf : Code::Load,
         false,
         target,
         array_index(access.tensor),
         at.reg,
         only_if ? only_if->reg : 0});
    return {target, depth};
}

}  // namespace lemma::loop
