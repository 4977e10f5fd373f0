// SPDX-License-Identifier: Apache-2.0
// Makes stages from formulas.
#include "loop/stage/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ir/program/lane_math.h"
#include "ir/symbols/comparison.h"
#include "loop/ir/layout.h"
#include "loop/stage/dynamic.h"
#include "loop/stage/index_fit.h"
#include "loop/stage/powers.h"

namespace lemma::loop {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// Values are computed in float if no tensor is wider. They are computed in double where float
// rounding could change more than the last digits: before rounding to integers, and before
// comparing computed values. Reals without tensors are doubles in either case.
class Precision {
public:
    Precision(const ir::Program& program, const ir::Formula& formula)
        : program_(program), symbols_(program.symbols) {
        for (const ir::Access& access : formula.accesses) accesses_[access.symbol] = access.tensor;
        for (const ir::Access& access : formula.accesses) {
            double_ |= program.tensors[access.tensor].dtype == tensor::DType::F64;
            visit_terms(access.indices);
        }
        for (const ir::Write& write : formula.writes) {
            const tensor::DType dtype = program.tensors[write.tensor].dtype;
            double_ |= dtype == tensor::DType::F64;
            visit_terms(write.indices);
            visit(write.value);
        }
        if (formula.condition.valid()) visit(formula.condition);
    }
    bool wants_double() const { return double_; }

private:
    void visit_terms(const std::vector<ir::IndexTerm>& terms) {
        for (const ir::IndexTerm& term : terms) {
            for (const ir::SymId id : {term.value, term.below, term.above}) {
                if (id.valid()) visit(id);
            }
        }
    }
    // Whether the value depends on elements of real tensors.
    bool has_elements(ir::SymId id) {
        if (const auto access = accesses_.find(id); access != accesses_.end()) {
            return tensor::is_real(program_.tensors[access->second].dtype);
        }
        const auto [known, fresh] = elements_.emplace(id, false);
        if (!fresh) return known->second;
        const ir::SymNode node = symbols_.node(id);
        bool result = false;
        for (const ir::SymId operand : node.operands) result |= has_elements(operand);
        elements_[id] = result;
        return result;
    }
    // Whether float represents the value exactly.
    bool exact(ir::SymId id) {
        if (accesses_.contains(id) || !has_elements(id)) {
            const auto value = symbols_.as_real(id);
            return !value || static_cast<double>(static_cast<float>(*value)) == *value ||
                   std::isnan(*value);
        }
        const ir::SymNode node = symbols_.node(id);
        switch (node.op) {
            case ir::SymOp::Neg:
            case ir::SymOp::Min:
            case ir::SymOp::Max:
                return std::ranges::all_of(node.operands, [&](ir::SymId o) { return exact(o); });
            case ir::SymOp::Select:
                return exact(node.operands[1]) && exact(node.operands[2]);
            case ir::SymOp::Function:
                return node.name == "abs" && exact(node.operands[0]);
            default:
                return false;
        }
    }
    bool jumps(const ir::SymNode& node) {
        switch (node.op) {
            case ir::SymOp::Mod:
            case ir::SymOp::CeilDiv:
                return has_elements(node.operands[0]) || has_elements(node.operands[1]);
            case ir::SymOp::Function: {
                const bool rounds = node.name == "round" || node.name == "floor" ||
                                    node.name == "ceil" || node.name == "frac" ||
                                    node.name == "sign";
                return rounds && has_elements(node.operands[0]) && !exact(node.operands[0]);
            }
            case ir::SymOp::ToInt:
            case ir::SymOp::ToBool:
                return has_elements(node.operands[0]) && !exact(node.operands[0]);
            case ir::SymOp::Less:
            case ir::SymOp::LessEqual:
            case ir::SymOp::Equal:
            case ir::SymOp::NotEqual: {
                bool any = false, all_exact = true;
                for (const ir::SymId operand : node.operands) {
                    if (symbols_.type(operand) != ir::ScalarType::Real) return false;
                    any |= has_elements(operand);
                    all_exact &= exact(operand);
                }
                return any && !all_exact;
            }
            default:
                return false;
        }
    }
    void visit(ir::SymId id) {
        if (double_ || accesses_.contains(id) || !seen_.emplace(id, true).second) return;
        const ir::SymNode node = symbols_.node(id);
        if (node.kind == ir::SymKind::Operation && jumps(node)) double_ = true;
        for (const ir::SymId operand : node.operands) visit(operand);
        for (const ir::SymTerm& term : node.terms) {
            for (const ir::SymFactor& factor : term.factors) visit(factor.atom);
        }
    }

    const ir::Program& program_;
    const ir::SymbolPool& symbols_;
    std::unordered_map<ir::SymId, ir::TensorId, IdHash> accesses_;
    std::unordered_map<ir::SymId, bool, IdHash> elements_;
    std::unordered_map<ir::SymId, bool, IdHash> seen_;
    bool double_ = false;
};

class StageMaker {
public:
    StageMaker(const ir::Program& program,
               const ir::Formula& formula,
               const KnownExtents& known,
               const Shapes& shapes,
               StagePool& pool,
               DynamicShape* run_time)
        : program_(program),
          run_time_(run_time),
          symbols_(program.symbols),
          formula_(formula),
          known_(known),
          shapes_(shapes),
          pool_(pool),
          build_(pool.build),
          float_(pool.strict && ir::computes_in_float(program, formula, pool.accumulate)),
          double_(!float_ && (pool.strict || Precision(program, formula).wants_double())) {}

    Result<Stage> make();

private:
    ExprId value(ir::SymId id);
    ExprId compute(ir::SymId id);
    ExprId sum(const std::vector<ir::SymTerm>& terms);
    ExprId comparison(const ir::SymNode& node);
    ExprId operation(const ir::SymNode& node);
    ExprId function(const ir::SymNode& node, ExprId operand);
    ExprId power(ExprId base, ExprId exponent, ir::SymId exponent_id);
    ExprId integer_power(ExprId base, ExprId exponent);
    ExprId library(const char* name, std::vector<ExprId> args);
    // The kind of reals that do not depend on a tensor.
    Kind real_kind() const { return float_ ? Kind::F32 : Kind::F64; }
    ExprId combine(Op op, ExprId a, ExprId b);
    ExprId read(const ir::Access& access);
    ExprId literal(const ir::Tensor& tensor);
    std::vector<ExprId> indices(ir::TensorId tensor, const std::vector<ir::IndexTerm>& terms);
    std::vector<ExprId> extents(ir::TensorId tensor);
    ExprId inside(const ir::IndexTerm& term, ir::SymId symbol, ExprId index, ExprId extent);
    ExprId good_index(const ir::IndexTerm& term, ExprId index);
    ExprId run_time_number(ir::SymId id, bool count);
    bool is_told(ir::SymId id) const;
    ExprId fail(std::string message) {
        if (error_.empty()) error_ = std::move(message);
        return build_.integer(0);
    }
    bool check_dtype(ir::TensorId tensor);

    const ir::Program& program_;
    DynamicShape* run_time_;  // may be missing
    const ir::SymbolPool& symbols_;
    const ir::Formula& formula_;
    const KnownExtents& known_;
    const Shapes& shapes_;
    StagePool& pool_;
    Builder& build_;
    bool float_;   // each real operation is rounded to float
    bool double_;  // elements are widened to double
    Stage stage_;
    std::unordered_map<ir::SymId, ExprId, IdHash> values_;
    std::unordered_map<ir::SymId, const ir::Access*, IdHash> accesses_;
    RunEnds run_ends_;
    std::string error_;
};

bool StageMaker::check_dtype(ir::TensorId tensor) {
    const tensor::DType dtype = program_.tensors[tensor].dtype;
    if (dtype == tensor::DType::Str)
        fail(fmt::format("elements of type {}", tensor::dtype_name(dtype)));
    if (!shapes_.contains(tensor) && !run_time_) fail("a tensor without a shape");
    return error_.empty();
}

Result<Stage> StageMaker::make() {
    if (formula_.counter.valid()) return bad("the append form");
    stage_.combine = formula_.op;
    int64_t steps = 1;
    for (const ir::Bound& bound : formula_.bounds) {
        const auto extent = evaluate(symbols_, bound.extent, known_);
        steps = total_elements(steps, std::max<int64_t>(extent.value_or(1), 1));
        if (!extent) {
            if (!run_time_) return bad("an extent that only the run tells");
            const int64_t most = symbols_.range(bound.extent).high;
            const ExprId end = run_number(*run_time_, symbols_, bound.extent, true, pool_);
            const VarId var = pool_.new_var(std::clamp<int64_t>(most, 1, kMostExtent), end);
            stage_.loops.push_back({var, pool_.extent(var)});
            run_ends_.ends[var] = end;
            values_[bound.index] = build_.index(var);
            continue;
        }
        stage_.empty |= *extent <= 0;
        if (*extent <= 1) {
            values_[bound.index] = build_.integer(0);
            continue;
        }
        const VarId var = pool_.new_var(*extent);
        stage_.loops.push_back({var, *extent});
        values_[bound.index] = build_.index(var);
    }
    // The bound keeps products of extents in passes from overflow.
    constexpr int64_t kMostSteps = int64_t{1} << 48;
    if (steps > kMostSteps) return bad("more steps than a run can do");
    for (const ir::Access& access : formula_.accesses) {
        accesses_[access.symbol] = &access;
        if (!check_dtype(access.tensor)) return bad(error_);
    }
    // Elements that no value needs count as well, because of their guards.
    for (const ir::Access& access : formula_.accesses) value(access.symbol);
    if (formula_.condition.valid()) stage_.condition = value(formula_.condition);
    for (const ir::Write& write : formula_.writes) {
        if (!check_dtype(write.tensor)) return bad(error_);
        const auto shape = shapes_.find(write.tensor);
        const bool none = shape != shapes_.end() && tensor::volume(shape->second) == 0;
        auto index = indices(write.tensor, write.indices);
        if (none && !stage_.empty) return bad("a result without elements, of which one is written");
        stage_.writes.push_back({write.tensor, std::move(index), value(write.value)});
    }
    if (!error_.empty()) return bad(error_);
    stage_.sizes = std::move(run_ends_.sizes);
    return std::move(stage_);
}

// ---- Values -------------------------------------------------------------------------------------

ExprId StageMaker::value(ir::SymId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    const ExprId result = compute(id);
    values_[id] = result;
    return result;
}

ExprId StageMaker::compute(ir::SymId id) {
    if (const auto found = accesses_.find(id); found != accesses_.end())
        return read(*found->second);
    if (const auto number = symbols_.as_int(id)) return build_.integer(*number);
    if (const auto real = symbols_.as_real(id)) return build_.real(*real, real_kind());
    if (const auto flag = symbols_.as_bool(id)) return build_.boolean(*flag);
    if (const auto found = known_.find(id); found != known_.end()) {
        return build_.integer(found->second);
    }
    if (run_time_ && is_told(id)) return run_time_number(id, false);
    const ir::SymNode node = symbols_.node(id);
    if (node.type == ir::ScalarType::Str) return fail("text");
    switch (node.kind) {
        case ir::SymKind::Polynomial:
            return sum(node.terms);
        case ir::SymKind::Operation:
            return operation(node);
        default:
            return fail(fmt::format("`{}`, which only the run tells", node.name));
    }
}

ExprId StageMaker::sum(const std::vector<ir::SymTerm>& terms) {
    ExprId sum = build_.integer(0);
    for (const ir::SymTerm& term : terms) {
        ExprId product = build_.integer(term.coefficient);
        for (const ir::SymFactor& factor : term.factors) {
            for (uint32_t i = 0; i < factor.power; ++i) {
                product = build_.make(Op::Mul, {product, value(factor.atom)});
            }
        }
        sum = build_.make(Op::Add, {sum, product});
    }
    return sum;
}

// A float and a double without tensors combine to a float.
ExprId StageMaker::combine(Op op, ExprId a, ExprId b) {
    const Kind ka = build_.type(a).kind;
    const Kind kb = build_.type(b).kind;
    if (ka == Kind::F32 && kb == Kind::F64) b = build_.cast(b, Kind::F32);
    if (kb == Kind::F32 && ka == Kind::F64) a = build_.cast(a, Kind::F32);
    return build_.make(op, {a, b});
}

// A comparison of a sum with zero.
ExprId StageMaker::comparison(const ir::SymNode& node) {
    const ir::Comparison sides = ir::comparison_of(symbols_, node.operands[0], node.op);
    const Op op = node.op == ir::SymOp::Equal ? Op::Equal : sides.strict ? Op::Less : Op::LessEqual;
    return build_.make(op, {sum(sides.left), sum(sides.right)});
}

ExprId StageMaker::operation(const ir::SymNode& node) {
    const bool compares = node.op == ir::SymOp::LessEqual || node.op == ir::SymOp::Equal;
    if (compares && node.operands.size() == 1) return comparison(node);
    std::vector<ExprId> v;
    for (const ir::SymId operand : node.operands) v.push_back(value(operand));
    const auto chain = [&](Op op) {
        ExprId result = v[0];
        for (size_t i = 1; i < v.size(); ++i) result = combine(op, result, v[i]);
        return result;
    };
    const auto compare = [&](Op op) { return combine(op, v[0], v[1]); };
    const bool real = symbols_.type(node.operands.back()) == ir::ScalarType::Real;
    switch (node.op) {
        case ir::SymOp::Add:
            return chain(Op::Add);
        case ir::SymOp::Mul:
            return chain(Op::Mul);
        case ir::SymOp::Sub:
            return chain(Op::Sub);
        case ir::SymOp::Neg:
            return build_.make(Op::Neg, {v[0]});
        case ir::SymOp::Div:
            return chain(Op::Div);
        case ir::SymOp::CeilDiv:
            return build_.make(Op::Ceil, {combine(Op::Div, v[0], v[1])});
        case ir::SymOp::Mod: {
            if (!real) return combine(Op::Mod, v[0], v[1]);
            const ExprId whole = build_.make(Op::Floor, {combine(Op::Div, v[0], v[1])});
            return combine(Op::Sub, v[0], combine(Op::Mul, whole, v[1]));
        }
        case ir::SymOp::Pow:
            return power(v[0], v[1], node.operands[1]);
        case ir::SymOp::Min:
            return chain(Op::Min);
        case ir::SymOp::Max:
            return chain(Op::Max);
        case ir::SymOp::Less:
            return compare(Op::Less);
        case ir::SymOp::LessEqual:
            return compare(Op::LessEqual);
        case ir::SymOp::Equal:
            return compare(Op::Equal);
        case ir::SymOp::NotEqual:
            return compare(Op::NotEqual);
        case ir::SymOp::And:
            return chain(Op::And);
        case ir::SymOp::Or:
            return chain(Op::Or);
        case ir::SymOp::Xor:
            return chain(Op::Xor);
        case ir::SymOp::Not:
            return build_.make(Op::Not, {v[0]});
        case ir::SymOp::Select: {
            const Kind a = build_.type(v[1]).kind;
            const Kind b = build_.type(v[2]).kind;
            if (a == Kind::F32 && b == Kind::F64) v[2] = build_.cast(v[2], Kind::F32);
            if (b == Kind::F32 && a == Kind::F64) v[1] = build_.cast(v[1], Kind::F32);
            return build_.select(v[0], v[1], v[2]);
        }
        case ir::SymOp::ToInt:
            return build_.cast(v[0], Kind::Int);
        case ir::SymOp::ToReal:
            return real ? v[0] : build_.cast(v[0], real_kind());
        case ir::SymOp::ToBool:
            return build_.type(v[0]).kind == Kind::Bool
                       ? v[0]
                       : combine(Op::NotEqual,
                                 v[0],
                                 real ? build_.real(0, real_kind()) : build_.integer(0));
        case ir::SymOp::Function:
            return function(node, v[0]);
    }
    return fail("an operation that is not known");
}

// By repeated squaring, as ir::total_pow: products wrap around, and a negative exponent gives 0.
// From the exponent 64 on, a power of an even number is 0.
ExprId StageMaker::integer_power(ExprId base, ExprId exponent) {
    const bool even = pool_[base].op == Op::Constant && pool_[base].integer % 2 == 0;
    const ExprId zero = build_.integer(0);
    const ExprId two = build_.integer(2);
    ExprId result = build_.integer(1);
    ExprId square = base;
    ExprId rest = exponent;
    for (int bit = 0; bit < (even ? 6 : 63); ++bit) {
        const ExprId odd = combine(Op::NotEqual, build_.make(Op::Mod, {rest, two}), zero);
        result = build_.select(odd, build_.make(Op::Mul, {result, square}), result);
        rest = build_.make(Op::Div, {rest, two});
        square = build_.make(Op::Mul, {square, square});
    }
    ExprId counts = combine(Op::LessEqual, zero, exponent);
    if (even) {
        const ExprId small = combine(Op::Less, exponent, build_.integer(64));
        counts = combine(Op::And, counts, small);
    }
    return build_.select(counts, result, zero);
}

ExprId StageMaker::power(ExprId base, ExprId exponent, ir::SymId exponent_id) {
    if (build_.type(base).kind == Kind::Int) {
        const auto constant = symbols_.as_int(exponent_id);
        if (!constant || *constant < 0 || *constant > 8) {
            if (pool_.integer_powers) return build_.make(Op::Pow, {base, exponent});
            return integer_power(base, exponent);
        }
        ExprId result = build_.integer(1);
        for (int64_t i = 0; i < *constant; ++i) result = build_.make(Op::Mul, {result, base});
        return result;
    }
    auto constant = symbols_.as_real(exponent_id);
    if (const Expr& e = pool_[exponent]; e.op == Op::Constant && e.type.real()) constant = e.real;
    if (pool_.strict) constant.reset();
    const Kind kind = build_.type(base).kind;
    if (constant) {
        const ExprId simple = simple_power(build_, base, *constant);
        if (simple.valid()) return simple;
    }
    if (kind == Kind::F32) exponent = build_.cast(exponent, Kind::F32);
    if (kind == Kind::F64 && build_.type(exponent).kind == Kind::F32) {
        base = build_.cast(base, Kind::F32);
    }
    return library("pow", {base, exponent});
}

// In float, the function is computed in double and then rounded.
ExprId StageMaker::library(const char* name, std::vector<ExprId> args) {
    if (!float_) return build_.library(name, std::move(args));
    for (ExprId& arg : args) arg = build_.cast(arg, Kind::F64);
    return build_.cast(build_.library(name, std::move(args)), Kind::F32);
}

ExprId StageMaker::function(const ir::SymNode& node, ExprId x) {
    const Kind kind = build_.type(x).kind;
    const auto number = [&](double value) {
        return kind == Kind::Int ? build_.integer(static_cast<int64_t>(value))
                                 : build_.real(value, kind);
    };
    if (node.name == "abs") return build_.make(Op::Abs, {x});
    if (node.name == "sign") {
        const ExprId below =
            build_.select(build_.make(Op::Less, {x, number(0)}), number(-1), number(0));
        return build_.select(build_.make(Op::Less, {number(0), x}), number(1), below);
    }
    if (node.name == "sqrt") return build_.make(Op::Sqrt, {x});
    if (node.name == "floor") return build_.make(Op::Floor, {x});
    if (node.name == "ceil") return build_.make(Op::Ceil, {x});
    if (node.name == "round") return build_.make(Op::Round, {x});
    if (node.name == "frac") return build_.make(Op::Sub, {x, build_.make(Op::Trunc, {x})});
    for (const char* name : {"exp",
                             "log",
                             "sin",
                             "cos",
                             "tan",
                             "asin",
                             "acos",
                             "atan",
                             "sinh",
                             "cosh",
                             "tanh",
                             "asinh",
                             "acosh",
                             "atanh",
                             "erf"}) {
        if (node.name == name) return library(name, {x});
    }
    return fail(fmt::format("the function `{}`", node.name));
}

// ---- Elements -----------------------------------------------------------------------------------

// Whether it is an int that is the same in all steps.
bool StageMaker::is_told(ir::SymId id) const {
    if (symbols_.type(id) != ir::ScalarType::Int) return false;
    return std::ranges::none_of(symbols_.symbols_of(id), [&](ir::SymId symbol) {
        return accesses_.contains(symbol) ||
               std::ranges::find(formula_.bounds, symbol, &ir::Bound::index) !=
                   formula_.bounds.end();
    });
}

ExprId StageMaker::run_time_number(ir::SymId id, bool count) {
    if (const auto known = evaluate(symbols_, id, known_)) return build_.integer(*known);
    const ExprId number = run_number(*run_time_, symbols_, id, count, pool_);
    if (const Expr& e = pool_[number]; e.op == Op::Var) {
        run_ends_.ends[make_id<VarId>(static_cast<size_t>(e.integer))] = number;
    }
    return number;
}

std::vector<ExprId> StageMaker::extents(ir::TensorId tensor) {
    std::vector<ExprId> result;
    if (const auto shape = shapes_.find(tensor); shape != shapes_.end()) {
        for (const int64_t extent : shape->second) result.push_back(build_.integer(extent));
        return result;
    }
    if (const auto known = run_time_->extents.find(tensor); known != run_time_->extents.end()) {
        return known->second;
    }
    for (const ir::SymId part : program_.tensors[tensor].shape) {
        result.push_back(run_time_number(part, true));
    }
    return run_time_->extents[tensor] = result;
}

std::vector<ExprId> StageMaker::indices(ir::TensorId tensor,
                                        const std::vector<ir::IndexTerm>& terms) {
    const std::vector<ir::SymId>& shape = program_.tensors[tensor].shape;
    const std::vector<ExprId> extents = this->extents(tensor);
    std::vector<ExprId> result;
    if (extents.size() != terms.size()) {
        fail("an access of the wrong rank");
        return result;
    }
    for (size_t axis = 0; axis < terms.size(); ++axis) {
        ExprId index = value(terms[axis].value);
        const ExprId good = good_index(terms[axis], index);
        index = inside(terms[axis], shape[axis], index, extents[axis]);
        if (good.valid()) index = build_.select(good, index, build_.integer(-1));
        result.push_back(index);
    }
    return result;
}

// The index, limited to the axis: by proof, by a guard, or by replacing indices outside.
ExprId StageMaker::inside(const ir::IndexTerm& term,
                          ir::SymId symbol,
                          ExprId index,
                          ExprId extent) {
    if (pool_.is_inside(index, extent)) return index;
    const int64_t most = pool_.range(extent).high;
    const ExprId end = pool_[extent].op == Op::Constant ? ExprId() : extent;
    if (run_time_ && always_inside(symbols_, term.value, symbol, formula_.bounds)) {
        return build_.assume(index, most, end);
    }
    if (term.guard == ir::Guard::Skip) {
        stage_.empty |= most == 0;  // it is never inside
        stage_.guards.push_back({index, most, end});
        return build_.assume(index, most, end);
    }
    if (term.guard != ir::Guard::Remap) return index;
    const ExprId low = build_.make(Op::Less, {index, build_.integer(0)});
    const ExprId high = build_.make(Op::LessEqual, {extent, index});
    return build_.select(low, value(term.below), build_.select(high, value(term.above), index));
}

// The condition under which the arithmetic of the index fits 64 bits; missing: it always fits, or
// the index is outside otherwise. An index that wrapped around is outside, and the interpreter
// reports it.
ExprId StageMaker::good_index(const ir::IndexTerm& term, ExprId index) {
    using When = IndexFit::When;
    ExprId good;
    const auto add = [&](ExprId part, bool outside_else) {
        const IndexFit fit = index_fit(pool_, part, run_time_ ? &run_ends_ : nullptr);
        if (fit.when == When::Always || (fit.when == When::OutsideElse && outside_else)) return;
        if (!fit.good.valid() || term.guard == ir::Guard::Skip) {
            fail("the arithmetic of an index, which may not fit 64 bits");
            return;
        }
        good = good.valid() ? build_.make(Op::And, {good, fit.good}) : fit.good;
    };
    const bool remapped = term.guard == ir::Guard::Remap;
    add(index, !remapped);
    if (remapped) {
        add(value(term.below), true);
        add(value(term.above), true);
    }
    return good;
}

// The value of a constant with equal elements, if it is the same in any type.
ExprId StageMaker::literal(const ir::Tensor& tensor) {
    if (tensor.role != ir::TensorRole::Constant || tensor.items.empty()) return {};
    if (const int64_t* const integer = std::get_if<int64_t>(&tensor.items[0])) {
        const bool same = tensor::is_integer(tensor.dtype) && tensor.dtype != tensor::DType::U64;
        const bool equal = std::ranges::all_of(
            tensor.items, [&](const ir::Scalar& item) { return item == tensor.items[0]; });
        return same && equal ? build_.integer(*integer) : ExprId();
    }
    if (tensor.items.size() != 1) return {};
    const double* const real = std::get_if<double>(&tensor.items[0]);
    if (!real) return {};
    if (tensor.dtype == tensor::DType::F64) return build_.real(*real, Kind::F64);
    if (tensor.dtype != tensor::DType::F32) return {};
    return build_.real(static_cast<float>(*real), Kind::F32);
}

ExprId StageMaker::read(const ir::Access& access) {
    const Kind kind = kind_of(program_.tensors[access.tensor].dtype);
    std::vector<ExprId> index = indices(access.tensor, access.indices);
    ExprId element = literal(program_.tensors[access.tensor]);
    const std::vector<ExprId> ends = index.empty() ? index : extents(access.tensor);
    bool inside = element.valid();
    for (size_t axis = 0; inside && axis < index.size(); ++axis) {
        inside = kind == Kind::Int && pool_.is_inside(index[axis], ends[axis]);
    }
    if (!inside) {
        element = build_.read(access.tensor.value, kind, std::move(index));
    }
    if (float_ && kind == Kind::F64) return build_.cast(element, Kind::F32);
    return double_ && kind == Kind::F32 ? build_.cast(element, Kind::F64) : element;
}

}  // namespace

Result<Stage> make_stage(const ir::Program& program,
                         const ir::Formula& formula,
                         const KnownExtents& known,
                         const Shapes& shapes,
                         StagePool& pool,
                         DynamicShape* run_time) {
    return StageMaker(program, formula, known, shapes, pool, run_time).make();
}

std::optional<int64_t> evaluate(const ir::SymbolPool& symbols,
                                ir::SymId id,
                                const KnownExtents& known) {
    if (const auto number = symbols.as_int(id)) return number;
    if (const auto found = known.find(id); found != known.end()) return found->second;
    const ir::SymNode node = symbols.node(id);
    if (node.type != ir::ScalarType::Int) return std::nullopt;
    const auto apply = [&](Op op, int64_t a, int64_t b) -> std::optional<int64_t> {
        switch (op) {
            case Op::Add:
                return checked_add(a, b);
            case Op::Mul:
                return checked_mul(a, b);
            case Op::Min:
                return std::min(a, b);
            default:
                return std::max(a, b);
        }
    };
    if (node.kind == ir::SymKind::Polynomial) {
        std::optional<int64_t> sum = 0;
        for (const ir::SymTerm& term : node.terms) {
            std::optional<int64_t> product = term.coefficient;
            for (const ir::SymFactor& factor : term.factors) {
                const auto atom = evaluate(symbols, factor.atom, known);
                for (uint32_t i = 0; i < factor.power && product; ++i) {
                    product = atom ? apply(Op::Mul, *product, *atom) : std::nullopt;
                }
            }
            if (!product) return std::nullopt;
            sum = apply(Op::Add, *sum, *product);
            if (!sum) return std::nullopt;
        }
        return sum;
    }
    if (node.kind != ir::SymKind::Operation) return std::nullopt;
    std::vector<int64_t> v;
    for (const ir::SymId operand : node.operands) {
        const auto part = evaluate(symbols, operand, known);
        if (!part) return std::nullopt;
        v.push_back(*part);
    }
    std::optional<int64_t> result = v[0];
    switch (node.op) {
        case ir::SymOp::Div:
            return floor_div(v[0], v[1]);
        case ir::SymOp::Mod:
            return floor_mod(v[0], v[1]);
        case ir::SymOp::Min:
        case ir::SymOp::Max:
        case ir::SymOp::Add:
        case ir::SymOp::Mul: {
            const Op op = node.op == ir::SymOp::Min   ? Op::Min
                          : node.op == ir::SymOp::Max ? Op::Max
                          : node.op == ir::SymOp::Add ? Op::Add
                                                      : Op::Mul;
            for (size_t i = 1; i < v.size() && result; ++i) result = apply(op, *result, v[i]);
            return result;
        }
        default:
            return std::nullopt;
    }
}

}  // namespace lemma::loop
