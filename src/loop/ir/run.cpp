// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <string_view>

#include "base/check.h"
#include "base/match.h"
#include "ir/program/lane_math.h"
#include "loop/ir/dots.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace lemma::loop {

namespace {

using tensor::DType;

// A lane of a value. Floats are kept as doubles, which represent them exactly.
union Lane {
    int64_t integer;  // also of bools
    double real;
};

double call_library(std::string_view name, bool single, double a, double b) {
    using One = double (*)(double);
    using OneFloat = float (*)(float);
    struct Unary {
        const char* name;
        One f;
        OneFloat g;
    };
    static constexpr Unary kUnary[] = {
        {"exp", std::exp, std::exp},
        {"log", std::log, std::log},
        {"sin", std::sin, std::sin},
        {"cos", std::cos, std::cos},
        {"tan", std::tan, std::tan},
        {"asin", std::asin, std::asin},
        {"acos", std::acos, std::acos},
        {"atan", std::atan, std::atan},
        {"sinh", std::sinh, std::sinh},
        {"cosh", std::cosh, std::cosh},
        {"tanh", std::tanh, std::tanh},
        {"asinh", std::asinh, std::asinh},
        {"acosh", std::acosh, std::acosh},
        {"atanh", std::atanh, std::atanh},
        {"erf", std::erf, std::erf},
    };
    const auto x = static_cast<float>(a);
    const auto y = static_cast<float>(b);
    for (const Unary& unary : kUnary) {
        if (name != unary.name) continue;
        return single ? static_cast<double>(unary.g(x)) : unary.f(a);
    }
    if (name == "pow") return single ? static_cast<double>(std::pow(x, y)) : std::pow(a, b);
    LEMMA_CHECK(false);
    return 0;
}

// Like the code generators, it computes an expression at its first use in a block, and forgets it
// at the end of the block.
class FunctionRun {
public:
    FunctionRun(const Function& function, void* const* buffers, RunFunctionOptions options)
        : f_(function), options_(options), vars_(function.vars.size()), tiles_(f_.tiles.size()) {
        int64_t lanes = 0;
        for (const Expr& e : f_.exprs) {
            at_.push_back(lanes);
            lanes += e.type.lanes;
        }
        for (const Local& local : f_.locals) {
            local_at_.push_back(lanes);
            lanes += local.type.lanes;
        }
        for (size_t i = 0; i < f_.buffers.size(); ++i) {
            const Buffer& buffer = f_.buffers[i];
            void* at = i < f_.argument_count() ? buffers[i] : nullptr;
            if (buffer.scratch > 0) {
                const int64_t size = buffer.scratch * tensor::dtype_size(buffer.dtype);
                at = scratch_.emplace_back(static_cast<size_t>(size)).data();
            }
            buffers_.push_back(at);
        }
        lanes_.resize(static_cast<size_t>(lanes));
        known_.resize(f_.exprs.size());
    }

    void run(int64_t begin, int64_t end) {
        for (int64_t item = begin; item < end; ++item) {
            if (f_.item.valid()) vars_[f_.item.value] = item;
            scope(f_.body);
        }
    }

private:
    void scope(const Block& body) {
        const size_t before = log_.size();
        block(body);
        for (; log_.size() > before; log_.pop_back()) known_[log_.back().value] = false;
    }
    void block(const Block& statements) {
        for (const Stmt& statement : statements) {
            match(
                statement.node,
                [&](const For& s) {
                    const int64_t end = value(s.end)->integer;
                    int64_t& var = vars_[s.var.value];
                    for (var = value(s.begin)->integer; var < end; var += s.step) scope(s.body);
                },
                [&](const If& s) {
                    if (value(s.condition)->integer) scope(s.body);
                },
                [&](const StoreStmt& s) { store(s); },
                [&](const Set& s) {
                    const Lane* const from = value(s.value);
                    std::copy_n(from, f_[s.value].type.lanes, local(s.local.value));
                },
                [&](const Let& s) { value(s.value); },
                [&](const Bind& s) { vars_[s.var.value] = value(s.value)->integer; },
                [](const Prefetch&) {},
                [&](const TileStmt& s) { tile(s); },
                // A kernel for a device.
                [](const Barrier&) { LEMMA_CHECK(false); },
                [](const Exchange&) { LEMMA_CHECK(false); },
                [](const CopyStmt&) { LEMMA_CHECK(false); },
                [](const MatrixStmt&) { LEMMA_CHECK(false); });
        }
    }

    // ---- Memory ---------------------------------------------------------------------------------

    std::byte* address(BufferId buffer, const Address& address, int lane) {
        int64_t at = address.offset;
        for (const AddressTerm& term : address.terms) {
            at = ir::wrapping_add(at, ir::wrapping_mul(term.factor, vars_[term.var.value]));
        }
        if (address.dynamic.valid()) {
            const bool many = f_[address.dynamic].type.lanes > 1;
            at = ir::wrapping_add(at, value(address.dynamic)[many ? lane : 0].integer);
            if (!many) at = ir::wrapping_add(at, lane * address.lane_stride);
        } else {
            at = ir::wrapping_add(at, lane * address.lane_stride);
        }
        const int64_t size = tensor::dtype_size(f_.buffers[buffer.value].dtype);
        return static_cast<std::byte*>(buffers_[buffer.value]) + at * size;
    }
    bool wanted(ExprId mask, int lane) {
        if (!mask.valid()) return true;
        return value(mask)[f_[mask].type.lanes > 1 ? lane : 0].integer != 0;
    }
    template <class T>
    static T read(const std::byte* at) {
        T result;
        std::memcpy(&result, at, sizeof result);
        return result;
    }
    template <class T>
    static void write(std::byte* at, T value) {
        std::memcpy(at, &value, sizeof value);
    }
    static Lane load_lane(DType dtype, const std::byte* at) {
        switch (dtype) {
            case DType::F16:
                return {.real = tensor::from_f16(read<uint16_t>(at))};
            case DType::BF16:
                return {.real = tensor::from_bf16(read<uint16_t>(at))};
            case DType::F32:
                return {.real = static_cast<double>(read<float>(at))};
            case DType::F64:
                return {.real = read<double>(at)};
            case DType::Bool:
                return {.integer = read<uint8_t>(at) != 0};
            case DType::Str:
                return {.integer = 0};
            default:
                return {.integer = tensor::integer_at(dtype, at)};
        }
    }
    static void store_lane(DType dtype, std::byte* at, Lane lane) {
        switch (dtype) {
            case DType::F16:
                return write(at, tensor::to_f16(lane.real));
            case DType::BF16:
                return write(at, tensor::to_bf16(lane.real));
            case DType::F32:
                return write(at, static_cast<float>(lane.real));
            case DType::F64:
                return write(at, lane.real);
            default:
                break;
        }
        switch (tensor::dtype_size(dtype)) {
            case 1:
                return write(at, static_cast<uint8_t>(lane.integer));
            case 2:
                return write(at, static_cast<uint16_t>(lane.integer));
            case 4:
                return write(at, static_cast<uint32_t>(lane.integer));
            default:
                return write(at, lane.integer);
        }
    }
    void store(const StoreStmt& s) {
        const Lane* const from = value(s.value);
        const DType dtype = f_.buffers[s.buffer.value].dtype;
        for (int lane = 0; lane < f_[s.value].type.lanes; ++lane) {
            if (!wanted(s.mask, lane)) continue;
            store_lane(dtype, address(s.buffer, s.address, lane), from[lane]);
        }
    }
    void load(const Expr& e, Lane* to) {
        const DType dtype = f_.buffers[e.buffer.value].dtype;
        if (e.type.kind == Kind::I32) {
            const std::byte* const first = address(e.buffer, e.address, 0);
            for (int lane = 0; lane < e.type.lanes; ++lane) {
                to[lane].integer = read<int32_t>(first + lane * 4);
            }
            return;
        }
        for (int lane = 0; lane < e.type.lanes; ++lane) {
            to[lane] = e.type.real() ? Lane{.real = 0} : Lane{.integer = 0};
            if (!wanted(e.mask, lane)) continue;
            to[lane] = load_lane(dtype, address(e.buffer, e.address, lane));
        }
    }

    void tile(const TileStmt& s) {
        const TileRegister shape = f_.tiles[static_cast<size_t>(s.tile)];
        TileData& to = tiles_[static_cast<size_t>(s.tile)];
        switch (s.action) {
            case TileAction::Zero:
                to = {};
                return;
            case TileAction::Dot:
                return multiply_tiles({.products = s.products,
                                       .rows = shape.rows,
                                       .columns = shape.bytes / 4,
                                       .groups = f_.tiles[static_cast<size_t>(s.b)].rows},
                                      tiles_[static_cast<size_t>(s.a)],
                                      tiles_[static_cast<size_t>(s.b)],
                                      to);
            case TileAction::Load:
            case TileAction::Store:
                break;
        }
        const int64_t size = tensor::dtype_size(f_.buffers[s.buffer.value].dtype);
        std::byte* const first = address(s.buffer, s.address, 0);
        if (s.action == TileAction::Load) to = {};
        for (int row = 0; row < shape.rows; ++row) {
            std::byte* const memory = first + row * s.stride * size;
            std::byte* const data = to.row(row);
            const auto count = static_cast<size_t>(shape.bytes);
            if (s.action == TileAction::Load) std::memcpy(data, memory, count);
            if (s.action == TileAction::Store) std::memcpy(memory, data, count);
        }
    }

    // ---- Values ---------------------------------------------------------------------------------

    Lane* local(size_t number) { return &lanes_[static_cast<size_t>(local_at_[number])]; }

    const Lane* value(ExprId id) {
        Lane* const to = &lanes_[static_cast<size_t>(at_[id.value])];
        if (known_[id.value]) return to;
        compute(f_[id], to);
        known_[id.value] = true;
        log_.push_back(id);
        return to;
    }
    void compute(const Expr& e, Lane* to) {
        switch (e.op) {
            case Op::Constant:
                *to = e.type.real() ? Lane{.real = e.real} : Lane{.integer = e.integer};
                return;
            case Op::Var:
                to->integer = vars_[static_cast<size_t>(e.integer)];
                return;
            case Op::Local:
                std::copy_n(local(static_cast<size_t>(e.integer)), e.type.lanes, to);
                return;
            case Op::Load:
                return load(e, to);
            case Op::Ramp:
                for (int lane = 0; lane < e.type.lanes; ++lane) to[lane].integer = lane;
                return;
            default:
                break;
        }
        const Lane* v[3] = {};
        LEMMA_CHECK(e.args.size() <= 3 && !e.args.empty());
        for (size_t i = 0; i < e.args.size(); ++i) v[i] = value(e.args[i]);
        if (e.op >= Op::SumLanes) return over_lanes(e, v[0], to);
        if (e.op == Op::FirstHalves || e.op == Op::SecondHalves) return halves(e, v, to);
        for (int lane = 0; lane < e.type.lanes; ++lane) to[lane] = compute_lane(e, v, lane);
    }
    Lane compute_lane(const Expr& e, const Lane* const* v, int lane) {
        const Type from = f_[e.args[0]].type;
        switch (e.op) {
            case Op::Broadcast:
                return v[0][0];
            case Op::Select:
                return v[0][lane].integer ? v[1][lane] : v[2][lane];
            case Op::Cast:
                return convert(v[0][lane], from.kind, e.type.kind);
            case Op::Library: {
                const bool single = e.type.kind == Kind::F32;
                const double second = e.args.size() > 1 ? v[1][lane].real : 0;
                return {.real = call_library(e.name, single, v[0][lane].real, second)};
            }
            case Op::DotBf16:
                return {.real = dot_bf16(static_cast<float>(v[0][lane].real),
                                         static_cast<uint32_t>(v[1][lane].integer),
                                         static_cast<uint32_t>(v[2][lane].integer))};
            case Op::Less:
                return {.integer = from.real() ? v[0][lane].real < v[1][lane].real
                                               : v[0][lane].integer < v[1][lane].integer};
            case Op::LessEqual:
                return {.integer = from.real() ? v[0][lane].real <= v[1][lane].real
                                               : v[0][lane].integer <= v[1][lane].integer};
            case Op::Equal:
                return {.integer = from.real() ? v[0][lane].real == v[1][lane].real
                                               : v[0][lane].integer == v[1][lane].integer};
            case Op::NotEqual:
                return {.integer = from.real() ? v[0][lane].real != v[1][lane].real
                                               : v[0][lane].integer != v[1][lane].integer};
            default:
                break;
        }
        if (!e.type.real()) {
            const int64_t second = e.args.size() > 1 ? v[1][lane].integer : 0;
            const int64_t third = e.args.size() > 2 ? v[2][lane].integer : 0;
            if (e.op == Op::DotBytes) {
                return {.integer = dot_bytes(v[0][lane].integer, second, third, e.integer)};
            }
            if (e.type.kind == Kind::I32) {
                return {.integer = static_cast<int32_t>(
                            whole(e.op, e.type, v[0][lane].integer, second, third))};
            }
            return {.integer = whole(e.op, e.type, v[0][lane].integer, second, third)};
        }
        const double second = e.args.size() > 1 ? v[1][lane].real : 0;
        const double third = e.args.size() > 2 ? v[2][lane].real : 0;
        if (e.type.kind == Kind::F64)
            return {.real = real<double>(e.op, v[0][lane].real, second, third)};
        return {.real = static_cast<double>(real<float>(e.op,
                                                        static_cast<float>(v[0][lane].real),
                                                        static_cast<float>(second),
                                                        static_cast<float>(third)))};
    }
    static Lane convert(Lane lane, Kind from, Kind to) {
        const bool real = from == Kind::F32 || from == Kind::F64;
        if (to == Kind::Bool) return {.integer = real ? lane.real != 0 : lane.integer != 0};
        if (to == Kind::I32) {
            return {.integer = real ? to_int32(lane.real) : static_cast<int32_t>(lane.integer)};
        }
        if (to == Kind::Int) return {.integer = real ? ir::to_int(lane.real) : lane.integer};
        if (to == Kind::F32) {
            return {.real = static_cast<double>(real ? static_cast<float>(lane.real)
                                                     : static_cast<float>(lane.integer))};
        }
        return {.real = real ? lane.real : static_cast<double>(lane.integer)};
    }
    static int64_t whole(Op op, Type type, int64_t a, int64_t b, int64_t c) {
        switch (op) {
            case Op::Add:
                return ir::wrapping_add(a, b);
            case Op::Sub:
                return ir::wrapping_add(a, ir::wrapping_mul(b, -1));
            case Op::Mul:
                return ir::wrapping_mul(a, b);
            case Op::Fma:
                return ir::wrapping_add(ir::wrapping_mul(a, b), c);
            case Op::Div:
                return ir::total_div(a, b);
            case Op::Mod:
                return ir::total_mod(a, b);
            case Op::Pow:
                return ir::total_pow(a, b);
            case Op::Min:
                return std::min(a, b);
            case Op::Max:
                return std::max(a, b);
            case Op::Neg:
                return ir::wrapping_mul(a, -1);
            case Op::Abs:
                return a < 0 ? ir::wrapping_mul(a, -1) : a;
            case Op::And:
                return a & b;
            case Op::Or:
                return a | b;
            case Op::Xor:
                return a ^ b;
            case Op::Not:
                return type.kind == Kind::Bool ? !a : ~a;
            default:
                LEMMA_CHECK(false);
                return 0;
        }
    }
    template <class T>
    static T least(T a, T b) {
        return b != b ? b : b < a ? b : a;
    }
    template <class T>
    static T most(T a, T b) {
        return b != b ? b : a < b ? b : a;
    }
    template <class T>
    T real(Op op, T a, T b, T c) const {
        switch (op) {
            case Op::Add:
                return a + b;
            case Op::Sub:
                return a - b;
            case Op::Mul:
                return a * b;
            case Op::Div:
                return a / b;
            case Op::Min:
                return least(a, b);
            case Op::Max:
                return most(a, b);
            case Op::Neg:
                return -a;
            case Op::Abs:
                return std::fabs(a);
            case Op::Fma: {
                if (options_.has_fma) return std::fma(a, b, c);
                const volatile T product = a * b;
                return product + c;
            }
            case Op::Sqrt:
                return std::sqrt(a);
            case Op::Floor:
                return std::floor(a);
            case Op::Ceil:
                return std::ceil(a);
            case Op::Trunc:
                return std::trunc(a);
            case Op::Rint:
                return std::nearbyint(a);
            case Op::Round:
                return std::round(a);
            case Op::CopySign:
                return std::copysign(a, b);
            default:
                return static_cast<T>(of_floats(op, static_cast<float>(a), static_cast<float>(b)));
        }
    }
    static float of_floats(Op op, float a, float b) {
        if (op == Op::Scale) {
            const auto n = static_cast<int32_t>(ir::to_int(static_cast<double>(b)));
            const auto power = [](int32_t k) {
                return std::bit_cast<float>(static_cast<uint32_t>(k + 127) << 23);
            };
            return a * power(n >> 1) * power(n - (n >> 1));
        }
        if (op == Op::FirstTerm) return first_term(a);
        LEMMA_CHECK(op == Op::Exponent || op == Op::Mantissa);
        const auto bits = std::bit_cast<uint32_t>(a);
        const int32_t exponent = static_cast<int32_t>(bits - 0x3F3504F3U) >> 23;  // sqrt(1/2)
        if (op == Op::Exponent) return static_cast<float>(exponent);
        return std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23));
    }
    static void halves(const Expr& e, const Lane* const* v, Lane* to) {
        const int lanes = e.type.lanes;
        const int size = static_cast<int>(e.integer);
        for (int i = 0; i < lanes; ++i) {
            const int group = i / (2 * size) * 2 * size;
            const int half = e.op == Op::SecondHalves ? size : 0;
            to[i] = v[i % (2 * size) < size ? 0 : 1][group + half + i % size];
        }
    }
    // Neighbours first, then neighbouring pairs, and so on.
    void over_lanes(const Expr& e, const Lane* v, Lane* to) {
        const int lanes = f_[e.args[0]].type.lanes;
        std::vector<Lane> all(v, v + lanes);
        for (int step = 1; step < lanes; step *= 2) {
            for (int i = 0; i + step < lanes; i += 2 * step) {
                Lane& a = all[static_cast<size_t>(i)];
                a = combine(e, a, all[static_cast<size_t>(i + step)]);
            }
        }
        *to = all[0];
    }
    Lane combine(const Expr& e, Lane a, Lane b) const {
        const Op op = e.op == Op::SumLanes       ? Op::Add
                      : e.op == Op::ProductLanes ? Op::Mul
                      : e.op == Op::MinLanes     ? Op::Min
                      : e.op == Op::MaxLanes     ? Op::Max
                      : e.op == Op::AllLanes     ? Op::And
                                                 : Op::Or;
        if (!e.type.real()) return {.integer = whole(op, e.type, a.integer, b.integer, 0)};
        if (e.type.kind == Kind::F64) return {.real = real<double>(op, a.real, b.real, 0)};
        const auto x = static_cast<float>(a.real);
        const auto y = static_cast<float>(b.real);
        return {.real = static_cast<double>(real<float>(op, x, y, 0))};
    }

    const Function& f_;
    std::vector<void*> buffers_;
    std::deque<std::vector<std::byte>> scratch_;
    RunFunctionOptions options_;
    std::vector<int64_t> vars_;
    std::vector<TileData> tiles_;
    std::vector<int64_t> at_, local_at_;  // of expressions and locals, in the lanes
    std::vector<Lane> lanes_;
    std::vector<bool> known_;
    std::vector<ExprId> log_;
};

}  // namespace

void run_function(const Function& function,
                  void* const* buffers,
                  int64_t begin,
                  int64_t end,
                  RunFunctionOptions options) {
    FunctionRun(function, buffers, options).run(begin, end);
}

}  // namespace lemma::loop
