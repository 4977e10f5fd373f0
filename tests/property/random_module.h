// SPDX-License-Identifier: Apache-2.0
// tests/property/random_module.h — random modules, valid by the grammar. The same seed makes the
// same module.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "random_exprs.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

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
                if (one_in(2)) printed.label = pick<std::string_view>({"x", "it's", "{\\}", "\n"});
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
