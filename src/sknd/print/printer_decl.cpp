// SPDX-License-Identifier: Apache-2.0
#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

// ---- Types ----

void Printer::qualifier(Qualifier qualifier) {
    if (qualifier == Qualifier::None) return;
    out_.text(symbol(qualifier));
    out_.text(" ");
}

void Printer::type_spec(const TypeSpec& type) {
    if (type.optional) out_.text("optional ");
    qualifier(type.qualifier);
    out_.text(type.base.text);
    if (type.rank) {
        out_.text("^");
        parens(type.rank);
    }
    if (type.shape && type.shape->empty()) out_.text("[]");
    if (type.shape && !type.shape->empty()) {
        bracketed("[", "]", [&] {
            out_.fill([&] {
                separated(*type.shape, [&](const ExtentSpec& extent) { extent_spec(extent); });
            });
        });
    }
    if (type.pack) pack_spec(*type.pack);
}

void Printer::extent_spec(const ExtentSpec& extent) {
    if (extent.spread) out_.text("..");
    qualifier(extent.qualifier);
    expr(extent.extent);
    if (extent.bound) {
        out_.text("|");
        expr(extent.bound);
    }
    if (extent.pack) pack_spec(*extent.pack);
}

void Printer::pack_spec(const PackSpec& pack) {
    dots();
    if (!pack.length) return;
    bracketed("(", ")", [&] {
        qualifier(pack.qualifier);
        flush_expr(pack.length);
        if (!pack.bound) return;
        out_.text("|");
        expr(pack.bound);
    });
}

// ---- Declarations ----

void Printer::dtype_decl(const DtypeDecl& decl) {
    out_.text(decl.name.text);
    out_.text(": ");
    out_.text(decl.base.text);
    if (!decl.fallback) return;
    out_.text(" = ");
    out_.text(decl.fallback->text);
}

void Printer::param_decl(const ParamDecl& decl) {
    out_.group([&] {
        out_.text(decl.name.text);
        out_.text(": ");
        type_spec(decl.type);
        if (decl.value) {
            out_.text(" =");
            assigned_expr(decl.value);
        }
        loop_bounds(decl.bounds, {});
    });
}

// Belongs in the group of its statement: the bounds stay on the line if the whole statement fits.
void Printer::loop_bounds(const std::vector<LoopBound>& bounds, ExprId condition) {
    if (bounds.empty() && !condition) return;
    out_.nest([&] {
        if (!bounds.empty()) out_.text(",");
        out_.line();
        out_.fill([&] {
            separated(bounds, [&](const LoopBound& bound) {
                out_.text(bound.index.text);
                out_.text(" < ");
                expr(bound.bound);
            });
            if (!condition) return;
            if (!bounds.empty()) out_.line();
            out_.text("| ");
            expr(condition);
        });
    });
}

// ---- Left sides ----

void Printer::lvalue(const LValue& lvalue) {
    const auto items = [&] {
        separated(lvalue.items, [&](const LValueItem& item) { lvalue_item(item); });
    };
    lvalue.list ? bracketed("[", "]", [&] { out_.fill(items); }) : items();
}

void Printer::lvalue_item(const LValueItem& item) {
    const auto targets = [&] {
        separated(item.targets, [&](const LValueItem::Target& t) { target(t); });
    };
    if (item.omitted) out_.text("~");
    item.zip ? bracketed("(", ")", targets) : targets();
    if (item.pack) pack_spec(*item.pack);
}

void Printer::target(const LValueItem::Target& target) {
    out_.text(target.name.text);
    if (!target.type) return;
    out_.text(": ");
    type_spec(*target.type);
}

// ---- @using @assert @quantize ----

void Printer::using_stmt(const UsingStmt& stmt) {
    lvalue(stmt.lhs);
    out_.text(" =");
    assigned_expr(stmt.rhs);
}

void Printer::assert_stmt(const AssertStmt& stmt) {
    out_.group([&] {
        const bool open = stmt.message && ends_in_open_select(stmt.condition);
        open ? parens(stmt.condition) : flush_expr(stmt.condition);
        if (!stmt.message) return;
        out_.text(":");
        out_.nest([&] {
            out_.line();
            out_.fill([&] {
                expr(stmt.message);
                for (const AssertStmt::Printed& item : stmt.printed) {
                    out_.text(",");
                    out_.line();
                    printed(item);
                }
            });
        });
    });
}

void Printer::printed(const AssertStmt::Printed& printed) {
    if (printed.label) {
        out_.text(quoted(*printed.label, '\''));
        out_.text(": ");
    }
    expr(printed.value);
}

void Printer::quantize_stmt(const QuantizeStmt& stmt) {
    out_.text(stmt.tensor.text());
    out_.text(": ");
    out_.text(stmt.callee.text());
    type_arguments(stmt.types);
    attributes(stmt.attributes, nullptr);
}

// ---- @lower ----

void Printer::lower_stmt(const LowerStmt& stmt) {
    if (stmt.unroll) {
        out_.text("unroll");
        iter_count(*stmt.unroll);
        out_.text(" ");
    }
    if (!stmt.locals.empty() && khronos()) return locals_as_prefix(stmt);
    for (const LowerStmt::Local& item : stmt.locals) {
        local(item, false);
        out_.text(",");
        out_.hard_line();
    }
    formula(stmt);
}

// with z = …, w = …: y[i..] = …
void Printer::locals_as_prefix(const LowerStmt& stmt) {
    out_.group([&] {
        out_.text("with");
        out_.nest([&] {
            out_.line();
            separated(stmt.locals, [&](const LowerStmt::Local& item) {
                local(item, &item == &stmt.locals.back());
            });
            out_.text(":");
        });
        out_.line();
        formula(stmt);
    });
}

void Printer::local(const LowerStmt::Local& local, bool before_colon) {
    out_.text(local.name.text);
    out_.text(" =");
    if (!before_colon || !ends_in_open_select(local.value)) return assigned_expr(local.value);
    out_.text(" ");
    parens(local.value);
}

void Printer::formula(const LowerStmt& stmt) {
    out_.group([&] {
        expr(stmt.target);
        out_.text(" ");
        out_.text(symbol(stmt.op, options_.spelling));
        assigned_expr(stmt.value);
        loop_bounds(stmt.bounds, stmt.condition);
    });
}

void Printer::iter_count(const IterCount& count) {
    out_.text("..(");
    if (count.index) {
        out_.text(count.index->text);
        out_.text(count.count ? " -> " : " ->");
    }
    if (count.count) expr(count.count);
    out_.text(")");
}

}  // namespace lemma::sknd
