// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/parser_impl.h — the recursive-descent parser of parser.h. Its parts:
//   parser_core.cpp     tokens, messages, recovery, limits
//   parser_module.cpp   imports, definitions, blocks
//   parser_decl.cpp     declarations, types, left sides, @using, @assert
//   parser_lower.cpp    @lower
//   parser_compose.cpp  @compose, @update, @quantize: calls, branches, loops
//   parser_expr.cpp     operators
//   parser_primary.cpp  operands: literals, lists, indexing, casts, calls
//   parser_string.cpp   string literals
// text/parser.h says how it reports and recovers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/ast.h"
#include "sknd/syntax/functions.h"
#include "sknd/syntax/parser.h"
#include "text/parser.h"

namespace lemma::sknd {

// The depth of the deepest operand of a node, from the depths of all expressions; 0 for a leaf.
struct DepthBelow {
    const std::vector<int>& depths;

    int of(ExprId id) const { return id.valid() ? depths[id.value] : 0; }
    int of(const std::vector<ExprId>& ids) const {
        int depth = 0;
        for (const ExprId id : ids) depth = std::max(depth, of(id));
        return depth;
    }

    int operator()(const BadExpr&) const { return 0; }
    int operator()(const IntLiteral&) const { return 0; }
    int operator()(const RealLiteral&) const { return 0; }
    int operator()(const BoolLiteral&) const { return 0; }
    int operator()(const InfLiteral&) const { return 0; }
    int operator()(const PiLiteral&) const { return 0; }
    int operator()(const Identifier&) const { return 0; }
    int operator()(const Omitted&) const { return 0; }
    int operator()(const StringLiteral& n) const {
        int depth = 0;
        for (const StringLiteral::Part& part : n.parts) depth = std::max(depth, of(part.expr));
        return depth;
    }
    int operator()(const Member& n) const { return of(n.base); }
    int operator()(const Paren& n) const { return of(n.inner); }
    int operator()(const List& n) const { return of(n.items); }
    int operator()(const Range& n) const { return std::max({of(n.begin), of(n.end), of(n.step)}); }
    int operator()(const Expand& n) const { return std::max(of(n.item), of(n.count)); }
    int operator()(const Zip& n) const { return of(n.items); }
    int operator()(const Index& n) const { return std::max(of(n.base), of(n.index)); }
    int operator()(const Access& n) const { return std::max(of(n.base), of(n.indices)); }
    int operator()(const Guard& n) const {
        return std::max({of(n.index), of(n.below), of(n.above)});
    }
    int operator()(const Substitution& n) const {
        return std::max({of(n.base), of(n.index), of(n.value)});
    }
    int operator()(const Unary& n) const { return of(n.operand); }
    int operator()(const Binary& n) const { return std::max(of(n.lhs), of(n.rhs)); }
    int operator()(const Select& n) const {
        return std::max({of(n.condition), of(n.consequent), of(n.alternative)});
    }
    int operator()(const Coalesce& n) const { return std::max(of(n.value), of(n.fallback)); }
    int operator()(const NullTest& n) const { return of(n.operand); }
    int operator()(const Fold& n) const { return of(n.operand); }
    int operator()(const Cast& n) const { return of(n.operand); }
    int operator()(const BuiltinCall& n) const { return of(n.operand); }
};

class Parser : text::Parser<Parser, TokenKind> {
public:
    Parser(const diag::SourceMap& sources,
           diag::FileId file,
           const ParseLimits& limits,
           Diagnostics& diag,
           Module earlier = {});
    Module parse(std::span<const TextRange> skipped);

private:
    using ExprNode = decltype(Expr::node);
    using RegionNode = decltype(Region::node);

    // ---- Tokens -------------------------------------------------------------------------------
    using Base = text::Parser<Parser, TokenKind>;
    friend Base;
    using Base::span_from;
    Span span_from(ExprId expr) const { return span_from(module_.exprs[expr].span.begin); }
    Name name_of(const Token& token) const { return {text(token), span(token)}; }
    bool at_contextual_keyword() const { return at_word("is") || at_word("in"); }
    bool at_definition() const;
    bool at_body_end() const;

    // ---- Messages -----------------------------------------------------------------------------
    diag::Report report(Span span, DiagKind kind, std::string message);
    std::string found() const;
    bool fail_misplaced();
    static bool ends_list(TokenKind kind) {
        return kind == TokenKind::Semicolon || kind == TokenKind::Block;
    }
    // Gives up on the definition.
    void too_deep(Span span, int limit) {
        Base::too_deep(span, limit);
        fatal_ = true;
    }

    // ---- Recovery -----------------------------------------------------------------------------
    void begin_statement() {
        attribute_braces_ = 0;
        Base::begin_statement();
    }
    bool statement_may_start() const;
    void skip_statement();
    void skip_to_definition();
    Token open_body(bool fits);
    bool close_body(const Token& open);

    // body ::= "{" statement* "}"; called after the brace; false if it is not closed. Where `stop`
    // holds, the closing brace must be missing.
    template <class Statement, class Stop>
    bool parse_body(const Token& open, Statement statement, Stop stop) {
        const size_t outer_errors = statement_errors_;
        while (!at(TokenKind::RBrace) && !at_body_end() && !stop()) {
            const size_t before = cursor_.pos;
            begin_statement();
            statement();
            if (panic_) skip_statement();
            if (diag_.full()) panic_ = fatal_ = true;
            if (fatal_) return false;
            if (cursor_.pos == before) advance();
        }
        statement_errors_ = outer_errors;
        return close_body(open);
    }
    template <class Statement>
    bool parse_body(const Token& open, Statement statement) {
        return parse_body(open, statement, [] { return false; });
    }

    // item*' closer; called after the opening bracket.
    enum class Trailing : uint8_t { No, Comma };
    template <class Item>
    void parse_list(const Token& open, TokenKind closer, Trailing trailing, Item item) {
        if (accept(closer)) return;
        do {
            if (trailing == Trailing::Comma && at(closer)) break;
            item();
        } while (!panic_ && accept(TokenKind::Comma));
        if (!panic_) close(open, closer, true);
    }

    // ---- Modules ------------------------------------------------------------------------------
    void parse_item_of_module();
    void parse_import();
    void parse_definition();
    void skip_parameters();
    void parse_block(Definition& def);
    void parse_statements(BlockKind kind, const Token& open, Definition& def);
    void parse_unknown_block(const Token& keyword);
    void report_unclosed_definition(const Token& open);
    void collect_generics();
    uint32_t column(const Token& token) const;

    // ---- Declarations -------------------------------------------------------------------------
    Name parse_name(std::string_view wanted);
    QualifiedName parse_qualified_name(std::string_view wanted);
    DtypeDecl parse_dtype();
    ParamDecl parse_param();
    bool at_type_name(size_t ahead = 0) const;
    Name parse_type_name();
    Qualifier parse_qualifier();
    TypeSpec parse_type();
    ExtentSpec parse_extent();
    PackSpec parse_pack();
    LoopBound parse_bound();
    LValue parse_lvalue();
    LValueItem parse_lvalue_item();
    LValueItem::Target parse_target();
    UsingStmt parse_using();
    AssertStmt parse_assert();
    AssertStmt::Printed parse_printed();

    // ---- Lowering -----------------------------------------------------------------------------
    LowerStmt parse_lower();
    bool parse_locals(LowerStmt& stmt);
    LowerStmt::Local parse_local();
    bool at_bound() const;
    bool supply_comma();
    void report_no_target(const LowerStmt& stmt);
    void parse_lower_target(LowerStmt& stmt);
    LowerOp parse_lower_op();
    IterCount parse_count();

    // ---- Composition --------------------------------------------------------------------------
    Component parse_component();
    Component parse_stray_yield();
    RegionId parse_region();
    RegionNode parse_region_node();
    Block parse_block_region(const Token& open);
    void parse_yield(Block& block);
    void report_late_yield(const Block& block);
    Branch parse_branch();
    Loop parse_loop();
    Loop::Carried parse_carried();
    Loop::Scan parse_scan();
    bool at_invocation() const;
    size_t qualified_name_size() const;
    bool type_arguments_at(size_t ahead) const;
    bool is_generic(std::string_view name) const;
    bool builtin_in_expression() const;
    Invocation parse_invocation();
    void parse_type_arguments(std::vector<Name>& types);
    void parse_attributes(std::vector<AttributeArg>& attributes);
    AttributeArg parse_attribute();
    AttributeArg parse_late_attribute(const QualifiedName& callee);
    ExprId parse_argument();
    QuantizeStmt parse_quantize();

    // ---- Expressions --------------------------------------------------------------------------
    enum class Guards : uint8_t { No, Allowed };  // is `|i|` allowed here?
    ExprId parse_expr(Guards guards = Guards::No);
    bool at_lone_operand() const;
    ExprId parse_select();
    ExprId parse_binary(int min_level);
    ExprId parse_fold(ExprId operand, const Token& token);
    void warn_mixed(const Token& op, std::optional<TokenKind>& earlier);
    ExprId parse_unary();
    ExprId parse_power();
    ExprId parse_no_substitution(ExprId lhs);

    // ---- Operands -----------------------------------------------------------------------------
    enum class Substitutions : uint8_t { No, Allowed };
    ExprId parse_operand(Substitutions substitutions = Substitutions::Allowed);
    ExprId parse_primary();
    ExprId parse_integer();
    ExprId parse_real();
    ExprId parse_paren();
    ExprId parse_zip(const Token& open, ExprId first);
    ExprId parse_list_expr();
    enum class Ranges : uint8_t { Closed, Open };  // `b:e`, or with parts missing as in `x[1:]`
    ExprId parse_list_item(Ranges ranges);
    ExprId parse_range(ExprId begin, uint32_t offset, Ranges ranges);
    ExprId parse_range_part(Ranges ranges);
    ExprId parse_expand(ExprId item);
    ExprId parse_guard();
    ExprId parse_index(ExprId base, Substitutions substitutions);
    bool at_list_assignment() const;
    bool holds_guard(ExprId expr) const;
    ExprId parse_member(ExprId base);
    ExprId parse_named();
    ExprId parse_cast(const Token& type);
    ExprId parse_builtin_call(Name function);
    ExprId parse_second_argument(const Name& function, const Token& open, ExprId first);
    bool at_call() const;
    ExprId parse_nested_call();
    void report_nested_call(const Invocation& call, Span span);
    void report_operator(const Name& function, Span span, const std::vector<ExprId>& arguments);

    // ---- Strings ------------------------------------------------------------------------------
    // A text. It is a view of the source until other text is appended.
    struct Run {
        std::string_view plain;
        std::string copy;
        bool copied = false;

        bool empty() const { return plain.empty() && copy.empty(); }
        std::string& made() {
            if (!std::exchange(copied, true)) copy = plain;
            return copy;
        }
        void append(std::string_view text) {
            if (empty()) {
                plain = text;
            } else if (!text.empty()) {
                made() += text;
            }
        }
    };
    std::string_view take(Run& run);
    ExprId parse_string();
    std::string parse_label();
    void parse_literal(const Token& literal, StringLiteral& result);
    void append_escape(uint32_t offset, std::string& result);
    uint32_t parse_format(uint32_t open, uint32_t end, StringLiteral& result);
    uint32_t format_end(uint32_t open, uint32_t end) const;
    ExprId parse_format_expr(Span range);

    // ---- Nodes --------------------------------------------------------------------------------
    // Not inlined: a node of variant size in each frame of the recursion would need much stack.
    template <class Node>
    [[gnu::noinline]] ExprId add(Span span, Node&& node) {
        const int depth = 1 + DepthBelow{expr_depths_}(node);
        if (depth > limits_.max_expr_depth && !fatal_) too_deep(span, limits_.max_expr_depth);
        if (fatal_) return add_bad(span);
        expr_depths_.push_back(depth);
        return module_.exprs.emplace(span, std::forward<Node>(node));
    }
    // Replaces an expression that is too deep.
    ExprId add_bad(Span span);
    ExprId bad_expr();

    const diag::SourceMap& sources_;
    const ParseLimits& limits_;
    Module module_;
    const size_t earlier_definitions_;  // of other files of the module
    std::vector<int> expr_depths_;      // of each expression of module_

    bool brace_lost_ = false;   // a statement was skipped up to a brace, maybe its own
    size_t silent_pos_ = -1;    // a body that is unclosed here was reported, or is a consequence
    int attribute_braces_ = 0;  // open `{` of the calls in this statement

    std::vector<std::string_view> generics_;  // names of the @dtype block of this definition
    bool generics_broken_ = false;            // it has errors, so some may be missing
    std::optional<Token> suspect_brace_;  // opens a block closed by a brace that is indented less
    size_t zip_pos_ = -1;                 // a `(` here may open a zip
    Guards guards_ = Guards::No;          // for the current expression
    bool in_lower_ = false;
    bool in_format_ = false;       // inside `{…}` of a string
    bool in_nested_call_ = false;  // reported once, at the outermost call
};

}  // namespace lemma::sknd
