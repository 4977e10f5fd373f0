// SPDX-License-Identifier: Apache-2.0
#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

namespace {

// After this many results, a call that does not fit goes on the next line.
constexpr size_t kManyResults = 3;

template <class T>
const T* as(const Module& module, RegionId id) {
    return id ? std::get_if<T>(&module.regions[id].node) : nullptr;
}

}  // namespace

// ---- Components ----

void Printer::components(const std::vector<Component>& components) {
    for (const Component& item : components) {
        const TextRange extent = statement_extent(item.span);
        std::vector<TextRange> blocks;
        find_blocks(item.body, blocks);
        begin_item(extent, Gap::Keep, blocks);
        component(item);
        out_.text(";");
        end_item(extent.end);
    }
}

void Printer::component(const Component& component) {
    out_.fill([&] {
        out_.nest(
            [&] { separated(component.results, [&](const LValue& result) { lvalue(result); }); });
    });
    out_.text(" =");
    const bool call = as<Invocation>(module_, component.body) != nullptr;
    if (!call || component.results.size() < kManyResults) return assigned_region(component.body);
    out_.group([&] {
        out_.nest([&] {
            out_.line();
            region(component.body);
        });
    });
}

void Printer::assigned_region(RegionId id) {
    if (id && !module_.regions[id].label) {
        const auto* value = as<Value>(module_, id);
        if (value && !reads_as_invocation(value->expr)) return assigned_expr(value->expr);
        if (const auto* loop = as<Loop>(module_, id)) return assigned_loop(*loop);
        if (as<Branch>(module_, id) && !has_block(id)) {
            return assigned_branch(*as<Branch>(module_, id));
        }
    }
    out_.text(" ");
    this->region(id);
}

void Printer::region(RegionId id) {
    if (!id) return out_.text("~bad~");
    const Region& region = module_.regions[id];
    if (region.label) {
        out_.text(region.label->text);
        out_.text(": ");
    }
    std::visit([&](const auto& node) { region_of(node, region); }, region.node);
}

void Printer::region_of(const Value& value, const Region&) {
    reads_as_invocation(value.expr) ? parens(value.expr) : expr(value.expr);
}

// ---- Invocations ----

void Printer::region_of(const Invocation& invocation, const Region&) {
    out_.text(invocation.callee.text());
    type_arguments(invocation.types);
    // With short arguments, the attributes are broken first: `}(x);` closes a broken call.
    const bool all_short =
        std::ranges::all_of(invocation.arguments, [&](ExprId id) { return is_short(id); });
    attributes(invocation.attributes, all_short ? &invocation.arguments : nullptr);
    if (!all_short || invocation.attributes.empty()) arguments(invocation.arguments);
}

void Printer::arguments(const std::vector<ExprId>& arguments) {
    if (arguments.empty()) return out_.text("()");
    if (arguments.size() == 1) return parens(arguments[0]);
    bracketed("(", ")", [&] { side_by_side_if_short(arguments, [&](ExprId id) { expr(id); }); });
}

void Printer::type_arguments(const std::vector<Name>& types) {
    if (types.empty()) return;
    out_.text("<");
    for (size_t i = 0; i < types.size(); ++i) {
        if (i > 0) out_.text(", ");
        out_.text(types[i].text);
    }
    out_.text(">");
}

// `{a=1, b=2}`, grouped with the arguments, if given.
void Printer::attributes(const std::vector<AttributeArg>& attributes,
                         const std::vector<ExprId>* arguments) {
    if (attributes.empty()) return;
    out_.text("{");
    out_.group([&] {
        out_.nest([&] {
            out_.soft_line();
            side_by_side_if_short(attributes, [&](const AttributeArg& attribute) {
                out_.text(attribute.name.text);
                out_.text("=");
                expr(attribute.value);
            });
        });
        out_.soft_line();
        out_.text("}");
        if (arguments) this->arguments(*arguments);
    });
}

// ---- Blocks ----

bool Printer::is_block(RegionId id) const { return as<Block>(module_, id) != nullptr; }

bool Printer::has_block(RegionId id) const {
    if (!id) return false;
    if (const auto* branch = as<Branch>(module_, id)) {
        for (const Branch::Arm& arm : branch->arms) {
            if (has_block(arm.condition) || has_block(arm.consequent)) return true;
        }
        return has_block(branch->alternative);
    }
    if (const auto* loop = as<Loop>(module_, id)) {
        return has_block(loop->pre_condition) || has_block(loop->body) ||
               has_block(loop->post_condition);
    }
    return is_block(id);
}

void Printer::find_blocks(RegionId id, std::vector<TextRange>& found) const {
    if (!id) return;
    if (const auto* branch = as<Branch>(module_, id)) {
        for (const Branch::Arm& arm : branch->arms) {
            find_blocks(arm.condition, found);
            find_blocks(arm.consequent, found);
        }
        find_blocks(branch->alternative, found);
    } else if (const auto* loop = as<Loop>(module_, id)) {
        find_blocks(loop->pre_condition, found);
        find_blocks(loop->body, found);
        find_blocks(loop->post_condition, found);
    } else if (is_block(id)) {
        found.push_back(braces_of(module_.regions[id]));
    }
}

TextRange Printer::braces_of(const Region& region) const {
    return inside_braces(region.span, region.label ? region.label->span.end : region.span.begin);
}

void Printer::region_of(const Block& block, const Region& region) {
    braces(braces_of(region), Gap::Keep, [&] {
        components(block.components);
        yields(block);
    });
}

void Printer::yields(const Block& block) {
    if (block.yields.empty() && !block.yield_span.valid()) return;
    const TextRange extent = statement_extent(block.yield_span);
    begin_item(extent, Gap::Keep);
    out_.text("yield ");
    out_.nest([&] { out_.fill([&] { separated(block.yields, [&](ExprId id) { expr(id); }); }); });
    out_.text(";");
    end_item(extent.end);
}

// ---- Branches ----

// Without blocks: `if`, `elif` and `else` get a line each if they do not fit on one line.
void Printer::assigned_branch(const Branch& branch) {
    const auto behind = [&](std::string_view keyword, RegionId id) {
        out_.text(keyword);
        out_.nest([&] {
            out_.line();
            region(id);
        });
    };
    out_.group([&] {
        out_.nest([&] {
            for (const Branch::Arm& arm : branch.arms) {
                out_.line();
                out_.group([&] {
                    out_.text(&arm == &branch.arms.front() ? "if " : "elif ");
                    region(arm.condition);
                    behind(" then", arm.consequent);
                });
            }
            out_.line();
            out_.group([&] { behind("else", branch.alternative); });
        });
    });
}

// With blocks: other regions go on their own line, indented, if they do not fit.
void Printer::region_of(const Branch& branch, const Region&) {
    for (const Branch::Arm& arm : branch.arms) {
        out_.text(&arm == &branch.arms.front() ? "if " : "elif ");
        region(arm.condition);
        branch_part(" then", arm.consequent, true);
    }
    branch_part("else", branch.alternative, false);
}

void Printer::branch_part(std::string_view keyword, RegionId id, bool more) {
    if (has_block(id)) {
        out_.text(keyword);
        out_.text(" ");
        region(id);
        if (more) out_.text(" ");
        return;
    }
    out_.group([&] {
        out_.text(keyword);
        out_.nest([&] {
            out_.line();
            region(id);
        });
        if (more) out_.line();
    });
}

// ---- Loops ----

// The clauses get a line each if they do not fit on one line. `do` is then aligned with the
// results, so that its block is indented by one step.
void Printer::assigned_loop(const Loop& loop) {
    if (has_block(loop.pre_condition)) {
        out_.text(" ");
        return region_of(loop, {});
    }
    const bool one_group = !has_block(loop.body) && !has_block(loop.post_condition);
    out_.group([&] {
        loop_clauses(loop, true);
        out_.line();
        out_.text(loop.unroll ? "unroll" : "do");
        if (loop.count) iter_count(*loop.count);
        if (one_group) loop_body(loop);
    });
    if (!one_group) loop_body(loop);
}

void Printer::region_of(const Loop& loop, const Region&) {
    loop_clauses(loop, false);
    out_.text(loop.unroll ? "unroll" : "do");
    if (loop.count) iter_count(*loop.count);
    loop_body(loop);
}

void Printer::loop_clauses(const Loop& loop, bool breakable) {
    const auto clause = [&](std::string_view keyword, auto body) {
        if (breakable) out_.line();
        out_.text(keyword);
        body();
        if (!breakable) out_.text(" ");
    };
    const auto filled = [&](const auto& items, auto body) {
        return [&items, body, this] {
            out_.nest([&] { out_.fill([&] { separated(items, body); }); });
        };
    };
    const auto all = [&] {
        if (!loop.carried.empty()) {
            clause("with ", filled(loop.carried, [&](const auto& item) { carried(item); }));
        }
        if (!loop.scans.empty()) {
            clause("for ", filled(loop.scans, [&](const auto& item) { scan(item); }));
        }
        if (loop.pre_condition) clause("while ", [&] { region(loop.pre_condition); });
    };
    breakable ? out_.nest(all) : all();
}

void Printer::scan(const Loop::Scan& scan) {
    out_.text(scan.name.text);
    out_.text(" : ");
    expr(scan.pack);
}

void Printer::carried(const Loop::Carried& carried) {
    out_.text(carried.name.text);
    if (carried.type) {
        out_.text(": ");
        type_spec(*carried.type);
    }
    out_.text(" = ");
    expr(carried.initial);
}

void Printer::loop_body(const Loop& loop) {
    out_.text(" ");
    region(loop.body);
    if (!loop.post_condition) return;
    out_.text(" while ");
    region(loop.post_condition);
}

}  // namespace lemma::sknd
