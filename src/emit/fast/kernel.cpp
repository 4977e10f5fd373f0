// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "base/check.h"
#include "base/match.h"
#include "emit/c_text.h"

namespace lemma::emit {

namespace {

using loop::Expr;
using loop::ExprId;
using loop::Kind;
using loop::Op;
using loop::Type;
using tensor::DType;

// Each expression becomes a constant at its first use in a block; inner blocks share it.
class KernelPrinter {
public:
    KernelPrinter(const loop::Function& function, VectorSupport& support)
        : f_(function), support_(support) {}

    std::string print(const std::string& name) {
        print_body(name);
        print_entry(name);
        return lines_.take();
    }

private:
    // The buffers are parameters of a separate function, because `restrict` applies to parameters.
    void print_body(const std::string& name) {
        std::vector<std::string> parameters;
        for (size_t i = 0; i < f_.buffers.size(); ++i) parameters.push_back(pointer_type(i));
        lines_.put("static __attribute__((noinline)) void");
        lines_.open(fmt::format(
            "{}_body({}int64_t begin, int64_t end) {{",
            name,
            parameters.empty() ? std::string() : fmt::format("{}, ", fmt::join(parameters, ", "))));
        for (size_t i = 0; i < f_.locals.size(); ++i) {
            lines_.put(fmt::format("{} r{} = {{0}};", support_.type(f_.locals[i].type), i));
        }
        const std::string item =
            f_.item.valid() ? fmt::format("i{}", f_.item.value) : std::string("item");
        lines_.open(fmt::format("for (int64_t {0} = begin; {0} < end; ++{0}) {{", item));
        scope(f_.body);
        lines_.close();
        lines_.close();
    }
    std::string pointer_type(size_t buffer) {
        const loop::Buffer& b = f_.buffers[buffer];
        return fmt::format(
            "{}{}* restrict b{}", b.written ? "" : "const ", support_.memory_type(b.dtype), buffer);
    }
    void print_entry(const std::string& name) {
        std::string arguments;
        for (size_t i = 0; i < f_.buffers.size(); ++i) {
            arguments += fmt::format("({}*)p[{}], ", support_.memory_type(f_.buffers[i].dtype), i);
        }
        lines_.open(
            fmt::format("static void {}(void* const* p, int64_t begin, int64_t end) {{", name));
        lines_.put(fmt::format("{}_body({}begin, end);", name, arguments));
        lines_.close();
    }

    // ---- Statements -----------------------------------------------------------------------------

    void scope(const loop::Block& statements) {
        const size_t before = log_.size();
        block(statements);
        for (; log_.size() > before; log_.pop_back()) values_.erase(log_.back());
    }
    void block(const loop::Block& statements) {
        for (const loop::Stmt& statement : statements) {
            match(
                statement.node,
                [&](const loop::For& s) {
                    const std::string first = value(s.begin);
                    const std::string end = value(s.end);
                    const std::string var = fmt::format("i{}", s.var.value);
                    lines_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{",
                                            var,
                                            first,
                                            end,
                                            s.step));
                    scope(s.body);
                    lines_.close();
                },
                [&](const loop::If& s) {
                    lines_.open(fmt::format("if ({}) {{", value(s.condition)));
                    scope(s.body);
                    lines_.close();
                },
                [&](const loop::StoreStmt& s) { store(s); },
                [&](const loop::Set& s) {
                    const std::string from = value(s.value);
                    lines_.put(fmt::format("r{} = {};", s.local.value, from));
                },
                [&](const loop::Let& s) { value(s.value); },
                [&](const loop::Bind& s) {
                    const std::string from = value(s.value);
                    lines_.put(fmt::format("const int64_t i{} = {};", s.var.value, from));
                },
                [&](const loop::Prefetch& s) {
                    lines_.put(
                        fmt::format("__builtin_prefetch({}, 0, 2);", address(s.buffer, s.address)));
                },
                // No target of C has tile registers.
                [&](const loop::TileStmt&) { LEMMA_CHECK(false); },
                // Nor is C for a device.
                [&](const loop::Barrier&) { LEMMA_CHECK(false); },
                [&](const loop::Exchange&) { LEMMA_CHECK(false); },
                [&](const loop::CopyStmt&) { LEMMA_CHECK(false); },
                [&](const loop::MatrixStmt&) { LEMMA_CHECK(false); });
        }
    }
    void store(const loop::StoreStmt& s) {
        const DType dtype = f_.buffers[s.buffer.value].dtype;
        const int lanes = f_[s.value].type.lanes;
        const std::string from = value(s.value);
        const std::string mask = s.mask.valid() ? value(s.mask) : "";
        const std::string tail = mask.empty() ? "" : ", " + mask;
        const std::string at = address(s.buffer, s.address);
        if (lanes == 1) {
            if (!mask.empty()) {
                lines_.put(
                    fmt::format("if ({}) {}({}, {});", mask, support_.store(dtype, 1), at, from));
            } else {
                lines_.put(fmt::format("{}({}, {});", support_.store(dtype, 1), at, from));
            }
        } else if (gathers(s.address)) {
            const std::string index = value(s.address.dynamic);
            lines_.put(fmt::format("{}({}, {}, {}{});",
                                   support_.scatter(dtype, lanes, !mask.empty()),
                                   at,
                                   from,
                                   index,
                                   tail));
        } else if (s.address.lane_stride != 1) {
            lines_.put(fmt::format(
                "{}({}, {}{});",
                support_.store_strided(dtype, lanes, s.address.lane_stride, !mask.empty()),
                at,
                from,
                tail));
        } else {
            const std::string call =
                mask.empty() ? support_.store(dtype, lanes) : support_.store_masked(dtype, lanes);
            lines_.put(fmt::format("{}({}, {}{});", call, at, from, tail));
        }
    }

    // ---- Memory ---------------------------------------------------------------------------------

    bool gathers(const loop::Address& address) const {
        return address.dynamic.valid() && f_[address.dynamic].type.lanes > 1;
    }
    // The address of the first lane; without the indices of a gather.
    std::string address(loop::BufferId buffer, const loop::Address& address) {
        std::string text = fmt::format("b{}", buffer.value);
        for (const loop::AddressTerm& term : address.terms) {
            // A guard may skip a step; its address may then be any number.
            constexpr int64_t kMostFactor = int64_t{1} << 31;
            const bool fits = term.factor >= -kMostFactor && term.factor <= kMostFactor;
            text += term.factor == 1 ? fmt::format(" + i{}", term.var.value)
                    : fits           ? fmt::format(" + i{} * {}", term.var.value, term.factor)
                                     : fmt::format(" + {}(i{}, {})",
                                         support_.arithmetic(Op::Mul, Type{Kind::Int}),
                                         term.var.value,
                                         integer_literal(DType::I64, term.factor));
        }
        if (address.dynamic.valid() && f_[address.dynamic].type.lanes == 1) {
            text += " + " + value(address.dynamic);
        }
        if (address.offset != 0) {
            text += " + " + integer_literal(DType::I64, address.offset);
        }
        return text;
    }
    std::string load(const Expr& e) {
        const DType dtype = f_.buffers[e.buffer.value].dtype;
        const int lanes = e.type.lanes;
        const std::string mask = e.mask.valid() ? value(e.mask) : "";
        const std::string tail = mask.empty() ? "" : ", " + mask;
        const std::string at = address(e.buffer, e.address);
        if (lanes == 1) {
            const std::string whole = fmt::format("{}({})", support_.load(dtype, 1), at);
            return mask.empty() ? whole : fmt::format("{} ? {} : 0", mask, whole);
        }
        if (gathers(e.address)) {
            const std::string index = value(e.address.dynamic);
            return fmt::format(
                "{}({}, {}{})", support_.gather(dtype, lanes, !mask.empty()), at, index, tail);
        }
        if (e.address.lane_stride != 1) {
            return fmt::format(
                "{}({}{})",
                support_.load_strided(dtype, lanes, e.address.lane_stride, !mask.empty()),
                at,
                tail);
        }
        const std::string call =
            mask.empty() ? support_.load(dtype, lanes) : support_.load_masked(dtype, lanes);
        return fmt::format("{}({}{})", call, at, tail);
    }

    // ---- Values ---------------------------------------------------------------------------------

    std::string value(ExprId id) {
        const Expr& e = f_[id];
        if (e.op == Op::Constant) return constant(e);
        if (e.op == Op::Var) return fmt::format("i{}", e.integer);
        if (const auto found = values_.find(id); found != values_.end()) return found->second;
        const std::string text = compute(e);
        std::string name = fmt::format("v{}", id.value);
        lines_.put(fmt::format("const {} {} = {};", support_.type(e.type), name, text));
        values_[id] = name;
        log_.push_back(id);
        return name;
    }
    static std::string constant(const Expr& e) {
        if (e.type.real()) return real_literal(e.real, e.type.kind == Kind::F32);
        if (e.type.kind == Kind::Bool) return e.integer ? "1" : "0";
        return integer_literal(DType::I64, e.integer);
    }
    std::string compute(const Expr& e) {
        switch (e.op) {
            case Op::Local:
                return fmt::format("r{}", e.integer);
            case Op::Load:
                return load(e);
            case Op::Ramp:
                return support_.ramp(e.type.lanes) + "()";
            case Op::Less:
                if (const std::string first = first_lanes(e); !first.empty()) return first;
                break;
            default:
                break;
        }
        std::vector<std::string> v;
        for (const ExprId arg : e.args) v.push_back(value(arg));
        const Type from = f_[e.args[0]].type;
        switch (e.op) {
            case Op::Cast:
                return call(support_.convert(from, e.type.kind), v);
            case Op::Broadcast:
                return call(support_.set(e.type), v);
            case Op::Select:
                return call(support_.select(e.type), v);
            case Op::Less:
            case Op::LessEqual:
            case Op::Equal:
            case Op::NotEqual:
                return call(support_.compare(e.op, from), v);
            case Op::And:
            case Op::Or:
            case Op::Xor:
            case Op::Not:
                return call(support_.logic(e.op, e.type.lanes), v);
            case Op::Library:
                return call(support_.library(e.name, e.type, v.size()), v);
            case Op::FirstHalves:
            case Op::SecondHalves:
                return call(support_.halves(e.op, e.type, e.integer), v);
            default:
                if (e.op >= Op::SumLanes) return call(support_.over_lanes(e.op, from), v);
                return arithmetic(e, v);
        }
    }
    static std::string call(const std::string& function,
                            const std::vector<std::string>& arguments) {
        return fmt::format("{}({})", function, fmt::join(arguments, ", "));
    }
    // The mask of the last, incomplete vector of a loop: ramp < n.
    std::string first_lanes(const Expr& e) {
        const Expr& ramp = f_[e.args[0]];
        const Expr& end = f_[e.args[1]];
        if (ramp.op != Op::Ramp || end.op != Op::Broadcast) return "";
        const std::string count = value(end.args[0]);
        return fmt::format("{}({})", support_.first_lanes(e.type.lanes), count);
    }
    const Expr& without_broadcast(ExprId id) const {
        const Expr& e = f_[id];
        return e.op == Op::Broadcast ? f_[e.args[0]] : e;
    }
    std::string arithmetic(const Expr& e, std::vector<std::string> v) {
        if (e.type.real()) {
            switch (e.op) {
                case Op::Add:
                    return fmt::format("{} + {}", v[0], v[1]);
                case Op::Sub:
                    return fmt::format("{} - {}", v[0], v[1]);
                case Op::Mul:
                    return fmt::format("{} * {}", v[0], v[1]);
                case Op::Div:
                case Op::Mod:
                    return fmt::format("{} / {}", v[0], v[1]);
                case Op::Neg:
                    return fmt::format("-({})", v[0]);
                case Op::Min:
                case Op::Max: {
                    // A constant is second, so that NaN on the other side needs no extra test.
                    const bool swap = without_broadcast(e.args[0]).op == Op::Constant;
                    if (swap) std::swap(v[0], v[1]);
                    const Expr& second = without_broadcast(e.args[swap ? 0 : 1]);
                    const bool number = second.op == Op::Constant && second.real == second.real;
                    return call(number ? support_.extreme_with_number(e.op, e.type)
                                       : support_.arithmetic(e.op, e.type),
                                v);
                }
                default:
                    break;
            }
        }
        return call(support_.arithmetic(e.op, e.type), v);
    }

    const loop::Function& f_;
    VectorSupport& support_;
    CLines lines_;
    std::unordered_map<ExprId, std::string, IdHash> values_;
    std::vector<ExprId> log_;
};

}  // namespace

std::string print_kernel(const loop::Function& function,
                         const std::string& name,
                         VectorSupport& support) {
    return KernelPrinter(function, support).print(name);
}

}  // namespace lemma::emit
