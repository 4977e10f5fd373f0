// SPDX-License-Identifier: Apache-2.0
#include "certify/exact_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/program/lane_math.h"

// libquadmath, without its header, which clang does not find.
extern "C" {
__float128 sqrtq(__float128);
__float128 expq(__float128);
__float128 logq(__float128);
__float128 sinq(__float128);
__float128 cosq(__float128);
__float128 tanq(__float128);
__float128 asinq(__float128);
__float128 acosq(__float128);
__float128 atanq(__float128);
__float128 sinhq(__float128);
__float128 coshq(__float128);
__float128 tanhq(__float128);
__float128 asinhq(__float128);
__float128 acoshq(__float128);
__float128 atanhq(__float128);
__float128 erfq(__float128);
__float128 roundq(__float128);
__float128 floorq(__float128);
__float128 ceilq(__float128);
__float128 truncq(__float128);
__float128 fabsq(__float128);
__float128 powq(__float128, __float128);
}

namespace lemma::testing_support {

namespace {

using certify::Expression;
using certify::kNoNode;
using certify::Node;
using certify::NodeId;
using certify::NodeKind;
using certify::Place;
using ir::ScalarType;
using ir::SymOp;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

Quad sign(Quad x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
Quad fraction(Quad x) { return x - truncq(x); }

Quad (*find_function(const std::string& name))(Quad) {
    static const std::map<std::string, Quad (*)(Quad)> kFunctions = {
        {"abs", fabsq},    {"sign", sign},     {"sqrt", sqrtq},   {"exp", expq},
        {"log", logq},     {"sin", sinq},      {"cos", cosq},     {"tan", tanq},
        {"asin", asinq},   {"acos", acosq},    {"atan", atanq},   {"sinh", sinhq},
        {"cosh", coshq},   {"tanh", tanhq},    {"asinh", asinhq}, {"acosh", acoshq},
        {"atanh", atanhq}, {"erf", erfq},      {"round", roundq}, {"floor", floorq},
        {"ceil", ceilq},   {"frac", fraction},
    };
    const auto found = kFunctions.find(name);
    return found == kFunctions.end() ? nullptr : found->second;
}

int64_t to_int(Quad x) { return ir::to_int(static_cast<double>(truncq(x))); }

}  // namespace

// ---- One formula --------------------------------------------------------------------------------

// A number for each lane: of reals in one vector, of ints and bools in the other.
template <class Real>
class ExactRun<Real>::Formula {
public:
    Formula(const Expression& expression, std::map<ir::TensorId, Ref>& values, size_t lanes)
        : expression_(expression), lanes_(lanes), slots_(expression.nodes.size()) {
        for (const Place& place : expression.accesses)
            accesses_.push_back(values.at(place.tensor).get());
        for (const Expression::Write& write : expression.writes)
            targets_.push_back(values.at(write.place.tensor).get());
        indices_.resize(expression.extents.size());
        epochs_.resize(expression.extents.size() + 1, 0);
    }

    Result<void> run() {
        epochs_[0] = ++clock_;
        loop(0);
        if (!error_.empty()) return bad(error_);
        return {};
    }

private:
    static Real by(Quad (*function)(Quad), Real x) { return Real(function(Quad(x))); }

    struct Slot {
        std::vector<Real> reals;
        std::vector<int64_t> integers;
        const Real* real = nullptr;  // of the lanes
        const int64_t* whole = nullptr;
        uint64_t stamp = 0;
    };

    void loop(size_t depth) {
        if (depth == expression_.extents.size()) return step();
        for (int64_t i = 0; i < expression_.extents[depth] && error_.empty(); ++i) {
            indices_[depth] = i;
            epochs_[depth + 1] = ++clock_;
            loop(depth + 1);
        }
    }

    // The value of an int in a lane.
    int64_t whole(NodeId id, size_t lane) { return evaluate(id).whole[lane]; }
    Real real(NodeId id, size_t lane) { return evaluate(id).real[lane]; }

    // -1: outside; -2: the step is skipped.
    int64_t offset(const Place& place, size_t lane) {
        int64_t result = 0;
        for (size_t axis = 0; axis < place.indices.size(); ++axis) {
            const certify::AccessIndex& at = place.indices[axis];
            int64_t index = whole(at.value, lane);
            const int64_t extent = place.shape[axis];
            if (at.guard == ir::Guard::Remap && index < 0) {
                index = whole(at.below, lane);
            } else if (at.guard == ir::Guard::Remap && index >= extent) {
                index = whole(at.above, lane);
            }
            if (index < 0 || index >= extent) return at.guard == ir::Guard::Skip ? -2 : -1;
            result = result * extent + index;
        }
        return result;
    }

    bool active(size_t lane) {
        for (const Place& place : expression_.accesses) {
            if (!place.affine && offset(place, lane) == -2) return false;
        }
        for (const Expression::Write& write : expression_.writes) {
            if (!write.place.affine && offset(write.place, lane) == -2) return false;
        }
        return expression_.condition == kNoNode || whole(expression_.condition, lane) != 0;
    }

    void step() {
        active_.assign(lanes_, true);
        bool any = false;
        for (size_t lane = 0; lane < lanes_; ++lane) any |= active_[lane] = active(lane);
        if (!any) return;
        for (const Expression::Write& write : expression_.writes) evaluate(write.value);
        for (size_t i = 0; i < targets_.size(); ++i) store(expression_.writes[i], *targets_[i]);
    }

    void store(const Expression::Write& write, Values& target) {
        const Slot& slot = evaluate(write.value);
        const bool is_real = !target.reals.empty();
        const bool same = write.place.affine;
        int64_t at = same ? offset(write.place, 0) : 0;
        for (size_t lane = 0; lane < lanes_; ++lane) {
            if (!active_[lane]) continue;
            if (!same) at = offset(write.place, lane);
            if (at < 0) {
                error_ = "an element outside of its tensor is written";
                return;
            }
            const size_t to = static_cast<size_t>(at) * lanes_ + lane;
            if (is_real) {
                combine(target.reals[to], slot.real[lane]);
            } else {
                combine(target.integers[to], slot.whole[lane]);
            }
        }
    }

    template <class T>
    void combine(T& old, T made) {
        using Op = ir::FormulaOp;
        switch (expression_.op) {
            case Op::Sum:
                old = old + made;
                break;
            case Op::Product:
                old = old * made;
                break;
            case Op::Min:
                old = made < old ? made : old;
                break;
            case Op::Max:
                old = old < made ? made : old;
                break;
            case Op::All:
                old = T(!(old == T(0.0)) && !(made == T(0.0)) ? 1.0 : 0.0);
                break;
            case Op::Any:
                old = T(!(old == T(0.0)) || !(made == T(0.0)) ? 1.0 : 0.0);
                break;
            default:
                old = made;
        }
    }

    const Slot& evaluate(NodeId id) {
        const Node& node = expression_.nodes[id];
        Slot& slot = slots_[id];
        if (slot.stamp == epochs_[node.depth]) return slot;
        compute(node, slot);
        slot.stamp = epochs_[node.depth];
        return slot;
    }

    void fill(Slot& slot, int64_t number) {
        slot.integers.assign(lanes_, number);
        slot.whole = slot.integers.data();
    }

    void compute(const Node& node, Slot& slot) {
        switch (node.kind) {
            case NodeKind::Constant:
                if (node.type != ScalarType::Real) return fill(slot, node.integer);
                slot.reals.assign(lanes_, Real(node.real));
                slot.real = slot.reals.data();
                return;
            case NodeKind::Index:
                return fill(slot, indices_[node.position]);
            case NodeKind::Load:
                return load(node, slot);
            case NodeKind::Polynomial:
                return each_int(slot, [&](size_t lane) { return sum(node.terms, lane); });
            case NodeKind::Compare:
                return each_int(slot, [&](size_t lane) -> int64_t {
                    const int64_t left = sum(node.terms, lane), right = sum(node.right, lane);
                    if (node.op == SymOp::Equal) return left == right;
                    return node.strict ? left < right : left <= right;
                });
            case NodeKind::Operation:
                return operation(node, slot);
        }
    }

    void load(const Node& node, Slot& slot) {
        const Place& place = expression_.accesses[node.position];
        const Values& values = *accesses_[node.position];
        const bool is_real = !values.reals.empty();
        if (place.affine) {
            const size_t at = static_cast<size_t>(offset(place, 0)) * lanes_;
            if (is_real) {
                slot.real = values.reals.data() + at;
            } else {
                slot.whole = values.integers.data() + at;
            }
            return;
        }
        slot.reals.assign(lanes_, Real(0.0));
        slot.integers.assign(lanes_, 0);
        for (size_t lane = 0; lane < lanes_; ++lane) {
            // Outside: in a branch that is not taken.
            const int64_t at = offset(place, lane);
            if (at < 0) continue;
            const size_t from = static_cast<size_t>(at) * lanes_ + lane;
            if (is_real) {
                slot.reals[lane] = values.reals[from];
            } else {
                slot.integers[lane] = values.integers[from];
            }
        }
        slot.real = slot.reals.data();
        slot.whole = slot.integers.data();
    }

    int64_t sum(const std::vector<certify::NodeTerm>& terms, size_t lane) {
        int64_t total = 0;
        for (const certify::NodeTerm& term : terms) {
            int64_t product = term.coefficient;
            for (const NodeId factor : term.factors)
                product = ir::wrapping_mul(product, whole(factor, lane));
            total = ir::wrapping_add(total, product);
        }
        return total;
    }

    template <class F>
    void each_int(Slot& slot, F f) {
        slot.integers.resize(lanes_);
        for (size_t lane = 0; lane < lanes_; ++lane) slot.integers[lane] = f(lane);
        slot.whole = slot.integers.data();
    }
    template <class F>
    void each_real(Slot& slot, F f) {
        slot.reals.resize(lanes_);
        for (size_t lane = 0; lane < lanes_; ++lane) slot.reals[lane] = f(lane);
        slot.real = slot.reals.data();
    }

    void operation(const Node& node, Slot& slot) {
        const bool from_real = expression_.nodes[node.operands.back()].type == ScalarType::Real;
        if (node.op == SymOp::Select) return select(node, slot);
        if (node.type == ScalarType::Real) return real_operation(node, slot, from_real);
        each_int(slot, [&](size_t lane) {
            return from_real ? decision(node, lane) : int_operation(node, lane);
        });
    }

    void select(const Node& node, Slot& slot) {
        const auto taken = [&](size_t lane) {
            return node.operands[whole(node.operands[0], lane) != 0 ? 1 : 2];
        };
        if (node.type == ScalarType::Real) {
            each_real(slot, [&](size_t lane) { return real(taken(lane), lane); });
        } else {
            each_int(slot, [&](size_t lane) { return whole(taken(lane), lane); });
        }
    }

    void real_operation(const Node& node, Slot& slot, bool from_real) {
        const auto of = [&](size_t i, size_t lane) { return real(node.operands[i], lane); };
        const auto fold = [&](auto f) {
            each_real(slot, [&](size_t lane) {
                Real result = of(0, lane);
                for (size_t i = 1; i < node.operands.size(); ++i) result = f(result, of(i, lane));
                return result;
            });
        };
        switch (node.op) {
            case SymOp::Add:
                return fold([](Real a, Real b) { return a + b; });
            case SymOp::Mul:
                return fold([](Real a, Real b) { return a * b; });
            case SymOp::Sub:
                return fold([](Real a, Real b) { return a - b; });
            case SymOp::Div:
                return fold([](Real a, Real b) { return a / b; });
            case SymOp::CeilDiv:
                return fold([](Real a, Real b) { return by(ceilq, a / b); });
            case SymOp::Mod:
                return fold([](Real a, Real b) { return a - by(floorq, a / b) * b; });
            case SymOp::Pow:
                return fold([](Real a, Real b) { return Real(powq(Quad(a), Quad(b))); });
            case SymOp::Min:
                return fold([](Real a, Real b) { return b < a ? b : a; });
            case SymOp::Max:
                return fold([](Real a, Real b) { return a < b ? b : a; });
            case SymOp::Neg:
                return each_real(slot, [&](size_t lane) { return -of(0, lane); });
            case SymOp::ToReal:
                return each_real(slot, [&](size_t lane) -> Real {
                    return from_real ? of(0, lane) : Real(Quad(whole(node.operands[0], lane)));
                });
            case SymOp::Function:
                if (const auto function = find_function(node.name))
                    return each_real(slot, [&](size_t lane) { return by(function, of(0, lane)); });
                [[fallthrough]];
            default:
                error_ = "an operation that the reference does not have";
                each_real(slot, [](size_t) { return Real(0.0); });
        }
    }

    int64_t decision(const Node& node, size_t lane) {
        const Real a = real(node.operands[0], lane);
        const Real b = node.operands.size() > 1 ? real(node.operands[1], lane) : Real(0.0);
        switch (node.op) {
            case SymOp::Less:
                return a < b;
            case SymOp::LessEqual:
                return !(b < a);
            case SymOp::Equal:
                return a == b;
            case SymOp::NotEqual:
                return !(a == b);
            case SymOp::ToInt:
                return to_int(Quad(a));
            case SymOp::ToBool:
                return !(a == Real(0.0));
            default:
                error_ = "a decision that the reference does not have";
                return 0;
        }
    }

    int64_t int_operation(const Node& node, size_t lane) {
        const auto of = [&](size_t i) { return whole(node.operands[i], lane); };
        const auto fold = [&](auto f) {
            int64_t result = of(0);
            for (size_t i = 1; i < node.operands.size(); ++i) result = f(result, of(i));
            return result;
        };
        switch (node.op) {
            case SymOp::Add:
                return fold(ir::wrapping_add);
            case SymOp::Mul:
                return fold(ir::wrapping_mul);
            case SymOp::Div:
                return ir::total_div(of(0), of(1));
            case SymOp::Mod:
                return ir::total_mod(of(0), of(1));
            case SymOp::Pow:
                return ir::total_pow(of(0), of(1));
            case SymOp::Min:
                return fold([](int64_t a, int64_t b) { return std::min(a, b); });
            case SymOp::Max:
                return fold([](int64_t a, int64_t b) { return std::max(a, b); });
            case SymOp::LessEqual:
                return of(0) <= of(1);
            case SymOp::Less:
                return of(0) < of(1);
            case SymOp::Equal:
                return of(0) == of(1);
            case SymOp::NotEqual:
            case SymOp::Xor:
                return of(0) != of(1);
            case SymOp::And:
                return fold([](int64_t a, int64_t b) -> int64_t { return a && b; });
            case SymOp::Or:
                return fold([](int64_t a, int64_t b) -> int64_t { return a || b; });
            case SymOp::Not:
                return of(0) == 0;
            case SymOp::ToInt:
                return of(0);
            case SymOp::ToBool:
                return of(0) != 0;
            case SymOp::Function:
                if (node.name == "abs") return of(0) < 0 ? ir::wrapping_mul(of(0), -1) : of(0);
                return (of(0) > 0) - (of(0) < 0);
            default:
                error_ = "an operation on integers that the reference does not have";
                return 0;
        }
    }

    const Expression& expression_;
    size_t lanes_;
    std::vector<Slot> slots_;
    std::vector<Values*> accesses_, targets_;
    std::vector<int64_t> indices_;
    std::vector<uint64_t> epochs_;
    std::vector<char> active_;
    uint64_t clock_ = 0;
    std::string error_;
};

// ---- Programs -----------------------------------------------------------------------------------

template <class Real>
typename ExactRun<Real>::Ref ExactRun<Real>::spread(const interpret::Array& array) const {
    auto made = std::make_shared<Values>();
    made->shape = array.shape;
    for (const double x : array.reals) made->reals.insert(made->reals.end(), lanes_, Real(x));
    for (const int64_t x : array.integers) made->integers.insert(made->integers.end(), lanes_, x);
    return made;
}

template <class Real>
Result<typename ExactRun<Real>::Ref> ExactRun<Real>::zeros(ir::TensorId id) {
    tensor::Shape shape;
    for (const ir::SymId part : program_.tensors[id].shape) {
        const auto extent = program_.symbols.as_int(part);
        if (!extent) return bad("an extent is not known before the run");
        shape.push_back(*extent);
    }
    LEMMA_TRY(const auto array, interpret::Array::zeros(program_.tensors[id].dtype, shape));
    return spread(array);
}

template <class Real>
Result<typename ExactRun<Real>::Ref> ExactRun<Real>::value_of(ir::TensorId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    const ir::Tensor& tensor = program_.tensors[id];
    if (tensor.role == ir::TensorRole::Variable) {
        const auto array = variables_(tensor);
        if (!array) return bad(fmt::format("the variable `{}` has no data", tensor.name));
        return values_[id] = spread(*array);
    }
    if (tensor.role != ir::TensorRole::Constant)
        return bad(fmt::format("`{}` has no value", tensor.name));
    LEMMA_TRY(Ref made, zeros(id));
    const size_t size = std::max(made->reals.size(), made->integers.size()) / lanes_;
    for (size_t i = 0; i < size; ++i) {
        const ir::Scalar& item = tensor.items[tensor.items.size() == 1 ? 0 : i];
        for (size_t lane = 0; lane < lanes_; ++lane) {
            const size_t at = i * lanes_ + lane;
            // As stored: a constant of f32 is a float.
            if (const auto* x = std::get_if<double>(&item)) {
                made->reals[at] =
                    Real(tensor.dtype == ir::DType::F32 ? static_cast<float>(*x) : *x);
            } else if (const auto* n = std::get_if<int64_t>(&item)) {
                made->integers[at] = *n;
            } else if (const auto* flag = std::get_if<bool>(&item)) {
                made->integers[at] = *flag;
            }
        }
    }
    return values_[id] = made;
}

template <class Real>
Result<std::map<std::string, typename ExactRun<Real>::Values>> ExactRun<Real>::run(
    const std::vector<interpret::NamedArrays>& inputs) {
    for (const ir::Port& port : program_.graphs[program_.main].inputs) {
        for (size_t k = 0; k < port.operand.items.size(); ++k) {
            LEMMA_TRY(Ref made, zeros(port.operand.items[k]));
            for (size_t lane = 0; lane < lanes_; ++lane) {
                const interpret::Array& array = inputs[lane].at(port.name)[k];
                for (size_t i = 0; i < array.reals.size(); ++i)
                    made->reals[i * lanes_ + lane] = Real(array.reals[i]);
                for (size_t i = 0; i < array.integers.size(); ++i)
                    made->integers[i * lanes_ + lane] = array.integers[i];
            }
            values_[port.operand.items[k]] = std::move(made);
        }
    }
    LEMMA_TRY(operations(program_.graphs[program_.main].operations));
    std::map<std::string, Values> outputs;
    for (const ir::Port& port : program_.graphs[program_.main].outputs) {
        for (const ir::TensorId id : port.operand.items) {
            LEMMA_TRY(const Ref value, value_of(id));
            outputs[program_.tensors[id].name] = *value;
        }
    }
    return outputs;
}

template <class Real>
Result<void> ExactRun<Real>::operations(const std::vector<ir::OpId>& ids) {
    for (const ir::OpId id : ids) {
        LEMMA_TRY(operation(id));
    }
    return {};
}

template <class Real>
Result<void> ExactRun<Real>::operation(ir::OpId id) {
    const ir::Operation& op = program_.operations[id];
    if (op.compound()) return operations(op.parts);
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) return this->loop(op, *loop);
    if (op.kind != ir::OperationKind::Primitive)
        return bad(fmt::format("the reference does not have `{}`", op.op));
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId output : port.operand.items) {
            LEMMA_TRY(values_[output], zeros(output));
        }
    }
    for (const ir::Formula& one : op.formulas) {
        LEMMA_TRY(formula(one));
    }
    return {};
}

template <class Real>
Result<void> ExactRun<Real>::loop(const ir::Operation& op, const ir::Loop& loop) {
    const auto count =
        loop.static_count.valid() ? program_.symbols.as_int(loop.static_count) : std::nullopt;
    if (!count || loop.dynamic_count.valid() || loop.pre_condition.valid() ||
        loop.post_condition.valid())
        return bad("the reference has loops with a known count only");
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        LEMMA_TRY(values_[loop.carried[i]],
                  value_of(op.inputs[loop.initial_input(i)].operand.items[0]));
    }
    for (int64_t step = 0; step < *count; ++step) {
        const auto at = static_cast<size_t>(step);
        if (loop.index.valid()) {
            LEMMA_TRY(Ref index, zeros(loop.index));
            std::ranges::fill(index->integers, step);
            values_[loop.index] = std::move(index);
        }
        for (size_t i = 0; i < loop.items.size(); ++i) {
            LEMMA_TRY(values_[loop.items[i]],
                      value_of(op.inputs[loop.pack_input(i)].operand.items.at(at)));
        }
        const ir::Graph& body = program_.graphs[loop.body];
        LEMMA_TRY(operations(body.operations));
        std::vector<Ref> results;
        for (const ir::Port& port : body.outputs) {
            LEMMA_TRY(results.emplace_back(), value_of(port.operand.items[0]));
        }
        for (size_t i = 0; i < results.size(); ++i) {
            const ir::TensorId to =
                i < loop.carried.size() ? loop.carried[i] : op.outputs[i].operand.items.at(at);
            values_[to] = results[i];
        }
    }
    for (size_t i = 0; i < loop.carried.size(); ++i)
        values_[op.outputs[i].operand.items[0]] = values_[loop.carried[i]];
    return {};
}

template <class Real>
Result<void> ExactRun<Real>::formula(const ir::Formula& formula) {
    certify::Shapes shapes;
    for (const ir::Access& access : formula.accesses) {
        LEMMA_TRY(const Ref value, value_of(access.tensor));
        shapes[access.tensor] = value->shape;
    }
    for (const ir::Write& write : formula.writes)
        shapes[write.tensor] = values_.at(write.tensor)->shape;
    auto found = expressions_.find(&formula);
    if (found == expressions_.end()) {
        LEMMA_TRY(auto made, certify::make_expression(program_, formula, shapes));
        found = expressions_.emplace(&formula, std::move(made)).first;
    }
    return Formula(found->second, values_, lanes_).run();
}

template class ExactRun<Quad>;
template class ExactRun<DoubleDouble>;

}  // namespace lemma::testing_support
