// SPDX-License-Identifier: Apache-2.0
// sknd/print/printer_impl.h — the implementation of printer.h: one class that walks the tree and
// writes into a text::Layout. Its functions are in printer_expr.cpp, printer_decl.cpp,
// printer_compose.cpp and printer_module.cpp.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sknd/print/printer.h"
#include "sknd/print/printer_ops.h"
#include "sknd/syntax/ast.h"
#include "text/item_printer.h"

namespace lemma::sknd {

class Printer : text::ItemPrinter {
public:
    Printer(const Module& module, const diag::SourceMap& sources, PrintOptions options)
        : ItemPrinter(module.comments, module.file, sources, options.max_columns),
          module_(module),
          options_(options) {}

    std::string print_module();
    std::string print_expr(ExprId id);

private:
    // ---- Expressions: printer_expr.cpp, printer_literal.cpp ----

    // In running text: operators on new lines are indented by one step.
    void expr(ExprId id, Level least = Level::Any);
    // On its own line: operators on new lines start at the same column.
    void flush_expr(ExprId id);
    // Before a `:`, which an open `c ? a` would take as its own.
    void expr_before_colon(ExprId id);
    // After `=`: on the next line if it does not fit, except for opening brackets.
    void assigned_expr(ExprId id);
    void parens(ExprId id);  // `(x)`

    void node(ExprId id);
    void node_of(const Binary&, ExprId id) { operators(id); }
    void node_of(const Fold&, ExprId id) { operators(id); }
    void node_of(const Member&, ExprId id) { postfix(id); }
    void node_of(const Index&, ExprId id) { postfix(id); }
    void node_of(const Access&, ExprId id) { postfix(id); }
    void node_of(const BadExpr&, ExprId) { out_.text("~bad~"); }
    void node_of(const Omitted&, ExprId) { out_.text("~"); }
    void node_of(const InfLiteral&, ExprId) { out_.text("inf"); }
    void node_of(const PiLiteral&, ExprId) { out_.text("pi"); }
    void node_of(const Identifier& identifier, ExprId) { out_.text(identifier.name); }
    void node_of(const IntLiteral& literal, ExprId);
    void node_of(const RealLiteral& literal, ExprId);
    void node_of(const BoolLiteral& literal, ExprId);
    void node_of(const StringLiteral& literal, ExprId);
    void node_of(const Paren& paren, ExprId);
    void node_of(const List& list, ExprId);
    void node_of(const Range& range, ExprId);
    void node_of(const Expand& expand, ExprId);
    void node_of(const Zip& zip, ExprId);
    void node_of(const Guard& guard, ExprId);
    void node_of(const Substitution& substitution, ExprId);
    void node_of(const Unary& unary, ExprId);
    void node_of(const Select& select, ExprId);
    void node_of(const Coalesce& coalesce, ExprId);
    void node_of(const NullTest& test, ExprId);
    void node_of(const Cast& cast, ExprId);
    void node_of(const BuiltinCall& call, ExprId);

    void operators(ExprId id);  // a chain of one level, such as a + b - c
    void right_operand(const Binary& binary, bool last);
    void postfix(ExprId id);  // a chain of x[i], x[i,] and x.shape
    void postfix_base(ExprId id);
    void access_indices(const std::vector<ExprId>& indices);
    void range_part(ExprId id);
    void dots();  // `..`, with a space if the word before would absorb a dot

    Level level_of(ExprId id) const;
    bool needs_parens(ExprId id, Level least) const;
    bool joins_chain(ExprId parent, ExprId lhs) const;
    bool breaks_at_operators(ExprId id) const;
    bool opens_bracket(ExprId id) const;
    bool is_short(ExprId id) const;
    bool is_short(const AttributeArg& attribute) const { return is_short(attribute.value); }
    bool ends_in_open_select(ExprId id) const;
    bool reads_as_invocation(ExprId id) const;
    std::vector<std::string> pieces_of(const StringLiteral& literal) const;
    std::string piece_of(const std::vector<StringLiteral::Part>& parts) const;
    std::string respelled(std::string_view piece, std::span<const ExprId>& formatted) const;

    // ---- Types and declarations: printer_decl.cpp ----

    void type_spec(const TypeSpec& type);
    void extent_spec(const ExtentSpec& extent);
    void pack_spec(const PackSpec& pack);
    void qualifier(Qualifier qualifier);
    void loop_bounds(const std::vector<LoopBound>& bounds, ExprId condition);
    void lvalue(const LValue& lvalue);
    void lvalue_item(const LValueItem& item);
    void target(const LValueItem::Target& target);
    void iter_count(const IterCount& count);
    void dtype_decl(const DtypeDecl& decl);
    void param_decl(const ParamDecl& decl);
    void using_stmt(const UsingStmt& stmt);
    void assert_stmt(const AssertStmt& stmt);
    void printed(const AssertStmt::Printed& printed);
    void lower_stmt(const LowerStmt& stmt);
    void locals_as_prefix(const LowerStmt& stmt);
    void local(const LowerStmt::Local& local, bool before_colon);
    void formula(const LowerStmt& stmt);
    void quantize_stmt(const QuantizeStmt& stmt);

    // ---- Compositions: printer_compose.cpp ----

    void component(const Component& component);
    void components(const std::vector<Component>& components);
    void region(RegionId id);
    void region_of(const BadRegion&, const Region&) { out_.text("~bad~"); }
    void region_of(const Value& value, const Region&);
    void region_of(const Invocation& invocation, const Region&);
    void region_of(const Block& block, const Region& region);
    void region_of(const Branch& branch, const Region&);
    void region_of(const Loop& loop, const Region&);
    void yields(const Block& block);
    void assigned_region(RegionId id);
    void assigned_branch(const Branch& branch);
    void branch_part(std::string_view keyword, RegionId id, bool more);
    void assigned_loop(const Loop& loop);
    void loop_clauses(const Loop& loop, bool breakable);
    void loop_body(const Loop& loop);
    void carried(const Loop::Carried& carried);
    void scan(const Loop::Scan& scan);
    void type_arguments(const std::vector<Name>& types);
    void arguments(const std::vector<ExprId>& arguments);
    void attributes(const std::vector<AttributeArg>& attributes,
                    const std::vector<ExprId>* arguments);
    bool is_block(RegionId id) const;
    bool has_block(RegionId id) const;
    void find_blocks(RegionId id, std::vector<TextRange>& found) const;
    TextRange braces_of(const Region& region) const;

    // ---- Lines, comments, modules: printer_module.cpp ----

    void import(const Import& import);
    void definition(const Definition& definition);
    void definition_block(const Definition& definition, const BlockSpan& block);
    void block_body(const Definition& definition, BlockKind kind);

    TextRange statement_extent(Span span) const;
    // The text between the braces of an item. `head_end` is the end of the part before them.
    TextRange inside_braces(Span span, uint32_t head_end) const;

    template <class Stmt, class Body>
    void statements(const std::vector<Stmt>& stmts, Body body) {
        for (const Stmt& stmt : stmts) {
            const TextRange extent = statement_extent(stmt.span);
            begin_item(extent, Gap::Keep);
            body(stmt);
            out_.text(";");
            end_item(extent.end);
        }
    }

    // ---- Layouts that are used all over ----

    // `( … )`: on one line, or with the inside on its own lines.
    template <class Body>
    void bracketed(std::string_view open, std::string_view close, Body body) {
        out_.text(open);
        out_.group([&] {
            out_.nest([&] {
                out_.soft_line();
                body();
            });
            out_.soft_line();
        });
        out_.text(close);
    }
    template <class Items, class Body>
    void separated(const Items& items, Body body) {
        for (size_t i = 0; i < items.size(); ++i) {
            if (i > 0) {
                out_.text(",");
                out_.line();
            }
            body(items[i]);
        }
    }

    // Items that do not fit on one line: short ones side by side, others one per line.
    template <class Items, class Body>
    void side_by_side_if_short(const Items& items, Body body) {
        const bool all_short =
            std::ranges::all_of(items, [&](const auto& item) { return is_short(item); });
        const auto all = [&] { separated(items, body); };
        all_short ? out_.fill(all) : out_.group(all);
    }

    bool khronos() const { return options_.spelling == Spelling::Khronos; }

    const Module& module_;
    PrintOptions options_;
};

// The blocks of a definition in printing order: as written, then filled blocks that a program made
// without a position.
std::vector<BlockSpan> printed_blocks(const Definition& definition);

// A string literal with this text, escaped as needed.
std::string quoted(std::string_view text, char quote);

}  // namespace lemma::sknd
