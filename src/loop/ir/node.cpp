// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/node.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "ir/program/lane_math.h"

namespace lemma::loop {

namespace {

void mix(size_t& hash, uint64_t value) {
    hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
}

size_t hash_of(const Expr& e) {
    size_t hash = static_cast<size_t>(e.op) * 31 + static_cast<size_t>(e.type.kind) * 7 +
                  static_cast<size_t>(e.type.lanes);
    mix(hash, static_cast<uint64_t>(e.integer));
    mix(hash, std::bit_cast<uint64_t>(e.real));
    for (const ExprId arg : e.args) mix(hash, arg.value);
    if (e.op == Op::Load) {
        mix(hash, e.buffer.value);
        mix(hash, static_cast<uint64_t>(e.address.offset));
        for (const AddressTerm& term : e.address.terms) {
            mix(hash, term.var.value * 1000003u + static_cast<uint64_t>(term.factor));
        }
        mix(hash, e.address.dynamic.value);
        mix(hash, e.mask.value);
        mix(hash, e.epoch);
    }
    return hash;
}

bool same(const Expr& a, const Expr& b) {
    return a.op == b.op && a.type == b.type && a.integer == b.integer &&
           std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real) && a.args == b.args &&
           a.buffer == b.buffer && a.address == b.address && a.mask == b.mask &&
           a.epoch == b.epoch && a.name == b.name;
}

bool is_lane_sum(Op op) { return op >= Op::SumLanes; }

// Operations on I32 whose result may need more bits.
bool widens(Op op) { return op >= Op::Add && op <= Op::Fma && op != Op::Min && op != Op::Max; }

bool gives_bool(Op op) { return op >= Op::Less && op <= Op::Not; }

}  // namespace

Kind kind_of(tensor::DType dtype) {
    if (dtype == tensor::DType::Bool) return Kind::Bool;
    if (dtype == tensor::DType::F64) return Kind::F64;
    return tensor::is_real(dtype) ? Kind::F32 : Kind::Int;
}

void Address::add(VarId var, int64_t factor) {
    if (factor == 0) return;
    const auto at = std::ranges::lower_bound(
        terms, var.value, {}, [](const AddressTerm& term) { return term.var.value; });
    if (at == terms.end() || at->var != var) {
        terms.insert(at, {var, factor});
    } else if ((at->factor = ir::wrapping_add(at->factor, factor)) == 0) {
        terms.erase(at);
    }
}

int32_t to_int32(double value) {
    if (!(value == value)) return 0;
    return static_cast<int32_t>(std::clamp(value, -0x1p31, 0x1p31 - 1));
}

size_t Function::argument_count() const {
    const auto own = std::ranges::find_if(buffers, [](const Buffer& b) { return b.scratch > 0; });
    return static_cast<size_t>(own - buffers.begin());
}

int64_t Function::group_memory(BufferId buffer) const {
    constexpr int64_t kVector = 16;  // each buffer begins at a whole vector
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers.size() && i != buffer.value; ++i) {
        if (!buffers[i].shared) continue;
        const int64_t own = buffers[i].scratch * tensor::dtype_size(buffers[i].dtype);
        bytes += (own + kVector - 1) / kVector * kVector;
    }
    return bytes;
}

// ---- Leaves -------------------------------------------------------------------------------------

VarId Builder::var(std::string name) {
    f_.vars.push_back(std::move(name));
    return make_id<VarId>(f_.vars.size() - 1);
}

LocalId Builder::local(Type type) {
    f_.locals.push_back({type});
    return make_id<LocalId>(f_.locals.size() - 1);
}

BufferId Builder::buffer(std::string name, tensor::DType dtype, bool written) {
    f_.buffers.push_back({std::move(name), dtype, written});
    return make_id<BufferId>(f_.buffers.size() - 1);
}

BufferId Builder::scratch(tensor::DType dtype, int64_t elements) {
    f_.buffers.push_back({{}, dtype, true, elements});
    return make_id<BufferId>(f_.buffers.size() - 1);
}

BufferId Builder::shared(tensor::DType dtype, int64_t elements) {
    const BufferId id = scratch(dtype, elements);
    f_.buffers[id.value].shared = true;
    return id;
}

ExprId Builder::intern(Expr expr) {
    const size_t hash = hash_of(expr);
    const auto [from, to] = known_.equal_range(hash);
    for (auto it = from; it != to; ++it) {
        if (same(f_.exprs[it->second.value], expr)) return it->second;
    }
    f_.exprs.push_back(std::move(expr));
    const auto id = make_id<ExprId>(f_.exprs.size() - 1);
    known_.emplace(hash, id);
    return id;
}

ExprId Builder::integer(int64_t value) {
    return intern({.op = Op::Constant, .type = {Kind::Int}, .integer = value});
}

ExprId Builder::real(double value, Kind kind) {
    if (kind == Kind::F32) value = static_cast<double>(static_cast<float>(value));
    return intern({.op = Op::Constant, .type = {kind}, .real = value});
}

ExprId Builder::boolean(bool value) {
    return intern({.op = Op::Constant, .type = {Kind::Bool}, .integer = value});
}

ExprId Builder::index(VarId var) {
    return intern({.op = Op::Var, .type = {Kind::Int}, .integer = var.value});
}

// Never shared, because a statement may have changed it.
ExprId Builder::get(LocalId local) {
    f_.exprs.push_back(
        {.op = Op::Local, .type = f_.locals[local.value].type, .integer = local.value});
    return make_id<ExprId>(f_.exprs.size() - 1);
}

ExprId Builder::load(BufferId buffer, Address address, uint16_t lanes, ExprId mask) {
    const Buffer& from = f_.buffers[buffer.value];
    Expr load{.op = Op::Load, .type = {kind_of(from.dtype), lanes}};
    load.buffer = buffer;
    load.address = std::move(address);
    load.mask = mask;
    load.epoch = from.written ? epoch_ : 0;
    return intern(std::move(load));
}

ExprId Builder::load_bytes(BufferId buffer, Address address, uint16_t lanes) {
    Expr load{.op = Op::Load, .type = {Kind::I32, lanes}};
    load.buffer = buffer;
    load.address = std::move(address);
    load.epoch = f_.buffers[buffer.value].written ? epoch_ : 0;
    return intern(std::move(load));
}

ExprId Builder::ramp(uint16_t lanes) {
    return intern({.op = Op::Ramp, .type = {Kind::Int, lanes}});
}

ExprId Builder::read(uint32_t tensor, Kind kind, std::vector<ExprId> indices) {
    return intern({.op = Op::Read, .type = {kind}, .integer = tensor, .args = std::move(indices)});
}

ExprId Builder::assume(ExprId index, int64_t extent, ExprId end) {
    if ((*this)[index].op == Op::Constant && !end.valid()) return index;
    std::vector<ExprId> args = {index};
    if (end.valid()) args.push_back(end);
    return intern(
        {.op = Op::Assume, .type = {Kind::Int}, .integer = extent, .args = std::move(args)});
}

bool Builder::is_integer(ExprId id, int64_t value) const {
    const Expr& e = f_.exprs[id.value];
    return e.op == Op::Constant && e.type.kind == Kind::Int && e.integer == value;
}

// ---- Operations ---------------------------------------------------------------------------------

Type Builder::unify(Op op, std::vector<ExprId>& args) {
    uint16_t lanes = 1;
    for (const ExprId arg : args) lanes = std::max(lanes, type(arg).lanes);
    const size_t first = op == Op::Select ? 1 : 0;
    Kind kind = type(args[first]).kind;
    for (size_t i = first; i < args.size(); ++i) kind = std::max(kind, type(args[i]).kind);
    if (kind == Kind::I32 && widens(op)) kind = Kind::Int;
    for (size_t i = 0; i < args.size(); ++i) {
        if (i >= first) args[i] = cast(args[i], kind);
        args[i] = spread(args[i], lanes);
    }
    return {kind, lanes};
}

ExprId Builder::make(Op op, std::vector<ExprId> args) {
    if (is_lane_sum(op)) {
        if (type(args[0]).lanes == 1) return args[0];
        return intern({.op = op, .type = {type(args[0]).kind}, .args = std::move(args)});
    }
    Type result = unify(op, args);
    if (gives_bool(op)) result.kind = Kind::Bool;
    if (const ExprId folded = fold(op, result, args); folded.valid()) return folded;
    return intern({.op = op, .type = result, .args = std::move(args)});
}

// Folds integers and simplifies addresses and guards; reals are computed as written.
ExprId Builder::fold(Op op, Type result, const std::vector<ExprId>& args) {
    const auto constant = [&](size_t i) { return (*this)[args[i]].op == Op::Constant; };
    const auto value = [&](size_t i) { return (*this)[args[i]].integer; };
    if (op == Op::Select && constant(0)) return value(0) ? args[1] : args[2];
    if (op == Op::Select && args[1] == args[2]) return args[1];
    if (result.kind == Kind::Bool && type(args[0]).kind == Kind::Bool) {
        if (op == Op::Not && constant(0)) return boolean(!value(0));
        if (op == Op::And || op == Op::Or) {
            for (size_t i = 0; i < 2; ++i) {
                if (!constant(i)) continue;
                return (value(i) != 0) == (op == Op::And) ? args[1 - i] : args[i];
            }
            if (args[0] == args[1]) return args[0];
        }
    }
    if (type(args[0]).kind != Kind::Int || args.size() > 2) return {};
    if (args.size() == 2 && constant(0) && constant(1)) {
        const int64_t a = value(0);
        const int64_t b = value(1);
        switch (op) {
            case Op::Add:
                return integer(ir::wrapping_add(a, b));
            case Op::Sub:
                return integer(ir::wrapping_add(a, ir::wrapping_mul(b, -1)));
            case Op::Mul:
                return integer(ir::wrapping_mul(a, b));
            case Op::Div:
                return integer(ir::total_div(a, b));
            case Op::Mod:
                return integer(ir::total_mod(a, b));
            case Op::Min:
                return integer(std::min(a, b));
            case Op::Max:
                return integer(std::max(a, b));
            case Op::Less:
                return boolean(a < b);
            case Op::LessEqual:
                return boolean(a <= b);
            case Op::Equal:
                return boolean(a == b);
            case Op::NotEqual:
                return boolean(a != b);
            default:
                return {};
        }
    }
    if (op == Op::Add && is_integer(args[0], 0)) return args[1];
    if ((op == Op::Add || op == Op::Sub) && is_integer(args[1], 0)) return args[0];
    if (op == Op::Mul && is_integer(args[0], 1)) return args[1];
    if ((op == Op::Mul || op == Op::Div) && args.size() == 2 && is_integer(args[1], 1))
        return args[0];
    return {};
}

ExprId Builder::select(ExprId condition, ExprId consequent, ExprId alternative) {
    return make(Op::Select, {condition, consequent, alternative});
}

ExprId Builder::cast(ExprId value, Kind kind) {
    const Expr& e = (*this)[value];
    if (e.type.kind == kind) return value;
    if (e.op == Op::Constant) {
        if (kind == Kind::Bool) return boolean(e.type.real() ? e.real != 0 : e.integer != 0);
        if (kind == Kind::Int) return integer(e.type.real() ? ir::to_int(e.real) : e.integer);
        if (kind == Kind::I32) {
            const int32_t narrow =
                e.type.real() ? to_int32(e.real) : static_cast<int32_t>(e.integer);
            return intern({.op = Op::Constant, .type = {Kind::I32}, .integer = narrow});
        }
        if (e.type.real()) return real(e.real, kind);
        // Directly to float: by way of double, large numbers would be rounded twice.
        return real(kind == Kind::F32 ? static_cast<double>(static_cast<float>(e.integer))
                                      : static_cast<double>(e.integer),
                    kind);
    }
    if (e.op == Op::Broadcast) {
        const uint16_t lanes = e.type.lanes;  // a new expression invalidates `e`
        return spread(cast(e.args[0], kind), lanes);
    }
    return intern({.op = Op::Cast, .type = {kind, e.type.lanes}, .args = {value}});
}

ExprId Builder::spread(ExprId value, uint16_t lanes) {
    const Type from = type(value);
    if (from.lanes == lanes) return value;
    LEMMA_CHECK(from.lanes == 1);
    return intern({.op = Op::Broadcast, .type = {from.kind, lanes}, .args = {value}});
}

ExprId Builder::library(const char* name, std::vector<ExprId> args) {
    const Type result = unify(Op::Library, args);
    return intern({.op = Op::Library, .type = result, .args = std::move(args), .name = name});
}

ExprId Builder::halves(Op which, ExprId a, ExprId b, int64_t size) {
    return intern({.op = which, .type = type(a), .integer = size, .args = {a, b}});
}

ExprId Builder::dot_bytes(ExprId total, ExprId a, ExprId b, bool a_signed, bool b_signed) {
    const Type result = type(total);
    return intern({.op = Op::DotBytes,
                   .type = result,
                   .integer = (a_signed ? 1 : 0) + (b_signed ? 2 : 0),
                   .args = {total, spread(a, result.lanes), spread(b, result.lanes)}});
}

ExprId Builder::dot_bf16(ExprId total, ExprId a, ExprId b) {
    const Type result = type(total);
    return intern({.op = Op::DotBf16,
                   .type = result,
                   .args = {total, spread(a, result.lanes), spread(b, result.lanes)}});
}

ExprId Builder::fma32(ExprId a, ExprId b, ExprId c) {
    const Type result = type(c);
    return intern({.op = Op::Fma,
                   .type = result,
                   .args = {spread(a, result.lanes), spread(b, result.lanes), c}});
}

ExprId Builder::sum(const Address& address) {
    ExprId result = integer(address.offset);
    for (const AddressTerm& term : address.terms) {
        result = make(Op::Add, {result, make(Op::Mul, {index(term.var), integer(term.factor)})});
    }
    return address.dynamic.valid() ? make(Op::Add, {result, address.dynamic}) : result;
}

}  // namespace lemma::loop
