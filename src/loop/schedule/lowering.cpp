// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/lowering.h"

#include <algorithm>

#include "base/check.h"
#include "ir/program/lane_math.h"
#include "loop/schedule/device/wide_math.h"

namespace lemma::loop {

void Lowering::bind(VarId stage_var, Address address) {
    bindings_[stage_var] = std::move(address);
    values_.clear();
}

void Lowering::set_lanes(uint16_t lanes, ExprId mask) {
    lanes_ = lanes;
    mask_ = mask;
    values_.clear();
}

ExprId Lowering::narrow(ExprId also) {
    const ExprId before = mask_;
    set_lanes(lanes_, before.valid() ? build.make(Op::And, {before, also}) : also);
    return before;
}

void Lowering::store_result(const Stage& stage, ExprId total, Block& out) {
    const StageWrite& write = stage.writes[0];
    ExprId result = total;
    if (stage.finish.valid()) {
        define(stage.total, total);
        result = value(stage.finish);
    }
    out.push_back(store(write.tensor, write.index, result));
    for (const StageWrite& other : stage.also) {
        out.push_back(store(other.tensor, other.index, value(other.value)));
    }
}

BufferId Lowering::buffer(ir::TensorId tensor, bool written) {
    const BufferView& place = places_.at(tensor);
    const auto found = buffers_.find(place.storage);
    if (found != buffers_.end()) {
        build.function().buffers[found->second.value].written |= written;
        return found->second;
    }
    const BufferId id = build.buffer({}, place.dtype, written);
    buffers_[place.storage] = id;
    result_.arguments.push_back(place.storage);
    return id;
}

// ---- Indices ------------------------------------------------------------------------------------

Address Lowering::affine(const Address& of_stage) const {
    Address result;
    result.offset = of_stage.offset;
    for (const AddressTerm& term : of_stage.terms) {
        const Address& bound = bindings_.at(term.var);
        result.offset =
            ir::wrapping_add(result.offset, ir::wrapping_mul(term.factor, bound.offset));
        for (const AddressTerm& part : bound.terms) {
            result.add(part.var, ir::wrapping_mul(term.factor, part.factor));
        }
    }
    return result;
}

// A blocked layout: block and element separate if all terms but the lane count in whole blocks.
bool Lowering::add_split(Address& address, const Address& index, const Layout& layout) const {
    if (index.offset % layout.block != 0) return false;
    for (const AddressTerm& term : index.terms) {
        if (term.var == lane_var) {
            if (term.factor != 1 || lanes_ > layout.block) return false;
        } else if (term.factor % layout.block != 0) {
            return false;
        }
    }
    const int64_t stride = layout.strides[static_cast<size_t>(layout.split)];
    address.offset += index.offset / layout.block * stride;
    for (const AddressTerm& term : index.terms) {
        const bool lane = term.var == lane_var;
        address.add(term.var, lane ? 1 : term.factor / layout.block * stride);
    }
    return true;
}

ExprId Lowering::number(const Address& address) {
    Address scalar = address;
    int64_t lane_factor = 0;
    std::erase_if(scalar.terms, [&](const AddressTerm& term) {
        if (term.var != lane_var) return false;
        lane_factor = term.factor;
        return true;
    });
    const ExprId sum = build.sum(scalar);
    if (lane_factor == 0 || lanes_ == 1) return sum;
    const ExprId ramp = build.make(Op::Mul, {build.ramp(lanes_), build.integer(lane_factor)});
    return build.make(Op::Add, {ramp, sum});
}

// Numbers may wrap around in steps that a guard skips. The address is used in the other steps only,
// where it is right.
void Lowering::add_affine(Address& address, const Address& index, int64_t stride) const {
    address.offset = ir::wrapping_add(address.offset, ir::wrapping_mul(stride, index.offset));
    for (const AddressTerm& term : index.terms) {
        address.add(term.var, ir::wrapping_mul(stride, term.factor));
    }
}

// Replaces an index outside the tensor by 0; the fault is reported elsewhere.
ExprId Lowering::checked(ExprId at, ExprId extent) {
    const ExprId zero = build.integer(0);
    const ExprId good = build.make(
        Op::And, {build.make(Op::LessEqual, {zero, at}), build.make(Op::Less, {at, extent})});
    return build.select(good, at, zero);
}

// With run-time extents, strides are products of extents.
std::vector<ExprId> Lowering::strides(const BufferView& place) {
    std::vector<ExprId> result;
    for (const int64_t stride : place.layout.strides) result.push_back(build.integer(stride));
    if (place.extents.empty()) return result;
    result.assign(place.extents.size(), build.integer(1));
    for (size_t axis = result.size() - 1; axis-- > 0;) {
        const ExprId inner = value(place.spaced()[axis + 1]);
        result[axis] = build.make(Op::Mul, {result[axis + 1], inner});
    }
    return result;
}

Lowering::Element Lowering::element(ir::TensorId tensor,
                                    const std::vector<ExprId>& index,
                                    bool written) {
    const BufferView& place = places_.at(tensor);
    const Layout& layout = place.layout;
    const std::vector<ExprId> strides = this->strides(place);
    Element result;
    result.buffer = buffer(tensor, written);
    result.address.offset = layout.offset;
    ExprId dynamic;
    const auto add_dynamic = [&](ExprId part, ExprId stride) {
        part = build.make(Op::Mul, {part, stride});
        dynamic = dynamic.valid() ? build.make(Op::Add, {dynamic, part}) : part;
    };
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const bool split = static_cast<int>(axis) == layout.split;
        const bool inside = is_inside(pool_, place, axis, index[axis]);
        const auto of_stage = inside ? pool_.affine(index[axis]) : std::nullopt;
        const Expr stride = build[strides[axis]];
        if (of_stage && stride.op == Op::Constant) {
            const Address here = affine(*of_stage);
            if (split && add_split(result.address, here, layout)) continue;
            if (!split) {
                add_affine(result.address, here, stride.integer);
                continue;
            }
        }
        ExprId at = value(index[axis]);
        if (!inside) at = checked(at, value(extent_of(pool_, place, axis)));
        if (split) {
            const ExprId block = build.integer(layout.block);
            add_dynamic(build.make(Op::Div, {at, block}), strides[axis]);
            add_dynamic(build.make(Op::Mod, {at, block}), build.integer(1));
        } else {
            add_dynamic(at, strides[axis]);
        }
    }
    finish(result, dynamic);
    return result;
}

// Removes the term of the lane from the address.
void Lowering::finish(Element& element, ExprId dynamic) {
    Address& address = element.address;
    address.dynamic = dynamic;
    const bool dynamic_lanes = dynamic.valid() && build.type(dynamic).lanes > 1;
    int64_t lane_factor = 0;
    std::erase_if(address.terms, [&](const AddressTerm& term) {
        if (term.var != lane_var) return false;
        lane_factor = term.factor;
        return true;
    });
    if (lanes_ == 1) lane_factor = 0;
    element.in_lanes = dynamic_lanes || lane_factor != 0;
    address.lane_stride = lane_factor;
    if (dynamic_lanes && lane_factor != 0) {
        const ExprId ramp = build.make(Op::Mul, {build.ramp(lanes_), build.integer(lane_factor)});
        address.dynamic = build.make(Op::Add, {dynamic, ramp});
    }
}

ExprId Lowering::load(ir::TensorId tensor, const std::vector<ExprId>& index) {
    if (const auto held = held_.find(tensor); held != held_.end()) return held->second;
    Element at = element(tensor, index, false);
    if (!at.in_lanes) {
        at.address.lane_stride = 1;
        return build.load(at.buffer, std::move(at.address));
    }
    return build.load(at.buffer, std::move(at.address), lanes_, mask_);
}

Stmt Lowering::store(ir::TensorId tensor, const std::vector<ExprId>& index, ExprId value) {
    Element at = element(tensor, index, true);
    LEMMA_CHECK(at.in_lanes || lanes_ == 1);
    if (lanes_ > 1) value = build.spread(value, lanes_);
    if (lanes_ == 1) at.address.lane_stride = 1;
    value = build.cast(value, kind_of(places_.at(tensor).dtype));
    build.stored();
    return {StoreStmt{at.buffer, std::move(at.address), value, lanes_ > 1 ? mask_ : ExprId()}};
}

bool Lowering::in_lanes(ExprId stage_value) const {
    if (lanes_ == 1) return false;
    std::vector<VarId> vars;
    for (const auto& [var, address] : bindings_) {
        for (const AddressTerm& term : address.terms) {
            if (term.var == lane_var) vars.push_back(var);
        }
    }
    return pool_.depends_on_any(stage_value, vars);
}

// ---- Values -------------------------------------------------------------------------------------

ExprId Lowering::value(ExprId id) {
    if (const auto found = values_.find(id); found != values_.end()) return found->second;
    const ExprId result = compute(pool_[id]);
    values_[id] = result;
    return result;
}

ExprId Lowering::compute(const Expr& given) {
    const Expr e = given;  // the pool may grow
    switch (e.op) {
        case Op::Constant:
            if (e.type.real()) return build.real(e.real, e.type.kind);
            return e.type.kind == Kind::Bool ? build.boolean(e.integer != 0)
                                             : build.integer(e.integer);
        case Op::Var:
            return number(bindings_.at(make_id<VarId>(static_cast<size_t>(e.integer))));
        case Op::Read:
            return load(tensor_of(e), e.args);
        case Op::Assume:
            return value(e.args[0]);
        case Op::Cast:
            return build.cast(value(e.args[0]), e.type.kind);
        default:
            break;
    }
    std::vector<ExprId> args;
    for (const ExprId arg : e.args) args.push_back(value(arg));
    if (e.op == Op::Div && multiplies_quotients && e.type.kind == Kind::F32 &&
        build.type(args[0]).lanes > 1 && build.type(args[1]).lanes == 1 &&
        build[args[1]].op != Op::Constant) {
        return quotient_of_many(build, args[0], args[1]);
    }
    if (e.op != Op::Library) return build.make(e.op, std::move(args));
    if (e.type.kind == Kind::F32) {
        const ExprId expanded = expand_function(build, e.name, args);
        if (expanded.valid()) return expanded;
        if (!has_library && is_expanded_wide(e.name)) return expand_wide(build, e.name, args[0]);
    }
    return build.library(e.name, std::move(args));
}

}  // namespace lemma::loop
