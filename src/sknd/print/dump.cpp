// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "sknd/print/dump_impl.h"
#include "sknd/print/printer_impl.h"

namespace lemma::sknd {

std::string Dumper::run() {
    for (const Import& import : module_.imports) {
        for (const QualifiedName& name : import.modules) {
            open("import");
            word(name.text());
            close();
        }
    }
    for (const Definition& definition : module_.definitions) dump(definition);
    return std::move(out_);
}

// ---- Writing ----

void Dumper::open(std::string_view head) {
    if (depth_ > 0) out_ += '\n';
    fmt::format_to(std::back_inserter(out_), "{:{}}({}", "", depth_ * 2, head);
    ++depth_;
}

void Dumper::close() {
    out_ += ')';
    if (--depth_ == 0) out_ += '\n';
}

void Dumper::word(std::string_view text) {
    out_ += ' ';
    out_ += text;
}

// ---- Types and left sides ----

void Dumper::type(const TypeSpec& type) {
    nested("type", [&] {
        if (type.optional) word("optional");
        if (type.qualifier != Qualifier::None) word(symbol(type.qualifier));
        word(type.base.text);
        if (type.rank) nested("rank", [&] { expr(type.rank); });
        if (type.shape) {
            nested("shape", [&] {
                for (const ExtentSpec& item : *type.shape) extent(item);
            });
        }
        if (type.pack) pack(*type.pack);
    });
}

void Dumper::extent(const ExtentSpec& extent) {
    nested(extent.spread ? "spread" : "extent", [&] {
        if (extent.qualifier != Qualifier::None) word(symbol(extent.qualifier));
        expr(extent.extent);
        if (extent.bound) nested("bound", [&] { expr(extent.bound); });
        if (extent.pack) pack(*extent.pack);
    });
}

void Dumper::pack(const PackSpec& pack) {
    nested("pack", [&] {
        if (pack.qualifier != Qualifier::None) word(symbol(pack.qualifier));
        if (pack.length) expr(pack.length);
        if (pack.bound) nested("bound", [&] { expr(pack.bound); });
    });
}

void Dumper::bounds(const std::vector<LoopBound>& bounds) {
    for (const LoopBound& bound : bounds) {
        nested("for", [&] {
            word(bound.index.text);
            expr(bound.bound);
        });
    }
}

void Dumper::lvalue(const LValue& lvalue) {
    const auto dump_item = [&](const LValueItem& item) {
        nested(item.zip ? "zip" : "item", [&] {
            if (item.omitted) word("~");
            for (const LValueItem::Target& target : item.targets) {
                word(target.name.text);
                if (target.type) type(*target.type);
            }
            if (item.pack) pack(*item.pack);
        });
    };
    nested(lvalue.list ? "list" : "to", [&] {
        for (const LValueItem& item : lvalue.items) dump_item(item);
    });
}

void Dumper::count(const IterCount& count) {
    nested("count", [&] {
        if (count.index) nested("index", [&] { word(count.index->text); });
        if (count.count) expr(count.count);
    });
}

void Dumper::types(const std::vector<Name>& types) {
    for (const Name& name : types) nested("type", [&] { word(name.text); });
}

void Dumper::attributes(const std::vector<AttributeArg>& attributes) {
    for (const AttributeArg& attribute : attributes) {
        nested("attrib", [&] {
            word(attribute.name.text);
            expr(attribute.value);
        });
    }
}

// ---- Definitions ----

void Dumper::dump(const Definition& definition) {
    open(definition.graph ? "graph" : "operator");
    if (definition.is_public) word("public");
    word(definition.name.text);
    for (const BlockSpan& block : printed_blocks(definition)) {
        open(block_name(block.kind));
        dump_block(definition, block.kind);
        close();
    }
    close();
}

void Dumper::dump_block(const Definition& d, BlockKind kind) {
    const auto all = [&](const auto& items) {
        for (const auto& item : items) dump(item);
    };
    switch (kind) {
        case BlockKind::Dtype:
            return all(d.dtypes);
        case BlockKind::Attrib:
            return all(d.attribs);
        case BlockKind::Input:
            return all(d.inputs);
        case BlockKind::Using:
            return all(d.usings);
        case BlockKind::Constant:
            return all(d.constants);
        case BlockKind::Variable:
            return all(d.variables);
        case BlockKind::Output:
            return all(d.outputs);
        case BlockKind::Assert:
            return all(d.asserts);
        case BlockKind::Lower:
            return all(d.lowers);
        case BlockKind::Compose:
            return all(d.composes);
        case BlockKind::Update:
            return all(d.updates);
        case BlockKind::Quantize:
            return all(d.quantizes);
    }
}

void Dumper::dump(const DtypeDecl& decl) {
    open("dtype");
    word(decl.name.text);
    word(decl.base.text);
    if (decl.fallback) word(decl.fallback->text);
    close();
}

void Dumper::dump(const ParamDecl& decl) {
    open("param");
    word(decl.name.text);
    type(decl.type);
    if (decl.value) expr(decl.value);
    bounds(decl.bounds);
    close();
}

void Dumper::dump(const UsingStmt& stmt) {
    open("using");
    lvalue(stmt.lhs);
    expr(stmt.rhs);
    close();
}

void Dumper::dump(const AssertStmt& stmt) {
    open("assert");
    expr(stmt.condition);
    if (stmt.message) expr(stmt.message);
    for (const AssertStmt::Printed& printed : stmt.printed) {
        nested("print", [&] {
            if (printed.label) word(quoted(*printed.label, '"'));
            expr(printed.value);
        });
    }
    close();
}

void Dumper::dump(const LowerStmt& stmt) {
    open("lower");
    if (stmt.unroll) count(*stmt.unroll);
    for (const LowerStmt::Local& local : stmt.locals) {
        nested("local", [&] {
            word(local.name.text);
            expr(local.value);
        });
    }
    nested(symbol(stmt.op, Spelling::Spec), [&] {
        expr(stmt.target);
        expr(stmt.value);
    });
    bounds(stmt.bounds);
    if (stmt.condition) nested("if", [&] { expr(stmt.condition); });
    close();
}

void Dumper::dump(const QuantizeStmt& stmt) {
    open("quantize");
    word(stmt.tensor.text());
    word(stmt.callee.text());
    types(stmt.types);
    attributes(stmt.attributes);
    close();
}

// ---- Compositions ----

void Dumper::dump(const Component& component) {
    open("component");
    for (const LValue& result : component.results) lvalue(result);
    region("from", component.body);
    close();
}

void Dumper::region(std::string_view role, RegionId id) {
    if (!id) return;
    const Region& region = module_.regions[id];
    open(role);
    if (region.label) nested("label", [&] { word(region.label->text); });
    std::visit([&](const auto& node) { region_of(node); }, region.node);
    close();
}

void Dumper::region_of(const Invocation& invocation) {
    word("call");
    word(invocation.callee.text());
    types(invocation.types);
    attributes(invocation.attributes);
    nested("args", [&] { exprs(invocation.arguments); });
}

void Dumper::region_of(const Value& value) {
    word("value");
    expr(value.expr);
}

void Dumper::region_of(const Block& block) {
    word("block");
    for (const Component& component : block.components) dump(component);
    open("yield");
    exprs(block.yields);
    close();
}

void Dumper::region_of(const Branch& branch) {
    word("branch");
    for (const Branch::Arm& arm : branch.arms) {
        region("if", arm.condition);
        region("then", arm.consequent);
    }
    region("else", branch.alternative);
}

void Dumper::region_of(const Loop& loop) {
    word(loop.unroll ? "unroll" : "loop");
    if (loop.count) count(*loop.count);
    for (const Loop::Carried& carried : loop.carried) {
        nested("with", [&] {
            word(carried.name.text);
            if (carried.type) type(*carried.type);
            expr(carried.initial);
        });
    }
    for (const Loop::Scan& scan : loop.scans) {
        nested("for", [&] {
            word(scan.name.text);
            expr(scan.pack);
        });
    }
    region("while", loop.pre_condition);
    region("do", loop.body);
    region("until-not", loop.post_condition);
}

std::string dump_tree(const Module& module) { return Dumper(module).run(); }

}  // namespace lemma::sknd
