// SPDX-License-Identifier: Apache-2.0
// The text form and the verifier of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/match.h"
#include "loop/ir/groups.h"
#include "loop/ir/node.h"

namespace lemma::loop {

const char* op_text(Op op) {
    switch (op) {
        case Op::Constant:
            return "constant";
        case Op::Var:
            return "var";
        case Op::Local:
            return "local";
        case Op::Load:
            return "load";
        case Op::Ramp:
            return "ramp";
        case Op::Read:
            return "read";
        case Op::Assume:
            return "assume";
        case Op::Add:
            return "add";
        case Op::Sub:
            return "sub";
        case Op::Mul:
            return "mul";
        case Op::Div:
            return "div";
        case Op::Mod:
            return "mod";
        case Op::Pow:
            return "pow";
        case Op::Min:
            return "min";
        case Op::Max:
            return "max";
        case Op::Neg:
            return "neg";
        case Op::Abs:
            return "abs";
        case Op::Fma:
            return "fma";
        case Op::Sqrt:
            return "sqrt";
        case Op::Floor:
            return "floor";
        case Op::Ceil:
            return "ceil";
        case Op::Trunc:
            return "trunc";
        case Op::Rint:
            return "rint";
        case Op::Round:
            return "round";
        case Op::CopySign:
            return "copysign";
        case Op::Library:
            return "call";
        case Op::Less:
            return "lt";
        case Op::LessEqual:
            return "le";
        case Op::Equal:
            return "eq";
        case Op::NotEqual:
            return "ne";
        case Op::And:
            return "and";
        case Op::Or:
            return "or";
        case Op::Xor:
            return "xor";
        case Op::Not:
            return "not";
        case Op::Select:
            return "select";
        case Op::Cast:
            return "cast";
        case Op::Broadcast:
            return "spread";
        case Op::Scale:
            return "scale";
        case Op::Exponent:
            return "exponent";
        case Op::Mantissa:
            return "mantissa";
        case Op::FirstTerm:
            return "first_term";
        case Op::FirstHalves:
            return "first_halves";
        case Op::SecondHalves:
            return "second_halves";
        case Op::DotBytes:
            return "dot_bytes";
        case Op::DotBf16:
            return "dot_bf16";
        case Op::SumLanes:
            return "sum_lanes";
        case Op::ProductLanes:
            return "product_lanes";
        case Op::MinLanes:
            return "min_lanes";
        case Op::MaxLanes:
            return "max_lanes";
        case Op::AllLanes:
            return "all_lanes";
        case Op::AnyLanes:
            return "any_lanes";
    }
    return "?";
}

static const char* products_text(TileProducts products) {
    switch (products) {
        case TileProducts::Unsigned:
            return "unsigned";
        case TileProducts::UnsignedSigned:
            return "unsigned_signed";
        case TileProducts::SignedUnsigned:
            return "signed_unsigned";
        case TileProducts::Signed:
            return "signed";
        case TileProducts::Bf16:
            return "bf16";
    }
    return "?";
}

static const char* products_text(MatrixProducts products) {
    switch (products) {
        case MatrixProducts::Tf32:
            return "tf32";
        case MatrixProducts::F16:
            return "f16";
        case MatrixProducts::Bf16:
            return "bf16";
        case MatrixProducts::U8:
            return "u8";
        case MatrixProducts::U8I8:
            return "u8 i8";
        case MatrixProducts::I8U8:
            return "i8 u8";
        case MatrixProducts::I8:
            return "i8";
    }
    return "?";
}

std::string type_text(Type type) {
    const char* const kinds[] = {"bool", "i32", "int", "f32", "f64"};
    const char* const kind = kinds[static_cast<size_t>(type.kind)];
    return type.lanes == 1 ? kind : fmt::format("{}x{}", kind, type.lanes);
}

namespace {

// Each expression gets a name at its first use: `%3 = add(%1, %2)`.
class Printer {
public:
    explicit Printer(const Function& function) : f_(function), names_(function.exprs.size()) {}

    std::string print() {
        text_ = fmt::format("kernel {} items {}{}{}{}\n",
                            f_.name,
                            f_.items,
                            f_.group > 0 ? fmt::format(" group {}", f_.group) : "",
                            f_.anywhere ? " anywhere" : "",
                            f_.aligned ? " aligned" : "");
        for (size_t i = 0; i < f_.buffers.size(); ++i) {
            const Buffer& b = f_.buffers[i];
            const char* const kind = b.shared ? "shared" : "scratch";
            text_ += fmt::format("  buffer b{}: {}{}{}\n",
                                 i,
                                 tensor::dtype_name(b.dtype),
                                 b.written ? " written" : "",
                                 b.scratch > 0 ? fmt::format(" {} {}", kind, b.scratch) : "");
        }
        for (size_t i = 0; i < f_.tiles.size(); ++i) {
            text_ += fmt::format("  tile t{}: {}x{}\n", i, f_.tiles[i].rows, f_.tiles[i].bytes);
        }
        for (size_t i = 0; i < f_.locals.size(); ++i) {
            text_ += fmt::format("  local l{}: {}\n", i, type_text(f_.locals[i].type));
        }
        block(f_.body, 1);
        return std::move(text_);
    }

private:
    std::string var(VarId id) { return id == f_.item ? "item" : fmt::format("v{}", id.value); }

    std::string address(const Address& a, int depth) {
        std::string text = fmt::format("{}", a.offset);
        for (const AddressTerm& term : a.terms) {
            text += fmt::format(" + {}*{}", term.factor, var(term.var));
        }
        if (a.dynamic.valid()) text += " + " + name(a.dynamic, depth);
        if (a.lane_stride != 1) text += fmt::format(" by {}", a.lane_stride);
        return text;
    }

    std::string name(ExprId id, int depth) {
        const Expr& e = f_[id];
        if (e.op == Op::Constant) {
            if (!e.type.real()) return fmt::format("{}", e.integer);
            return fmt::format("{:a}{}", e.real, e.type.kind == Kind::F32 ? "f" : "");
        }
        if (e.op == Op::Var) return var(make_id<VarId>(static_cast<size_t>(e.integer)));
        if (names_[id.value] == 0) {
            const std::string text = made(e, depth);
            names_[id.value] = ++count_;
            line(depth, fmt::format("%{} = {}", count_, text));
        }
        return fmt::format("%{}", names_[id.value]);
    }

    std::string made(const Expr& e, int depth) {
        if (e.op == Op::Local) return fmt::format("l{}", e.integer);
        if (e.op == Op::Load) {
            return fmt::format("{} b{}[{}]{}",
                               type_text(e.type),
                               e.buffer.value,
                               address(e.address, depth),
                               e.mask.valid() ? " where " + name(e.mask, depth) : "");
        }
        std::string text = fmt::format("{} {}", type_text(e.type), e.name ? e.name : op_text(e.op));
        for (size_t i = 0; i < e.args.size(); ++i) {
            text += (i == 0 ? "(" : ", ") + name(e.args[i], depth);
        }
        if (e.op == Op::FirstHalves || e.op == Op::SecondHalves || e.op == Op::DotBytes) {
            text += fmt::format(", {}", e.integer);
        }
        return e.args.empty() ? text : text + ")";
    }

    void line(int depth, const std::string& text) {
        text_ += fmt::format("{:{}}{}\n", "", depth * 2, text);
    }

    void block(const Block& statements, int depth) {
        for (const Stmt& statement : statements) {
            match(
                statement.node,
                [&](const For& s) {
                    const std::string begin = name(s.begin, depth);
                    line(depth,
                         fmt::format("for {} from {} to {} by {}",
                                     var(s.var),
                                     begin,
                                     name(s.end, depth),
                                     s.step));
                    block(s.body, depth + 1);
                },
                [&](const If& s) {
                    line(depth, "if " + name(s.condition, depth));
                    block(s.body, depth + 1);
                },
                [&](const StoreStmt& s) {
                    const std::string value = name(s.value, depth);
                    const std::string mask =
                        s.mask.valid() ? " where " + name(s.mask, depth) : std::string();
                    line(depth,
                         fmt::format("b{}[{}] = {}{}",
                                     s.buffer.value,
                                     address(s.address, depth),
                                     value,
                                     mask));
                },
                [&](const Set& s) {
                    line(depth, fmt::format("l{} = {}", s.local.value, name(s.value, depth)));
                },
                [&](const Let& s) { name(s.value, depth); },
                [&](const Bind& s) {
                    line(depth, fmt::format("{} = {}", var(s.var), name(s.value, depth)));
                },
                [&](const Prefetch& s) {
                    line(
                        depth,
                        fmt::format("prefetch b{}[{}]", s.buffer.value, address(s.address, depth)));
                },
                [&](const TileStmt& s) { line(depth, tile(s, depth)); },
                [&](const Barrier& s) {
                    const bool asks = s.value.valid();
                    const std::string any = asks ? name(s.value, depth) : std::string();
                    line(depth,
                         asks ? fmt::format("l{} = barrier any {}", s.any.value, any) : "barrier");
                },
                [&](const Exchange& s) {
                    const std::string value = name(s.value, depth);
                    line(depth, fmt::format("l{} = {} of {}", s.local.value, value, s.distance));
                },
                [&](const CopyStmt& s) { line(depth, copy(s, depth)); },
                [&](const MatrixStmt& s) { line(depth, matrix(s, depth)); });
        }
    }

    std::string copy(const CopyStmt& s, int depth) {
        if (s.action == CopyAction::EndBatch) return "end of batch";
        if (s.action == CopyAction::Await) return fmt::format("await all but {}", s.later);
        const std::string to = address(s.at, depth);
        const std::string from = address(s.source, depth);
        const std::string wanted =
            s.wanted.valid() ? " where " + name(s.wanted, depth) : std::string();
        return fmt::format(
            "copy b{}[{}] = b{}[{}] x{}{}", s.to.value, to, s.from.value, from, s.elements, wanted);
    }

    std::string matrix(const MatrixStmt& s, int depth) {
        std::string text;
        for (const LocalId total : s.totals) text += fmt::format("l{} ", total.value);
        text += "+=";
        for (const ExprId word : s.a) text += " " + name(word, depth);
        text += " *";
        for (const ExprId word : s.b) text += " " + name(word, depth);
        return text + " " + products_text(s.products);
    }

    std::string tile(const TileStmt& s, int depth) {
        const auto memory = [&] {
            return fmt::format(
                "b{}[{}] rows by {}", s.buffer.value, address(s.address, depth), s.stride);
        };
        switch (s.action) {
            case TileAction::Zero:
                return fmt::format("t{} = 0", s.tile);
            case TileAction::Load:
                return fmt::format("t{} = {}", s.tile, memory());
            case TileAction::Store:
                return fmt::format("{} = t{}", memory(), s.tile);
            case TileAction::Dot:
                break;
        }
        return fmt::format("t{} += t{} * t{} {}", s.tile, s.a, s.b, products_text(s.products));
    }

    const Function& f_;
    std::vector<uint32_t> names_;
    uint32_t count_ = 0;
    std::string text_;
};

class Verifier {
public:
    explicit Verifier(const Function& function)
        : f_(function), bound_(function.vars.size()), seen_(function.exprs.size()) {}

    std::string verify() {
        if (f_.item.valid()) bound_[f_.item.value] = true;
        if (f_.tiles.size() > kMostTiles) fail("too many tiles");
        for (const TileRegister& tile : f_.tiles) {
            const bool good = tile.rows > 0 && tile.rows <= kMostTileRows && tile.bytes > 0 &&
                              tile.bytes <= kTileBytes && tile.bytes % 4 == 0;
            if (!good) fail("a tile of another size");
        }
        const size_t arguments = f_.argument_count();
        for (size_t i = arguments; i < f_.buffers.size(); ++i) {
            if (f_.buffers[i].scratch <= 0) fail("an argument behind scratch memory");
        }
        block(f_.body);
        if (error_.empty()) error_ = verify_groups(f_);
        return error_;
    }

private:
    void fail(std::string message) {
        if (error_.empty()) error_ = std::move(message);
    }

    void address(const Address& a) {
        for (const AddressTerm& term : a.terms) {
            if (!bound_[term.var.value]) fail(fmt::format("v{} has no value", term.var.value));
        }
        if (!a.dynamic.valid()) return;
        expr(a.dynamic);
        if (f_[a.dynamic].type.kind != Kind::Int) fail("an address that is not an int");
    }

    void expr(ExprId id) {
        const Expr& e = f_[id];
        if (e.op == Op::Var && !bound_[static_cast<size_t>(e.integer)]) {
            fail(fmt::format("v{} has no value", e.integer));
        }
        if (seen_[id.value]) return;
        seen_[id.value] = true;
        for (const ExprId arg : e.args) {
            if (arg.value >= id.value) return fail("an expression before what it is made of");
            expr(arg);
        }
        if (e.op == Op::Read || e.op == Op::Assume) fail("an expression of stages");
        if (e.op == Op::Load) {
            if (e.buffer.value >= f_.buffers.size()) return fail("a load from no buffer");
            address(e.address);
            if (e.mask.valid()) expr(e.mask);
        }
        const bool mixed = e.op >= Op::Add && e.op <= Op::CopySign;
        for (const ExprId arg : e.args) {
            if (mixed && f_[arg].type != e.type) {
                fail(fmt::format("{} of {} gives {}",
                                 op_text(e.op),
                                 type_text(f_[arg].type),
                                 type_text(e.type)));
            }
        }
        for (size_t i = 0; e.op == Op::DotBytes && i < e.args.size(); ++i) {
            const bool good = e.type.kind == Kind::I32 && f_[e.args[i]].type == e.type;
            if (!good) fail("a dot of something else than bytes");
        }
        if (e.op == Op::DotBf16) {
            const Type pairs{Kind::I32, e.type.lanes};
            const bool good = e.type.kind == Kind::F32 && f_[e.args[0]].type == e.type &&
                              f_[e.args[1]].type == pairs && f_[e.args[2]].type == pairs;
            if (!good) fail("a dot of something else than pairs of bf16");
        }
        if (e.op == Op::Select && f_[e.args[0]].type != Type{Kind::Bool, e.type.lanes}) {
            fail("a select by something else than a bool");
        }
    }

    void block(const Block& statements) {
        std::vector<VarId> here;
        const auto bind = [&](VarId var) {
            bound_[var.value] = true;
            here.push_back(var);
        };
        for (const Stmt& statement : statements) {
            match(
                statement.node,
                [&](const For& s) {
                    expr(s.begin);
                    expr(s.end);
                    bind(s.var);
                    block(s.body);
                },
                [&](const If& s) {
                    expr(s.condition);
                    if (f_[s.condition].type != Type{Kind::Bool}) fail("an if by a vector");
                    block(s.body);
                },
                [&](const StoreStmt& s) {
                    expr(s.value);
                    address(s.address);
                    if (s.mask.valid()) expr(s.mask);
                    const Buffer& to = f_.buffers[s.buffer.value];
                    if (!to.written) fail("a store to a buffer that is read only");
                    if (kind_of(to.dtype) != f_[s.value].type.kind) fail("a store of another kind");
                },
                [&](const Set& s) {
                    expr(s.value);
                    if (f_[s.value].type != f_.locals[s.local.value].type) {
                        fail("a local set to another type");
                    }
                },
                [&](const Let& s) { expr(s.value); },
                [&](const Bind& s) {
                    expr(s.value);
                    bind(s.var);
                },
                [&](const Prefetch& s) { address(s.address); },
                [&](const TileStmt& s) { tile(s); },
                [&](const Barrier& s) {
                    if (s.any.valid() != s.value.valid()) return fail("half of a question");
                    if (!s.value.valid()) return;
                    expr(s.value);
                    const Type one{Kind::Bool};
                    const bool good = f_[s.value].type == one && f_.locals[s.any.value].type == one;
                    if (!good) fail("a question about another type");
                },
                [&](const Exchange& s) {
                    expr(s.value);
                    const Type type = f_[s.value].type;
                    const bool good = type == f_.locals[s.local.value].type && type.lanes == 1;
                    if (!good) fail("an exchange of another type");
                    if (s.distance < 1 || s.distance >= kWarp) fail("an exchange with no item");
                },
                [&](const CopyStmt& s) { copy(s); },
                [&](const MatrixStmt& s) { matrix(s); });
        }
        for (const VarId var : here) bound_[var.value] = false;
    }

    void copy(const CopyStmt& s) {
        if (s.action != CopyAction::Copy) {
            if (s.later < 0) fail("less than no batch");
            return;
        }
        address(s.at);
        address(s.source);
        if (s.wanted.valid()) expr(s.wanted);
        const Buffer& to = f_.buffers[s.to.value];
        const Buffer& from = f_.buffers[s.from.value];
        if (!to.shared) fail("a copy to memory that no group has");
        if (to.dtype != from.dtype) fail("a copy of another type");
        const int64_t bytes = s.elements * tensor::dtype_size(to.dtype);
        if (bytes != 4 && bytes != 8 && bytes != 16) fail("a copy of another size");
    }

    void matrix(const MatrixStmt& s) {
        const Type type{of_bytes(s.products) ? Kind::I32 : Kind::F32};
        for (const LocalId total : s.totals) {
            if (f_.locals[total.value].type != type) fail("a total of another type");
        }
        const auto word = [&](ExprId id) {
            expr(id);
            if (f_[id].type != Type{Kind::I32}) fail("a word of another type");
        };
        std::ranges::for_each(s.a, word);
        std::ranges::for_each(s.b, word);
    }

    void tile(const TileStmt& s) {
        const auto known = [&](int id) {
            return id >= 0 && static_cast<size_t>(id) < f_.tiles.size();
        };
        const auto at = [&](int id) { return f_.tiles[static_cast<size_t>(id)]; };
        if (!known(s.tile)) return fail("no such tile");
        if (s.action == TileAction::Dot) {
            if (!known(s.a) || !known(s.b)) return fail("no such tile");
            const bool good = at(s.a).rows == at(s.tile).rows &&
                              at(s.b).bytes == at(s.tile).bytes &&
                              at(s.a).bytes == at(s.b).rows * 4;
            if (!good) fail("a product of tiles that do not fit");
        }
        if (s.action == TileAction::Load || s.action == TileAction::Store) {
            if (s.buffer.value >= f_.buffers.size()) return fail("a tile of no buffer");
            address(s.address);
            if (s.action == TileAction::Store && !f_.buffers[s.buffer.value].written) {
                fail("a store to a buffer that is read only");
            }
        }
    }

    const Function& f_;
    std::vector<bool> bound_;
    std::vector<bool> seen_;
    std::string error_;
};

}  // namespace

std::string print(const Function& function) { return Printer(function).print(); }

std::string verify(const Function& function) { return Verifier(function).verify(); }

}  // namespace lemma::loop
