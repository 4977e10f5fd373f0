// tests/property/random_module.h — random syntax trees, valid by the grammar, without parentheses
// where a program would leave them out. The same seed makes the same module.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// Throws the dice, and makes names and expressions.
class RandomExprs {
public:
    explicit RandomExprs(uint64_t seed) : random_(seed) {}

protected:
    using ExprNode = decltype(Expr::node);

    // ---- Dice ----

    size_t below(size_t count) { return random_() % count; }
    bool one_in(size_t count) { return below(count) == 0; }
    template <class T>
    T pick(std::initializer_list<T> items) {
        return items.begin()[below(items.size())];
    }
    template <class Make>
    auto some(size_t least, size_t most, Make make) {
        std::vector<decltype(make())> items;
        for (size_t count = least + below(most - least + 1); count > 0; --count) {
            items.push_back(make());
        }
        return items;
    }

    // ---- Names ----

    Name name() {
        return {pick<std::string>({"x", "y1", "_t", "axes", "is_on", "input", "e1", "rank"}), {}};
    }
    Name type_name() { return {pick<std::string>({"int", "real", "bool", "str", "T"}), {}}; }
    QualifiedName qualified_name() {
        return {some(1, 3, [&] { return name(); }), {}};
    }

    // ---- Expressions ----

    ExprId add(ExprNode node) { return module_.exprs.add({.span = {}, .node = std::move(node)}); }
    ExprId maybe(int depth) { return one_in(2) ? expr(depth) : ExprId{}; }

    ExprId expr(int depth) {
        if (depth <= 0 || one_in(5)) return leaf();
        const int d = depth - 1;
        switch (below(16)) {
            case 0:
                return add(Member{expr(d), pick({MemberKind::Shape, MemberKind::Rank})});
            case 1:
                return add(Paren{expr(d)});
            case 2:
                return add(List{some(0, 4, [&] { return list_item(d); })});
            case 3:
                return add(Index{expr(d), one_in(3) ? open_range(d) : expr(d)});
            case 4:
                return access(expr(d), d);
            case 5:
                return add(Substitution{expr(d), one_in(3) ? open_range(d) : expr(d), expr(d)});
            case 6:
                return unary(d);
            case 7:
                return add(Select{expr(d), expr(d), maybe(d)});
            case 8:
                return add(Coalesce{expr(d), expr(d)});
            case 9:
                return add(NullTest{expr(d)});
            case 10:
                return fold(d);
            case 11:
                return add(Cast{type_name(), maybe(d)});
            case 12:
                return add(BuiltinCall{{pick<std::string>({"sin", "abs", "erf"}), {}}, expr(d)});
            case 13:
                return string(d);
            default:
                return binary(d);
        }
    }

    ExprId leaf() {
        switch (below(9)) {
            case 0:
                return add(IntLiteral{pick<int64_t>({0, 1, 42, INT64_MAX})});
            case 1:
                return add(RealLiteral{pick({0.0, 0.1, 5.0, 1e300, 1e-7, 123456.75}), ""});
            case 2:
                return add(RealLiteral{2.0, pick<std::string>({"2.", "2.0", "2e0", "0.2E+1"})});
            case 3:
                return add(BoolLiteral{one_in(2)});
            case 4:
                return one_in(2) ? add(InfLiteral{}) : add(PiLiteral{});
            case 5:
                return add(Identifier{pick<std::string>({"is", "in", "n"})});
            default:
                return add(Identifier{name().text});
        }
    }

    ExprId unary(int depth) {
        return add(Unary{pick({UnaryOp::Plus, UnaryOp::Minus, UnaryOp::Not}), expr(depth)});
    }

    ExprId binary(int depth) {
        const auto op = static_cast<BinaryOp>(below(static_cast<size_t>(BinaryOp::In) + 1));
        // `a < b > (c)` is a call with type arguments.
        const int right_depth = op == BinaryOp::Greater ? 0 : depth;
        const ExprId lhs = expr(depth);
        return add(Binary{op, lhs, expr(right_depth), {}});
    }

    ExprId fold(int depth) {
        const auto op = static_cast<FoldOp>(below(static_cast<size_t>(FoldOp::Uniform) + 1));
        return add(Fold{op, expr(depth), op <= FoldOp::Max && one_in(2), {}});
    }

    ExprId string(int depth) {
        using Part = StringLiteral::Part;
        if (in_string_) return add(StringLiteral{{Part{"plain", {}}}, {}});
        if (one_in(3)) {
            return add(
                StringLiteral{{Part{"it's {\n} ok", {}}}, {"'it\\'s '", "\"\\{\\n\"", "'\\} ok'"}});
        }
        in_string_ = true;
        std::vector<Part> parts = some(0, 3, [&] {
            const std::string text = pick<std::string>({"a b", "\t{\\}", "\"quoted\"", "'"});
            return one_in(2) ? Part{text, {}} : Part{"", expr(std::min(depth, 2))};
        });
        in_string_ = false;
        return add(StringLiteral{std::move(parts), {}});
    }

    // ---- Items ----

    ExprId open_range(int depth) { return add(Range{maybe(depth), maybe(depth), maybe(depth)}); }

    ExprId expansion(int depth) {
        if (!one_in(3)) return add(Expand{expr(depth), maybe(depth)});
        const ExprId zip = add(Zip{some(2, 3, [&] { return expr(depth); })});
        return add(Expand{zip, maybe(depth)});
    }

    ExprId list_item(int depth) {
        if (one_in(4)) return add(Range{expr(depth), expr(depth), maybe(depth)});
        return one_in(3) ? expansion(depth) : expr(depth);
    }

    ExprId access(ExprId base, int depth) {
        return add(Access{base, some(0, 3, [&] { return access_index(depth); })});
    }

    ExprId access_index(int depth) {
        if (in_lower_ && !in_string_ && one_in(3)) return guarded(depth);
        if (one_in(4)) return open_range(depth);
        return one_in(3) ? expansion(depth) : expr(depth);
    }

    ExprId guard(int depth) {
        if (one_in(2)) return add(Guard{expr(depth), {}, {}});
        return add(Guard{expr(depth), expr(depth), expr(depth)});
    }

    ExprId guarded(int depth) {
        switch (below(5)) {
            case 0:
                return add(Expand{guard(depth), {}});
            case 1:
                return add(Select{expr(depth), guard(depth), guard(depth)});
            case 2:
                return add(Coalesce{guard(depth), expr(depth)});
            case 3:
                return add(Substitution{expr(depth), expr(depth), guard(depth)});
            default:
                return guard(depth);
        }
    }

    std::mt19937_64 random_;
    Module module_;
    bool in_lower_ = false;
    bool in_string_ = false;
};

class RandomModule : RandomExprs {
public:
    explicit RandomModule(uint64_t seed) : RandomExprs(seed) {}

    Module make() {
        module_.imports =
            some(0, 2, [&] { return Import{some(1, 2, [&] { return qualified_name(); }), {}}; });
        module_.definitions = some(0, 2, [&] { return definition(); });
        return std::move(module_);
    }

private:
    static constexpr int kDepth = 4;

    ExprId top() { return expr(kDepth); }
    ExprId maybe_top() { return maybe(kDepth); }

    Definition definition() {
        Definition d;
        d.graph = one_in(3);
        d.is_public = one_in(3);
        d.name = name();
        d.dtypes = {{{"T", {}}, {"num", {}}, {}, {}}};
        if (one_in(2)) d.dtypes.push_back({{"S", {}}, {"type", {}}, type_name(), {}});
        std::vector<BlockKind> kinds;
        for (int kind = 0; kind <= static_cast<int>(BlockKind::Quantize); ++kind) {
            if (kind == 0 || one_in(4)) kinds.push_back(static_cast<BlockKind>(kind));
        }
        std::ranges::shuffle(kinds, random_);
        for (const BlockKind kind : kinds) {
            if (kind != BlockKind::Dtype) fill(d, kind);
            if (!one_in(4)) d.blocks.push_back({kind, {}, {}});
        }
        return d;
    }

    void fill(Definition& d, BlockKind kind) {
        const auto params = [&] { return some(0, 3, [&] { return param(); }); };
        switch (kind) {
            case BlockKind::Dtype:
                return;
            case BlockKind::Attrib:
                return void(d.attribs = params());
            case BlockKind::Input:
                return void(d.inputs = params());
            case BlockKind::Constant:
                return void(d.constants = params());
            case BlockKind::Variable:
                return void(d.variables = params());
            case BlockKind::Output:
                return void(d.outputs = params());
            case BlockKind::Using:
                d.usings = some(0, 3, [&] { return UsingStmt{lvalue(), top(), {}}; });
                return;
            case BlockKind::Assert:
                return void(d.asserts = some(0, 3, [&] { return assertion(); }));
            case BlockKind::Lower:
                return void(d.lowers = some(0, 3, [&] { return lowering(); }));
            case BlockKind::Compose:
                return void(d.composes = some(0, 3, [&] { return component(3); }));
            case BlockKind::Update:
                return void(d.updates = some(0, 2, [&] { return component(3); }));
            case BlockKind::Quantize:
                d.quantizes = some(0, 2, [&] {
                    return QuantizeStmt{
                        qualified_name(), qualified_name(), types(), attributes(), {}};
                });
                return;
        }
    }

    // ---- Types and declarations ----

    Qualifier qualifier() {
        return pick({Qualifier::None, Qualifier::None, Qualifier::Static, Qualifier::Dynamic});
    }

    PackSpec pack() {
        if (one_in(3)) return {};
        return {top(), qualifier(), {}, one_in(4) ? top() : ExprId{}};
    }

    ExtentSpec extent() {
        ExtentSpec extent;
        extent.spread = one_in(4);
        extent.qualifier = qualifier();
        extent.extent = one_in(4) ? add(Omitted{}) : top();
        if (one_in(3)) extent.bound = top();
        if (one_in(3)) extent.pack = pack();
        return extent;
    }

    TypeSpec type() {
        TypeSpec type;
        type.optional = one_in(3);
        type.qualifier = qualifier();
        type.base = type_name();
        if (one_in(5)) type.rank = top();
        if (one_in(2)) type.shape = some(0, 3, [&] { return extent(); });
        if (one_in(3)) type.pack = pack();
        return type;
    }

    std::vector<LoopBound> bounds() {
        return some(0, 3, [&] { return LoopBound{name(), top(), {}}; });
    }

    ParamDecl param() {
        ParamDecl param;
        param.name = name();
        param.type = type();
        if (one_in(2)) {
            param.value = top();
            param.bounds = bounds();
        }
        return param;
    }

    LValueItem::Target target() {
        LValueItem::Target target{name(), {}};
        if (one_in(4)) target.type = type();
        return target;
    }

    LValueItem lvalue_item() {
        LValueItem item;
        item.omitted = one_in(6);
        if (item.omitted) return item;
        item.zip = one_in(4);
        item.targets = item.zip ? some(1, 3, [&] { return target(); }) : std::vector{target()};
        const bool typed = !item.zip && item.targets[0].type;
        if (!typed && one_in(3)) item.pack = pack();
        return item;
    }

    LValue lvalue() {
        if (!one_in(3)) return {false, {lvalue_item()}, {}};
        return {true, some(1, 3, [&] { return lvalue_item(); }), {}};
    }

    AssertStmt assertion() {
        AssertStmt stmt;
        stmt.condition = top();
        if (one_in(2)) {
            stmt.message = string(2);
            stmt.printed = some(0, 3, [&] {
                AssertStmt::Printed printed{{}, top()};
                if (one_in(2)) printed.label = pick<std::string>({"x", "it's", "{\\}", "\n"});
                return printed;
            });
        }
        return stmt;
    }

    IterCount count() {
        IterCount count;
        if (one_in(2)) count.index = name();
        if (!count.index || one_in(2)) count.count = top();
        return count;
    }

    LowerStmt lowering() {
        in_lower_ = true;
        LowerStmt stmt;
        if (one_in(4)) stmt.unroll = count();
        stmt.locals = some(0, 2, [&] { return LowerStmt::Local{name(), top()}; });
        stmt.target = access(add(Identifier{name().text}), 3);
        stmt.op = static_cast<LowerOp>(below(static_cast<size_t>(LowerOp::Update) + 1));
        stmt.value = top();
        stmt.bounds = bounds();
        if (one_in(3)) stmt.condition = top();
        in_lower_ = false;
        return stmt;
    }

    // ---- Compositions ----

    std::vector<Name> types() {
        return some(0, 2, [&] { return type_name(); });
    }
    std::vector<AttributeArg> attributes() {
        return some(0, 3, [&] { return AttributeArg{name(), expr(3), {}}; });
    }

    Component component(int depth) {
        return {some(1, 3, [&] { return lvalue(); }), region(depth, true), {}};
    }

    // A loop inside a body would take the `while` behind the loop around it.
    RegionId region(int depth, bool control) {
        Region region;
        if (one_in(5)) region.label = name();
        const size_t kind = depth <= 0 ? below(4) : below(control ? 9 : 6);
        if (kind < 3) {
            region.node = Value{expr(3)};
        } else if (kind < 5) {
            const auto argument = [&] { return one_in(5) ? add(Omitted{}) : expr(3); };
            region.node =
                Invocation{qualified_name(), types(), {}, attributes(), some(0, 3, argument), {}};
        } else if (kind < 6) {
            const auto statement = [&] { return component(depth - 1); };
            region.node = Block{some(0, 2, statement), some(1, 2, [&] { return expr(2); }), {}};
        } else {
            region.node = kind < 8 ? decltype(region.node)(branch(depth - 1)) : loop(depth - 1);
        }
        return module_.regions.add(std::move(region));
    }

    Branch branch(int depth) {
        const auto arm = [&] { return Branch::Arm{region(depth, true), region(depth, true)}; };
        return {some(1, 3, arm), region(depth, true)};
    }

    Loop loop(int depth) {
        Loop loop;
        loop.carried = some(0, 2, [&] {
            Loop::Carried carried{name(), {}, expr(3)};
            if (one_in(3)) carried.type = type();
            return carried;
        });
        loop.scans = some(0, 2, [&] { return Loop::Scan{name(), expr(3)}; });
        if (one_in(3)) loop.pre_condition = region(depth, true);
        loop.unroll = one_in(3);
        if (one_in(2)) loop.count = count();
        loop.body = region(depth, false);
        if (one_in(3)) loop.post_condition = region(depth, true);
        return loop;
    }
};

}  // namespace lemma::sknd
