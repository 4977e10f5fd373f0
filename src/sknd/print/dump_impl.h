// SPDX-License-Identifier: Apache-2.0
// sknd/print/dump_impl.h — dump_tree of printer.h: one statement per line, expressions as (operator
// operands…). It omits spans, parentheses, spelling and the pieces of strings only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

class Dumper {
public:
    explicit Dumper(const Module& module) : module_(module) {}

    std::string run();

private:
    // ---- Writing ----

    // An item on its own line, with its content indented.
    void open(std::string_view head);
    void close();
    void word(std::string_view text);
    template <class Body>
    void nested(std::string_view head, Body body) {
        word("(");
        out_ += head;
        body();
        out_ += ')';
    }

    // ---- Expressions ----

    void expr(ExprId id);
    void exprs(const std::vector<ExprId>& ids) {
        for (const ExprId id : ids) expr(id);
    }
    void optional_expr(ExprId id) { id ? expr(id) : word("_"); }
    ExprId without_parens(ExprId id) const;
    std::string head(ExprId id) const;
    ExprId first_operand(ExprId id) const;
    void other_operands(ExprId id);
    void string(const StringLiteral& literal);

    // ---- Declarations ----

    void type(const TypeSpec& type);
    void pack(const PackSpec& pack);
    void extent(const ExtentSpec& extent);
    void bounds(const std::vector<LoopBound>& bounds);
    void lvalue(const LValue& lvalue);
    void count(const IterCount& count);
    void types(const std::vector<Name>& types);
    void attributes(const std::vector<AttributeArg>& attributes);

    void dump(const Definition& definition);
    void dump_block(const Definition& definition, BlockKind kind);
    void dump(const DtypeDecl& decl);
    void dump(const ParamDecl& decl);
    void dump(const UsingStmt& stmt);
    void dump(const AssertStmt& stmt);
    void dump(const LowerStmt& stmt);
    void dump(const Component& component);
    void dump(const QuantizeStmt& stmt);

    void region(std::string_view role, RegionId id);
    void region_of(const BadRegion&) { word("bad"); }
    void region_of(const Invocation& invocation);
    void region_of(const Value& value);
    void region_of(const Block& block);
    void region_of(const Branch& branch);
    void region_of(const Loop& loop);

    const Module& module_;
    std::string out_;
    int depth_ = 0;
};

}  // namespace lemma::sknd
