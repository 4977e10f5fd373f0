// SPDX-License-Identifier: Apache-2.0
#include "certify/evaluator.h"

#include <algorithm>

#include "ir/program/lane_math.h"

namespace lemma::certify {

namespace {

using ir::ScalarType;
using ir::SymOp;

constexpr size_t kMaxLevels = 5;
constexpr int64_t kMaxBox = 1 << 20;  // elements that one index may name

}  // namespace

Evaluator::Evaluator(const Expression& expression,
                     Arithmetic arithmetic,
                     const EvaluatorArrays& arrays,
                     Budget& budget)
    : expression_(expression), arithmetic_(arithmetic), budget_(budget) {
    const bool in_float = arithmetic_.precision().in_float;
    for (const Place& place : expression.accesses) {
        if (const auto own = arrays.outputs.find(place.tensor); own != arrays.outputs.end()) {
            slots_.push_back({.array = own->second});
            continue;
        }
        const AbstractArray* const array = arrays.inputs.at(place.tensor);
        const bool narrow = in_float && array->dtype == tensor::DType::F64;
        slots_.push_back({.array = array, .given = arrays.as_given, .narrow = narrow});
    }
    for (const Expression::Write& write : expression.writes)
        targets_.push_back(arrays.outputs.at(write.place.tensor));
    indices_.resize(expression.extents.size(), 0);
    epochs_.resize(expression.extents.size() + 1, 0);
    memos_.resize(kMaxLevels + 1);
    memos_[0].resize(expression.nodes.size());
    integers_.resize(expression.nodes.size());
    offsets_.resize(expression.accesses.size(), -1);
    product_ = sums_products();
    const auto collect = [&](size_t number, const Place& place) {
        for (size_t axis = 0; axis < place.indices.size(); ++axis) {
            if (place.indices[axis].guard == ir::Guard::Skip) skips_.emplace_back(number, axis);
        }
    };
    for (size_t i = 0; i < expression.accesses.size(); ++i) collect(i, expression.accesses[i]);
    for (size_t i = 0; i < expression.writes.size(); ++i)
        collect(expression.accesses.size() + i, expression.writes[i].place);
}

// The usual sum: products of two elements, which need no memory of earlier steps.
bool Evaluator::sums_products() const {
    if (expression_.op != ir::FormulaOp::Sum || expression_.writes.size() != 1) return false;
    const Node& node = expression_.nodes[expression_.writes[0].value];
    if (node.kind != NodeKind::Operation || node.op != SymOp::Mul) return false;
    if (node.type != ScalarType::Real || node.operands.size() != 2) return false;
    if (node.operands[0] == node.operands[1]) return false;
    return std::ranges::all_of(
        node.operands, [&](NodeId id) { return expression_.nodes[id].kind == NodeKind::Load; });
}

bool Evaluator::fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return false;
}

// ---- Steps --------------------------------------------------------------------------------------

Result<void> Evaluator::run(const Observer& observer) {
    observer_ = observer ? &observer : nullptr;
    epochs_[0] = ++clock_;
    if (!loop(0)) return std::unexpected(Error{error_});
    return {};
}

bool Evaluator::loop(size_t depth) {
    if (depth == expression_.extents.size()) return step();
    const int64_t extent = expression_.extents[depth];
    if (depth + 1 == expression_.extents.size() && !budget_.spend(extent)) return fail("");
    for (int64_t i = 0; i < extent; ++i) {
        indices_[depth] = i;
        epochs_[depth + 1] = ++clock_;
        if (!loop(depth + 1)) return false;
    }
    return true;
}

// False if the step is skipped. Guards on data are left to the access.
bool Evaluator::guards() {
    for (const auto& [number, axis] : skips_) {
        const bool read = number < expression_.accesses.size();
        const Place& place = read ? expression_.accesses[number]
                                  : expression_.writes[number - expression_.accesses.size()].place;
        const NodeId id = place.indices[axis].value;
        if (!expression_.nodes[id].concrete) continue;
        const int64_t index = integer(id);
        if (index < 0 || index >= place.shape[axis]) return false;
    }
    return true;
}

bool Evaluator::step() {
    if (!guards()) return true;
    Value condition = Value::point(1);
    for (const auto& [number, axis] : skips_) {
        const bool read = number < expression_.accesses.size();
        const Place& place = read ? expression_.accesses[number]
                                  : expression_.writes[number - expression_.accesses.size()].place;
        const NodeId id = place.indices[axis].value;
        if (expression_.nodes[id].concrete) continue;
        const Value index = value(id, nullptr);
        const Value most = AbstractArray::whole(place.shape[axis] - 1);
        condition = Arithmetic::min(condition, arithmetic_.less_equal(Value::point(0), index));
        condition = Arithmetic::min(condition, arithmetic_.less_equal(index, most));
    }
    if (expression_.condition != kNoNode) {
        const NodeId id = expression_.condition;
        if (expression_.nodes[id].concrete) {
            if (integer(id) == 0) return true;
        } else {
            condition = Arithmetic::min(condition, value(id, nullptr));
        }
    }
    if (condition.high == 0 && condition.chigh == 0) return true;
    if (product_) {
        const Expression::Write& only = expression_.writes[0];
        const std::vector<NodeId>& factors = expression_.nodes[only.value].operands;
        const Value made = arithmetic_.mul(load(factors[0], nullptr), load(factors[1], nullptr));
        if (!write(only, made, condition)) return false;
    } else if (expression_.writes.size() == 1) {
        const Expression::Write& only = expression_.writes[0];
        if (!write(only, value(only.value, nullptr), condition)) return false;
    } else {
        std::vector<Value> made;
        for (const Expression::Write& one : expression_.writes)
            made.push_back(value(one.value, nullptr));
        for (size_t i = 0; i < made.size(); ++i) {
            if (!write(expression_.writes[i], made[i], condition)) return false;
        }
    }
    if (observer_ && condition.low == 1 && condition.clow == 1) observe(*observer_);
    return error_.empty();
}

void Evaluator::observe(const Observer& observer) {
    int64_t target = -1;
    if (!concrete_offset(expression_.writes[0].place, target)) target = -1;
    for (size_t i = 0; i < offsets_.size(); ++i) {
        if (!concrete_offset(expression_.accesses[i], offsets_[i])) offsets_[i] = -1;
    }
    observer(target, offsets_);
}

// ---- Numbers ------------------------------------------------------------------------------------

int64_t Evaluator::integer(NodeId id) {
    const Node& node = expression_.nodes[id];
    if (node.kind == NodeKind::Constant) return node.integer;
    if (node.kind == NodeKind::Index) return indices_[node.position];
    IntegerMemo& memo = integers_[id];
    if (memo.stamp == epochs_[node.depth]) return memo.value;
    const int64_t result = compute_integer(node);
    integers_[id] = {result, epochs_[node.depth]};
    return result;
}

int64_t Evaluator::sum(const std::vector<NodeTerm>& terms) {
    int64_t total = 0;
    for (const NodeTerm& term : terms) {
        int64_t product = term.coefficient;
        for (const NodeId factor : term.factors)
            product = ir::wrapping_mul(product, integer(factor));
        total = ir::wrapping_add(total, product);
    }
    return total;
}

int64_t Evaluator::compute_integer(const Node& node) {
    if (node.kind == NodeKind::Polynomial) return sum(node.terms);
    if (node.kind == NodeKind::Compare) {
        const int64_t left = sum(node.terms), right = sum(node.right);
        if (node.op == SymOp::Equal) return left == right;
        return node.strict ? left < right : left <= right;
    }
    const auto operand = [&](size_t i) { return integer(node.operands[i]); };
    const auto fold = [&](auto f) {
        int64_t result = operand(0);
        for (size_t i = 1; i < node.operands.size(); ++i) result = f(result, operand(i));
        return result;
    };
    switch (node.op) {
        case SymOp::Add:
            return fold(ir::wrapping_add);
        case SymOp::Mul:
            return fold(ir::wrapping_mul);
        case SymOp::Div:
            return ir::total_div(operand(0), operand(1));
        case SymOp::Mod:
            return ir::total_mod(operand(0), operand(1));
        case SymOp::Pow:
            return ir::total_pow(operand(0), operand(1));
        case SymOp::Min:
            return fold([](int64_t a, int64_t b) { return std::min(a, b); });
        case SymOp::Max:
            return fold([](int64_t a, int64_t b) { return std::max(a, b); });
        case SymOp::LessEqual:
            return operand(0) <= operand(1);
        case SymOp::Less:
            return operand(0) < operand(1);
        case SymOp::Equal:
            return operand(0) == operand(1);
        case SymOp::NotEqual:
        case SymOp::Xor:
            return operand(0) != operand(1);
        case SymOp::And:
            return std::ranges::all_of(node.operands, [&](NodeId id) { return integer(id) != 0; });
        case SymOp::Or:
            return std::ranges::any_of(node.operands, [&](NodeId id) { return integer(id) != 0; });
        case SymOp::Not:
            return operand(0) == 0;
        case SymOp::Select:
            return operand(0) ? operand(1) : operand(2);
        case SymOp::ToInt:
            return operand(0);
        case SymOp::ToBool:
            return operand(0) != 0;
        case SymOp::Function:
            if (node.name == "abs")
                return operand(0) < 0 ? ir::wrapping_mul(operand(0), -1) : operand(0);
            return (operand(0) > 0) - (operand(0) < 0);
        default:
            fail("an operation on integers that has no bounds");
            return 0;
    }
}

// ---- Places -------------------------------------------------------------------------------------

int64_t Evaluator::affine_offset(const Place& place) const {
    int64_t offset = place.base;
    for (size_t i = 0; i < indices_.size(); ++i) offset += place.factors[i] * indices_[i];
    return offset;
}

bool Evaluator::concrete_offset(const Place& place, int64_t& offset) {
    if (place.affine) {
        offset = affine_offset(place);
        return true;
    }
    offset = 0;
    for (size_t axis = 0; axis < place.indices.size(); ++axis) {
        const AccessIndex& at = place.indices[axis];
        for (const NodeId id : {at.value, at.below, at.above}) {
            if (id != kNoNode && !expression_.nodes[id].concrete) return false;
        }
        int64_t index = integer(at.value);
        const int64_t extent = place.shape[axis];
        if (at.guard == ir::Guard::Remap) {
            if (index < 0) {
                index = integer(at.below);
            } else if (index >= extent) {
                index = integer(at.above);
            }
        }
        if (index < 0 || index >= extent) {
            offset = -1;
            return true;
        }
        offset = offset * extent + index;
    }
    return true;
}

Evaluator::Box Evaluator::box(const Place& place, const Scope* scope) {
    Box made;
    for (size_t axis = 0; axis < place.indices.size(); ++axis) {
        const AccessIndex& at = place.indices[axis];
        const int64_t last = place.shape[axis] - 1;
        Value index = value(at.value, scope);
        if (at.guard == ir::Guard::Remap) {
            const Value above = arithmetic_.less_equal(AbstractArray::whole(last + 1), index);
            const Value below = arithmetic_.less(index, Value::point(0));
            index = choose(above, value(at.above, scope), index);
            index = choose(below, value(at.below, scope), index);
        }
        made.differs |= index.error > 0;
        const double low = std::max(std::min(index.low, index.clow), 0.0);
        const double high = std::min(std::max(index.high, index.chigh), static_cast<double>(last));
        if (!(low <= high)) made.empty = true;
        made.low.push_back(made.empty ? 0 : static_cast<int64_t>(low));
        made.high.push_back(made.empty ? 0 : static_cast<int64_t>(high));
    }
    return made;
}

template <class F>
bool Evaluator::for_each(const Place& place, const Box& box, F f) {
    int64_t count = 1;
    for (size_t axis = 0; axis < box.low.size(); ++axis) {
        count *= box.high[axis] - box.low[axis] + 1;
        if (count > kMaxBox) return false;
    }
    if (!budget_.spend(count)) return fail("");
    std::vector<int64_t> at = box.low;
    for (int64_t i = 0; i < count; ++i) {
        int64_t offset = 0;
        for (size_t axis = 0; axis < at.size(); ++axis)
            offset = offset * place.shape[axis] + at[axis];
        f(offset);
        for (size_t axis = at.size(); axis-- > 0;) {
            if (++at[axis] <= box.high[axis]) break;
            at[axis] = box.low[axis];
        }
    }
    return true;
}

Value Evaluator::element(const Slot& slot, int64_t offset) {
    Value v = slot.array->at(offset);
    if (slot.given && v.error != 0) v = as_given(v);
    return slot.narrow ? arithmetic_.stored(v, tensor::DType::F32) : v;
}

Value Evaluator::load(NodeId id, const Scope* scope) {
    const size_t position = expression_.nodes[id].position;
    const Place& place = expression_.accesses[position];
    const Slot& slot = slots_[position];
    if (place.affine) return element(slot, affine_offset(place));
    int64_t offset = 0;
    if (concrete_offset(place, offset)) {
        if (offset >= 0) return element(slot, offset);
        fail("an element outside of its tensor is read");
        return Value::top();
    }
    const Box where = box(place, scope);
    if (where.empty) return Value::top();
    Value result;
    bool first = true;
    const bool all = for_each(place, where, [&](int64_t at) {
        const Value one = element(slot, at);
        result = first ? one : join(result, one);
        first = false;
    });
    if (!all) return Value::top();
    return where.differs ? cross(result, result) : result;
}

// ---- Stores -------------------------------------------------------------------------------------

Value Evaluator::combined(bool real, const Value& old, const Value& made) {
    using Op = ir::FormulaOp;
    switch (expression_.op) {
        case Op::Sum:
            return real ? arithmetic_.add(old, made) : arithmetic_.int_add(old, made);
        case Op::Product:
            return real ? arithmetic_.mul(old, made) : arithmetic_.int_mul(old, made);
        case Op::Min:
        case Op::All:
            return Arithmetic::min(old, made);
        case Op::Max:
        case Op::Any:
            return Arithmetic::max(old, made);
        case Op::Assign:
        case Op::Update:
            break;
    }
    return made;
}

void Evaluator::combine(AbstractArray& array,
                        int64_t offset,
                        const Value& made,
                        const Value& condition,
                        bool weak,
                        bool differs) {
    Value& old = array.values[static_cast<size_t>(offset)];
    Value fresh = combined(tensor::is_real(array.dtype), old, made);
    if (condition.low == 0 || condition.clow == 0) fresh = choose(condition, fresh, old);
    if (weak) fresh = join(old, fresh);
    if (differs) fresh = cross(fresh, fresh);
    old = fresh;
}

bool Evaluator::write(const Expression::Write& write, const Value& made, const Value& condition) {
    AbstractArray& array = *targets_[static_cast<size_t>(&write - expression_.writes.data())];
    int64_t offset = 0;
    if (concrete_offset(write.place, offset)) {
        if (offset < 0) return fail("an element outside of its tensor is written");
        combine(array, offset, made, condition, false, false);
        return true;
    }
    const Box where = box(write.place, nullptr);
    if (where.empty) return true;
    const bool one = where.low == where.high && !where.differs;
    const bool all = for_each(write.place, where, [&](int64_t at) {
        combine(array, at, made, condition, !one, where.differs);
    });
    return all || fail("an index without bounds");
}

}  // namespace lemma::certify
