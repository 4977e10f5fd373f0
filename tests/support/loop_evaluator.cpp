// SPDX-License-Identifier: Apache-2.0
#include "support/loop_evaluator.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <random>

#include "base/match.h"
#include "ir/program/lane_math.h"
#include "loop/ir/dots.h"
#include "loop/ir/groups.h"
#include "support/access_log.h"

namespace lemma::testing {

namespace {

using loop::Address;
using loop::Expr;
using loop::ExprId;
using loop::Kind;
using loop::Op;

// One lane: a real, or an int; a bool is 0 or 1.
struct Lane {
    double real = 0;
    int64_t integer = 0;
};
using Value = std::vector<Lane>;

int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

// Scratch memory lies behind the arguments while a function runs.
class ScratchBuffers {
public:
    ScratchBuffers(const loop::Function& function, std::vector<tensor::Tensor>& buffers)
        : f_(function), buffers_(buffers) {
        for (size_t i = f_.argument_count(); i < f_.buffers.size(); ++i) {
            const loop::Buffer& own = f_.buffers[i];
            buffers_.push_back(tensor::Tensor::zeros(own.dtype, {own.scratch}).value());
        }
    }
    ~ScratchBuffers() { buffers_.resize(f_.argument_count()); }
    ScratchBuffers(const ScratchBuffers&) = delete;

private:
    const loop::Function& f_;
    std::vector<tensor::Tensor>& buffers_;
};

class Evaluator {
public:
    Evaluator(const loop::Function& function,
              Fma fma,
              std::vector<tensor::Tensor>& buffers,
              AccessLog* accesses = nullptr)
        : f_(function),
          fused_(fma == Fma::Fused),
          buffers_(buffers),
          accesses_(accesses),
          vars_(function.vars.size()),
          locals_(f_.locals.size()),
          tiles_(f_.tiles.size()) {
        for (size_t i = 0; i < locals_.size(); ++i) locals_[i].resize(f_.locals[i].type.lanes);
    }
    Evaluator(const Evaluator&) = delete;
    Evaluator(Evaluator&&) = default;

    Result<void> run(int64_t begin, int64_t end) {
        for (int64_t item = begin; item < end && trouble_.empty(); ++item) {
            if (f_.item.valid()) vars_[f_.item.value] = item;
            scope([&] { block(f_.body); });
        }
        if (!trouble_.empty()) return std::unexpected(Error{trouble_});
        return {};
    }

    // ---- Items of a group, step by step ---------------------------------------------------------

    void set(loop::VarId var, int64_t value) { vars_[var.value] = value; }
    int64_t integer(ExprId id) { return value(id)[0].integer; }
    Value any_value(ExprId id) { return value(id); }
    void set(loop::LocalId local, Value value) { locals_[local.value] = std::move(value); }
    double real(loop::LocalId local) const { return locals_[local.value][0].real; }
    int64_t integer(loop::LocalId local) const { return locals_[local.value][0].integer; }
    void statement(const loop::Stmt& statement) { one_of(statement); }
    // The values of a block that begins are forgotten at its end.
    size_t mark() const { return log_.size(); }
    void forget(size_t mark) {
        for (; log_.size() > mark; log_.pop_back()) values_.erase(log_.back());
    }
    const std::string& trouble() const { return trouble_; }

private:
    // ---- Statements -----------------------------------------------------------------------------

    // Values of a block are known in it and inside it.
    template <class Body>
    void scope(const Body& body) {
        const size_t before = log_.size();
        body();
        for (; log_.size() > before; log_.pop_back()) values_.erase(log_.back());
    }

    void block(const loop::Block& statements) {
        for (const loop::Stmt& statement : statements) {
            if (!trouble_.empty()) return;
            one_of(statement);
        }
    }
    void one_of(const loop::Stmt& statement) {
        match(
            statement.node,
            [&](const loop::For& s) { all(s); },
            [&](const loop::If& s) {
                if (value(s.condition)[0].integer) scope([&] { block(s.body); });
            },
            [&](const loop::StoreStmt& s) { store(s); },
            [&](const loop::Set& s) { locals_[s.local.value] = value(s.value); },
            [&](const loop::Let& s) { value(s.value); },
            [&](const loop::Bind& s) { vars_[s.var.value] = value(s.value)[0].integer; },
            [&](const loop::Prefetch&) {},
            [&](const loop::TileStmt& s) { tile(s); },
            [&](const loop::Barrier&) { trouble_ = "a barrier that one item meets alone"; },
            [&](const loop::Exchange&) { trouble_ = "an exchange that one item meets alone"; },
            [&](const loop::CopyStmt& s) { copy(s); },
            [&](const loop::MatrixStmt&) { trouble_ = "a product that one item meets alone"; });
    }
    void all(const loop::For& s) {
        const int64_t end = value(s.end)[0].integer;
        for (int64_t i = value(s.begin)[0].integer; i < end && trouble_.empty(); i += s.step) {
            vars_[s.var.value] = i;
            scope([&] { block(s.body); });
        }
    }

    // ---- Memory ---------------------------------------------------------------------------------

    // The element in a lane; none and an error if it is out of bounds.
    std::optional<int64_t> element(loop::BufferId buffer, const Address& address, size_t lane) {
        int64_t at = address.offset;
        for (const loop::AddressTerm& term : address.terms) {
            at += term.factor * vars_[term.var.value];
        }
        bool own = false;
        if (address.dynamic.valid()) {
            const Value dynamic = value(address.dynamic);
            own = dynamic.size() > 1;
            at += dynamic[own ? lane : 0].integer;
        }
        if (!own) at += static_cast<int64_t>(lane) * address.lane_stride;
        if (at >= 0 && at < buffers_[buffer.value].size()) return at;
        trouble_ = fmt::format(
            "element {} of {} in buffer {}", at, buffers_[buffer.value].size(), buffer.value);
        return std::nullopt;
    }
    bool is_masked(ExprId mask, size_t lane) {
        if (!mask.valid()) return false;
        const Value wanted = value(mask);
        return !wanted[wanted.size() > 1 ? lane : 0].integer;
    }
    // The bytes from the element on; none and an error if they are out of bounds.
    std::byte* bytes(loop::BufferId buffer, const Address& address, int64_t ahead, int64_t count) {
        tensor::Tensor& from = buffers_[buffer.value];
        const auto at = element(buffer, address, 0);
        if (!at) return nullptr;
        const int64_t begin = (*at + ahead) * tensor::dtype_size(from.dtype());
        if (begin >= 0 && begin + count <= std::ssize(from.bytes())) return &from.bytes()[begin];
        trouble_ = fmt::format("bytes {} to {} of {} in buffer {}",
                               begin,
                               begin + count,
                               from.bytes().size(),
                               buffer.value);
        return nullptr;
    }
    void tile(const loop::TileStmt& s) {
        const loop::TileRegister shape = f_.tiles[static_cast<size_t>(s.tile)];
        loop::TileData& to = tiles_[static_cast<size_t>(s.tile)];
        if (s.action == loop::TileAction::Dot) {
            return loop::multiply_tiles({.products = s.products,
                                         .rows = shape.rows,
                                         .columns = shape.bytes / 4,
                                         .groups = f_.tiles[static_cast<size_t>(s.b)].rows},
                                        tiles_[static_cast<size_t>(s.a)],
                                        tiles_[static_cast<size_t>(s.b)],
                                        to);
        }
        const bool store = s.action == loop::TileAction::Store;
        if (!store) to = {};
        if (s.action == loop::TileAction::Zero) return;
        for (int row = 0; row < shape.rows; ++row) {
            std::byte* const memory = bytes(s.buffer, s.address, row * s.stride, shape.bytes);
            if (!memory) return;
            const auto count = static_cast<size_t>(shape.bytes);
            std::memcpy(store ? memory : to.row(row), store ? to.row(row) : memory, count);
        }
    }
    // Memory changes when the copy is awaited, or before: others must not touch it from the copy
    // on.
    void copy(const loop::CopyStmt& s) {
        if (s.action == loop::CopyAction::EndBatch) {
            batches_.push_back(std::move(batch_));
            batch_.clear();
            return;
        }
        if (s.action == loop::CopyAction::Await) {
            for (; std::ssize(batches_) > s.later; batches_.pop_front()) {
                for (const Copied& one : batches_.front()) write(one);
            }
            return;
        }
        const auto to = element(s.to, s.at, 0);
        if (!to) return;
        const int64_t size = tensor::dtype_size(f_.buffers[s.to.value].dtype);
        Copied copied{s.to, *to, std::vector<std::byte>(static_cast<size_t>(s.elements * size))};
        bool even = *to % s.elements == 0;
        if (!is_masked(s.wanted, 0)) {
            const auto from = element(s.from, s.source, 0);
            const std::byte* const first = bytes(s.from, s.source, 0, s.elements * size);
            if (!from || !first) return;
            even &= *from % s.elements == 0;
            std::memcpy(copied.bytes.data(), first, copied.bytes.size());
            touch(s.from, *from, s.elements, false);
        }
        if (!even) trouble_ = "a copy from or to an address that is no multiple of its size";
        touch(s.to, *to, s.elements, true);
        batch_.push_back(std::move(copied));
    }
    struct Copied {
        loop::BufferId to;
        int64_t at;
        std::vector<std::byte> bytes;
    };
    void write(const Copied& copied) {
        tensor::Tensor& to = buffers_[copied.to.value];
        const int64_t size = tensor::dtype_size(to.dtype());
        const int64_t elements = std::ssize(copied.bytes) / size;
        std::memcpy(&to.bytes()[static_cast<size_t>(copied.at * size)],
                    copied.bytes.data(),
                    copied.bytes.size());
        touch(copied.to, copied.at, elements, true);
    }
    void touch(loop::BufferId buffer, int64_t first, int64_t elements, bool write) {
        for (int64_t i = first; accesses_ && i < first + elements; ++i) {
            write ? accesses_->write(buffer.value, i) : accesses_->read(buffer.value, i);
        }
    }
    Value load(const Expr& e) {
        Value result(e.type.lanes);
        if (e.type.kind == Kind::I32) {
            const std::byte* const first =
                bytes(e.buffer, e.address, 0, static_cast<int64_t>(result.size()) * 4);
            const auto at = element(e.buffer, e.address, 0);
            const int64_t size = tensor::dtype_size(f_.buffers[e.buffer.value].dtype);
            if (at) touch(e.buffer, *at, static_cast<int64_t>(result.size()) * 4 / size, false);
            for (size_t lane = 0; first && lane < result.size(); ++lane) {
                int32_t four = 0;
                std::memcpy(&four, first + lane * 4, sizeof four);
                result[lane].integer = four;
            }
            return result;
        }
        const tensor::Tensor& from = buffers_[e.buffer.value];
        for (size_t lane = 0; lane < result.size(); ++lane) {
            if (is_masked(e.mask, lane)) continue;
            const auto at = element(e.buffer, e.address, lane);
            if (!at) continue;
            if (accesses_) accesses_->read(e.buffer.value, *at);
            if (e.type.real()) {
                result[lane].real = from.real(*at);
            } else {
                result[lane].integer = from.integer(*at);
            }
        }
        return result;
    }
    void store(const loop::StoreStmt& s) {
        const Value stored = value(s.value);
        const bool real = f_[s.value].type.real();
        if (!f_.buffers[s.buffer.value].written) {
            trouble_ = fmt::format("buffer {} is written", s.buffer.value);
        }
        for (size_t lane = 0; lane < stored.size() && trouble_.empty(); ++lane) {
            if (is_masked(s.mask, lane)) continue;
            const auto at = element(s.buffer, s.address, lane);
            if (!at) return;
            if (accesses_) accesses_->write(s.buffer.value, *at);
            tensor::Tensor& to = buffers_[s.buffer.value];
            if (real) {
                to.set_real(*at, stored[lane].real);
            } else {
                to.set_integer(*at, stored[lane].integer);
            }
        }
    }

    // ---- Values ---------------------------------------------------------------------------------

    Value value(ExprId id) {
        if (const auto found = values_.find(id); found != values_.end()) return found->second;
        Value result = compute(f_[id]);
        values_[id] = result;
        log_.push_back(id);
        return result;
    }
    Value compute(const Expr& e) {
        switch (e.op) {
            case Op::Constant:
                return {{e.real, e.integer}};
            case Op::Var:
                return {{0, vars_[static_cast<size_t>(e.integer)]}};
            case Op::Local:
                return locals_[static_cast<size_t>(e.integer)];
            case Op::Load:
                return load(e);
            default:
                break;
        }
        std::vector<Value> args;
        for (const ExprId arg : e.args) args.push_back(value(arg));
        if (e.op >= Op::SumLanes) return {over_lanes(e, args[0])};
        if (e.op == Op::FirstHalves || e.op == Op::SecondHalves) return halves(e, args);
        Value result(e.type.lanes);
        for (size_t lane = 0; lane < result.size(); ++lane) {
            std::vector<Lane> here;
            for (const Value& arg : args) here.push_back(arg[arg.size() > 1 ? lane : 0]);
            result[lane] = e.op == Op::Ramp ? Lane{0, static_cast<int64_t>(lane)} : one(e, here);
        }
        return result;
    }
    Lane one(const Expr& e, const std::vector<Lane>& a) {
        const loop::Type from = e.args.empty() ? e.type : f_[e.args[0]].type;
        switch (e.op) {
            case Op::Broadcast:
                return a[0];
            case Op::Select:
                return a[0].integer ? a[1] : a[2];
            case Op::Cast:
                return cast(a[0], from.kind, e.type.kind);
            case Op::Less:
            case Op::LessEqual:
            case Op::Equal:
            case Op::NotEqual:
                return {0, compared(e.op, from.real(), a[0], a[1])};
            case Op::And:
                return {0, a[0].integer & a[1].integer};
            case Op::Or:
                return {0, a[0].integer | a[1].integer};
            case Op::Xor:
                return {0, a[0].integer ^ a[1].integer};
            case Op::Not:
                return {0, !a[0].integer};
            default:
                break;
        }
        if (e.op == Op::DotBytes) {
            return {0, loop::dot_bytes(a[0].integer, a[1].integer, a[2].integer, e.integer)};
        }
        if (e.op == Op::DotBf16) {
            return {loop::dot_bf16(static_cast<float>(a[0].real),
                                   static_cast<uint32_t>(a[1].integer),
                                   static_cast<uint32_t>(a[2].integer)),
                    0};
        }
        if (e.type.kind == Kind::I32) return {0, static_cast<int32_t>(of_integers(e, a))};
        if (!e.type.real()) return {0, of_integers(e, a)};
        const double result = of_reals(e, a);
        return {e.type.kind == Kind::F32 ? static_cast<float>(result) : result, 0};
    }
    static bool compared(Op op, bool real, const Lane& a, const Lane& b) {
        const auto with = [op](auto x, auto y) {
            return op == Op::Less        ? x < y
                   : op == Op::LessEqual ? x <= y
                   : op == Op::Equal     ? x == y
                                         : x != y;
        };
        return real ? with(a.real, b.real) : with(a.integer, b.integer);
    }
    static int64_t saturated(double value) {
        if (std::isnan(value)) return 0;
        if (std::fabs(value) < 0x1p63) return static_cast<int64_t>(value);
        return value < 0 ? INT64_MIN : INT64_MAX;
    }
    static Lane cast(const Lane& a, Kind from, Kind to) {
        const bool real = from == Kind::F32 || from == Kind::F64;
        switch (to) {
            case Kind::Bool:
                return {0, real ? a.real != 0 : a.integer != 0};
            case Kind::I32:
                return {0, real ? loop::to_int32(a.real) : static_cast<int32_t>(a.integer)};
            case Kind::Int:
                return {0, real ? saturated(a.real) : a.integer};
            case Kind::F32:
                return {real ? static_cast<float>(a.real) : static_cast<float>(a.integer), 0};
            case Kind::F64:
                return {real ? a.real : static_cast<double>(a.integer), 0};
        }
        return a;
    }
    int64_t of_integers(const Expr& e, const std::vector<Lane>& a) {
        const int64_t x = a[0].integer;
        const int64_t y = a.size() > 1 ? a[1].integer : 0;
        switch (e.op) {
            case Op::Add:
                return wrapped(bits(x) + bits(y));
            case Op::Sub:
                return wrapped(bits(x) - bits(y));
            case Op::Mul:
                return wrapped(bits(x) * bits(y));
            case Op::Fma:
                return wrapped(bits(x) * bits(y) + bits(a[2].integer));
            case Op::Min:
                return std::min(x, y);
            case Op::Max:
                return std::max(x, y);
            case Op::Neg:
                return wrapped(-bits(x));
            case Op::Abs:
                return x < 0 ? wrapped(-bits(x)) : x;
            case Op::Pow: {
                int64_t power = y < 0 ? 0 : 1;
                for (int64_t i = 0; i < std::min<int64_t>(y, 64); ++i) {
                    power = wrapped(bits(power) * bits(x));
                }
                return y <= 64 ? power : ir::total_pow(x, y);
            }
            case Op::Div:
            case Op::Mod: {
                if (y == 0) return 0;
                if (y == -1) return e.op == Op::Div ? wrapped(-bits(x)) : 0;
                const bool down = x % y != 0 && (x % y < 0) != (y < 0);
                if (e.op == Op::Div) return x / y - down;
                return down ? x % y + y : x % y;
            }
            default:
                return unknown(e);
        }
    }
    // Computes in double, and the caller rounds to float; for these operations that equals the
    // float result.
    double of_reals(const Expr& e, const std::vector<Lane>& a) {
        const double x = a[0].real;
        const double y = a.size() > 1 ? a[1].real : 0;
        const bool single = e.type.kind == Kind::F32;
        switch (e.op) {
            case Op::Add:
                return x + y;
            case Op::Sub:
                return x - y;
            case Op::Mul:
                return x * y;
            case Op::Div:
                return x / y;
            case Op::Fma:
                return fma(x, y, a[2].real, single);
            case Op::Min:
            case Op::Max:
                return extreme(x, y, e.op == Op::Min);
            case Op::Neg:
                return -x;
            case Op::Abs:
                return std::fabs(x);
            case Op::Sqrt:
                return std::sqrt(x);
            case Op::Floor:
                return std::floor(x);
            case Op::Ceil:
                return std::ceil(x);
            case Op::Trunc:
                return std::trunc(x);
            case Op::Rint:
                return std::nearbyint(x);
            case Op::Round:
                return std::round(x);
            case Op::CopySign:
                return std::copysign(x, y);
            case Op::Scale:
                return std::ldexp(x, static_cast<int>(y));
            case Op::Exponent:
                return static_cast<double>(exponent_of(x));
            case Op::Mantissa:
                return std::ldexp(x, -exponent_of(x));
            case Op::FirstTerm:
                return first_term(x);
            case Op::Library:
                return library(e, a);
            default:
                return unknown(e);
        }
    }
    double fma(double x, double y, double z, bool single) const {
        if (!single) return fused_ ? std::fma(x, y, z) : x * y + z;
        const auto a = static_cast<float>(x), b = static_cast<float>(y), c = static_cast<float>(z);
        if (fused_) return std::fma(a, b, c);
        return static_cast<float>(x * y) + z;
    }
    static double extreme(double x, double y, bool least) {
        if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
        return least ? (y < x ? y : x) : (x < y ? y : x);
    }
    // The nearest multiple of the last place of a bf16, halves away from zero.
    static double first_term(double x) {
        constexpr int kBits = 8, kLeastExponent = -126;
        if (std::isnan(x)) return std::copysign(1.0, x);
        const int exponent = x == 0 ? kLeastExponent : std::max(std::ilogb(x), kLeastExponent);
        const double last = std::ldexp(1.0, exponent - kBits + 1);
        const double near = std::isinf(x) ? x : std::round(x / last) * last;
        return std::fabs(near) < 0x1p128 ? near : std::copysign(1.0, x);
    }
    // For a positive, normal float: the mantissa lies between sqrt(1/2) and sqrt(2).
    static int exponent_of(double x) {
        int exponent = 0;
        const double half = std::frexp(x, &exponent);  // from a half to one
        return half < static_cast<double>(std::bit_cast<float>(0x3F3504F3)) ? exponent - 1
                                                                            : exponent;
    }
    double library(const Expr& e, const std::vector<Lane>& a) {
        const bool single = e.type.kind == Kind::F32;
        const std::string name = single ? std::string(e.name) + "f" : e.name;
        void* const found = ::dlsym(RTLD_DEFAULT, name.c_str());
        if (!found) return unknown(e);
        const auto call = [&]<class T>(T) -> double {
            if (a.size() == 1) return reinterpret_cast<T (*)(T)>(found)(static_cast<T>(a[0].real));
            return reinterpret_cast<T (*)(T, T)>(found)(static_cast<T>(a[0].real),
                                                        static_cast<T>(a[1].real));
        };
        return single ? call(float{}) : call(double{});
    }
    static Value halves(const Expr& e, const std::vector<Value>& args) {
        Value result;
        const auto size = static_cast<size_t>(e.integer);
        for (size_t group = 0; group < args[0].size(); group += 2 * size) {
            const size_t begin = group + (e.op == Op::SecondHalves ? size : 0);
            for (const Value& arg : args) {
                for (size_t i = begin; i < begin + size; ++i) result.push_back(arg[i]);
            }
        }
        return result;
    }
    // Reduces neighbours first, then neighbouring pairs, and so on.
    Lane over_lanes(const Expr& e, Value v) {
        for (size_t step = 1; step < v.size(); step *= 2) {
            for (size_t i = 0; i + step < v.size(); i += 2 * step) {
                v[i] = combined(e, v[i], v[i + step]);
            }
        }
        return v[0];
    }
    Lane combined(const Expr& e, const Lane& a, const Lane& b) {
        Expr pair = e;
        switch (e.op) {
            case Op::SumLanes:
                pair.op = Op::Add;
                break;
            case Op::ProductLanes:
                pair.op = Op::Mul;
                break;
            case Op::MinLanes:
                pair.op = Op::Min;
                break;
            case Op::MaxLanes:
                pair.op = Op::Max;
                break;
            case Op::AllLanes:
                pair.op = Op::And;
                break;
            default:
                pair.op = Op::Or;
                break;
        }
        return one(pair, {a, b});
    }
    int unknown(const Expr& e) {
        trouble_ = fmt::format("`{}` has no meaning here", loop::op_text(e.op));
        return 0;
    }

    const loop::Function& f_;
    bool fused_;
    std::vector<tensor::Tensor>& buffers_;
    AccessLog* accesses_;
    std::vector<int64_t> vars_;
    std::vector<Value> locals_;
    std::vector<loop::TileData> tiles_;
    std::vector<Copied> batch_;
    std::deque<std::vector<Copied>> batches_;  // under way
    std::unordered_map<ExprId, Value, IdHash> values_;
    std::vector<ExprId> log_;
    std::string trouble_;
};

// All items of a group in turn, up to each barrier.
class Groups {
public:
    Groups(const loop::Function& function,
           EvaluatedItems items,
           uint64_t order,
           std::vector<tensor::Tensor>& buffers)
        : f_(function), items_(items), order_(order), buffers_(buffers), accesses_(function) {}

    Result<void> run() {
        std::vector<int64_t> groups;
        for (int64_t at = items_.begin; at < items_.end; at += f_.group) groups.push_back(at);
        std::mt19937_64 random(order_);
        if (order_ > 0) std::ranges::shuffle(groups, random);
        for (const int64_t first : groups) {
            threads_.clear();
            numbers_.clear();
            const int64_t count = std::min(f_.group, items_.end - first);
            group_ = first / f_.group;
            for (int64_t i = 0; i < count; ++i) {
                threads_.emplace_back(f_, Fma::Fused, buffers_, &accesses_);
                threads_.back().set(f_.item, first + i);
                numbers_.push_back(i);
            }
            if (order_ > 0) std::ranges::shuffle(numbers_, random);
            accesses_.barrier();
            block(f_.body);
            if (!trouble_.empty()) return std::unexpected(Error{trouble_});
        }
        return {};
    }

private:
    template <class Visit>
    void each(const Visit& visit) {
        for (const int64_t number : numbers_) {
            Evaluator& thread = threads_[static_cast<size_t>(number)];
            accesses_.enter(group_, number);
            visit(thread);
            if (trouble_.empty()) trouble_ = thread.trouble();
            if (trouble_.empty()) trouble_ = accesses_.trouble();
        }
    }
    // The number that all of them have.
    int64_t common(ExprId id) {
        std::optional<int64_t> result;
        each([&](Evaluator& thread) {
            const int64_t own = thread.integer(id);
            if (result && *result != own) trouble_ = "a barrier that some items do not reach";
            result = own;
        });
        return result.value_or(0);
    }
    void scope(const loop::Block& statements) {
        std::vector<size_t> marks;
        for (const Evaluator& thread : threads_) marks.push_back(thread.mark());
        block(statements);
        for (size_t i = 0; i < threads_.size(); ++i) threads_[i].forget(marks[i]);
    }
    void block(const loop::Block& statements) {
        for (const loop::Stmt& statement : statements) {
            if (!trouble_.empty()) return;
            one(statement);
        }
    }
    // Memory is as before: an exchange is no barrier.
    void meet(const loop::Barrier& s) {
        if (s.value.valid()) {
            int64_t any = 0;
            each([&](Evaluator& thread) { any |= thread.integer(s.value); });
            Value answer(1);
            answer[0].integer = any;
            for (Evaluator& thread : threads_) thread.set(s.any, answer);
        }
        accesses_.barrier();
    }
    void exchange(const loop::Exchange& s) {
        std::vector<Value> values;
        for (size_t i = 0; i < threads_.size(); ++i) {
            accesses_.enter(group_, static_cast<int64_t>(i));
            values.push_back(threads_[i].any_value(s.value));
        }
        for (size_t i = 0; i < threads_.size(); ++i) {
            const size_t other = i ^ static_cast<size_t>(s.distance);
            if (other >= threads_.size()) {
                trouble_ = "an exchange with an item that is not there";
                return;
            }
            threads_[i].set(s.local, values[other]);
        }
    }
    void multiply(const loop::MatrixStmt& s) {
        for (size_t warp = 0; warp + loop::kWarp <= threads_.size(); warp += loop::kWarp) {
            loop::WarpMatrices matrices{};
            for (size_t i = 0; i < loop::kWarp; ++i) {
                Evaluator& thread = threads_[warp + i];
                accesses_.enter(group_, static_cast<int64_t>(warp + i));
                const auto word = [&](ExprId id) {
                    return static_cast<uint32_t>(thread.integer(id));
                };
                std::ranges::transform(s.a, matrices.a[i].begin(), word);
                std::ranges::transform(s.b, matrices.b[i].begin(), word);
                std::ranges::transform(s.totals, matrices.totals[i].begin(), [&](auto local) {
                    return of_bytes(s.products) ? static_cast<double>(thread.integer(local))
                                                : thread.real(local);
                });
            }
            loop::multiply_matrices(s.products, matrices);
            for (size_t i = 0; i < loop::kWarp; ++i) {
                for (size_t j = 0; j < s.totals.size(); ++j) {
                    const double total = matrices.totals[i][j];
                    const auto whole = of_bytes(s.products) ? static_cast<int64_t>(total) : 0;
                    threads_[warp + i].set(s.totals[j], {{total, whole}});
                }
            }
        }
        for (const Evaluator& thread : threads_) {
            if (trouble_.empty()) trouble_ = thread.trouble();
        }
        if (trouble_.empty()) trouble_ = accesses_.trouble();
    }
    void one(const loop::Stmt& statement) {
        if (const auto* const barrier = std::get_if<loop::Barrier>(&statement.node)) {
            return meet(*barrier);
        }
        if (const auto* const product = std::get_if<loop::MatrixStmt>(&statement.node)) {
            return multiply(*product);
        }
        if (const auto* const swap = std::get_if<loop::Exchange>(&statement.node)) {
            return exchange(*swap);
        }
        const auto* const loop = std::get_if<loop::For>(&statement.node);
        if (loop && loop::has_barrier(loop->body)) {
            const int64_t end = common(loop->end);
            for (int64_t i = common(loop->begin); i < end && trouble_.empty(); i += loop->step) {
                for (Evaluator& thread : threads_) thread.set(loop->var, i);
                scope(loop->body);
            }
            return;
        }
        const auto* const branch = std::get_if<loop::If>(&statement.node);
        if (branch && loop::has_barrier(branch->body)) {
            if (common(branch->condition) != 0) scope(branch->body);
            return;
        }
        each([&](Evaluator& thread) { thread.statement(statement); });
    }

    const loop::Function& f_;
    EvaluatedItems items_;
    uint64_t order_;
    std::vector<tensor::Tensor>& buffers_;
    AccessLog accesses_;
    std::vector<Evaluator> threads_;
    std::vector<int64_t> numbers_;  // of the threads, in the order in which they run
    int64_t group_ = 0;
    std::string trouble_;
};

}  // namespace

Result<void> evaluate(const loop::Function& function,
                      EvaluatedItems items,
                      Fma fma,
                      std::vector<tensor::Tensor>& buffers) {
    const ScratchBuffers scratch(function, buffers);
    return Evaluator(function, fma, buffers).run(items.begin, items.end);
}

Result<void> evaluate_groups(const loop::Function& function,
                             EvaluatedItems items,
                             uint64_t order,
                             std::vector<tensor::Tensor>& buffers) {
    const ScratchBuffers scratch(function, buffers);
    return Groups(function, items, order, buffers).run();
}

}  // namespace lemma::testing
