// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/parser_impl.h — the recursive-descent parser of parser.h and quant_file.h. Its
// parts:
//   parser_core.cpp      tokens, messages, recovery, limits
//   parser_document.cpp  version, extensions, graph, bodies
//   parser_fragment.cpp  fragments, parameters, types
//   parser_expr.cpp      operators, conditions, comprehensions
//   parser_primary.cpp   operands: literals, names, lists, calls
//   quant_file.cpp       the quantisation file
// text/parser.h says how it reports and recovers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "nnef1/syntax/ast.h"
#include "nnef1/syntax/lexer.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/quant_file.h"
#include "nnef1/syntax/tokens.h"
#include "text/parser.h"

namespace lemma::nnef1 {

class Parser : text::Parser<Parser, TokenKind> {
public:
    Parser(const diag::SourceMap& sources,
           diag::FileId file,
           const ParseOptions& options,
           Diagnostics& diag);
    Document parse();
    QuantFile parse_quant();

private:
    using Base = text::Parser<Parser, TokenKind>;
    friend Base;

    // ---- Tokens -------------------------------------------------------------------------------
    Token advance() {
        const Token taken = Base::advance();
        if (cursor_.pos > in_sight_) read_tokens();
        return taken;
    }
    size_t position() const { return dropped_ + cursor_.pos; }
    void read_tokens();
    void read_statement();
    using Base::span_from;
    Span span_from(ExprId expr) const { return span_from(nodes_.exprs[expr].span.begin); }
    Span span_of(ExprId expr) const { return nodes_.exprs[expr].span; }
    bool at_name(size_t ahead = 0) const {
        return at(TokenKind::Identifier, ahead) || at(TokenKind::QuotedIdentifier, ahead);
    }
    std::string_view name_text(const Token& token);
    std::string_view unescaped(const Token& token);
    bool tract() const { return options_.dialect == Dialect::Tract; }
    bool strict() const { return options_.dialect == Dialect::Strict; }

    // ---- Messages -----------------------------------------------------------------------------
    diag::Report report_by_dialect(Span span, DiagKind kind, std::string message);
    diag::Report fail_expected(std::string_view wanted);
    std::string found() const;
    diag::Report fail_unclosed(const Token& open, TokenKind closer);

    // ---- Recovery -----------------------------------------------------------------------------
    bool statement_may_start() const;
    bool at_definition() const;
    bool at_document_item() const;
    void skip_statement();
    void skip_to_document_item();
    void skip_in_list(TokenKind closer);

    // item ("," item)* closer; called after the opening bracket.
    template <class Item>
    void parse_list(const Token& open, TokenKind closer, Item item) {
        do {
            item();
        } while (!panic_ && accept(TokenKind::Comma));
        if (!panic_) close(open, closer, true);
    }
    // The same for declarations: an error in one item does not hide the next item.
    template <class Item>
    void parse_declared(std::string_view what, Item item) {
        const Token open = peek();
        if (!expect(TokenKind::LParen)) return;
        if (tract() && accept(TokenKind::RParen)) return;
        if (at(TokenKind::RParen)) fail_empty(what);
        do {
            begin_statement();
            item();
            if (panic_ && !fatal_) skip_in_list(TokenKind::RParen);
        } while (!panic_ && accept(TokenKind::Comma));
        begin_statement();
        if (!panic_) close(open, TokenKind::RParen, true);
    }
    void fail_empty(std::string_view what);

    // ---- Extensions of the language -----------------------------------------------------------
    // Reports, once, syntax that the document did not enable.
    void need_operators(Span span, std::string_view what) {
        if (!operators_enabled_) report_missing(span, what, kOperatorExpressions);
    }
    void report_missing(Span span, std::string_view what, std::string_view extension);

    // ---- Documents ----------------------------------------------------------------------------
    enum class Stage : uint8_t { Version, Extensions, Fragments, End };
    void parse_document_item();
    void parse_version();
    void read_version(const Token& number);
    void parse_extension();
    bool accept_extension_comma();
    void check_extension(const Name& name, const Extension& extension);
    void parse_graph();
    void finish_document();
    void parse_body(Body& body);
    void parse_assignment(Body& body);
    ExprId parse_targets();
    ExprId parse_target();
    Name parse_name(std::string_view wanted);

    // ---- Fragments ----------------------------------------------------------------------------
    void parse_fragment();
    void parse_generic(Fragment& fragment);
    Param parse_param();
    Result parse_result();
    bool at_type_name(size_t ahead = 0) const;
    std::optional<TypeName> parse_type_name(std::string_view wanted);
    TypeId parse_type();
    TypeId parse_basic_type();
    TypeId add_type(Span span, decltype(Type::node) node, int depth_below);
    ExprId parse_default();
    bool is_literal(ExprId id) const;

    // ---- Expressions --------------------------------------------------------------------------
    ExprId parse_expr();
    ExprId parse_if_else(ExprId consequent);
    ExprId parse_binary(int min_level);
    ExprId parse_unary();
    bool at_number(size_t ahead = 0) const;
    bool at_lone_operand() const;
    void warn_mixed(const Token& op, std::optional<TokenKind>& earlier);
    void warn_open_sign(bool product);
    ExprId parse_postfix();
    bool at_array_target() const;
    ExprId parse_subscript(ExprId base);
    ExprId parse_primary();
    ExprId parse_number();
    ExprId parse_string();
    ExprId parse_paren();
    ExprId parse_array();
    ExprId parse_comprehension(const Token& open);
    ExprId parse_builtin();
    ExprId parse_named();
    std::optional<TypeName> parse_type_argument();
    bool at_type_argument() const;
    void parse_argument();
    ExprId parse_no_operand();

    // ---- Quantisation files -------------------------------------------------------------------
    void parse_quant_entry(QuantFile& result);
    void check_quantizer(ExprId quantizer);

    // ---- Nodes --------------------------------------------------------------------------------
    template <class Node>
    ExprId add_leaf(Span span, const Node& node) {
        expr_depths_.push_back(1);
        return nodes_.exprs.emplace(span, node);
    }
    template <class Node>
    ExprId add(Span span, const Node& node, std::initializer_list<ExprId> children) {
        int depth = 0;
        for (const ExprId child : children) depth = std::max(depth, depth_of(child));
        return add(span, node, depth);
    }
    template <class Node>
    ExprId add(Span span, const Node& node, int depth_below) {
        if (depth_below >= max_expr_depth_) return add_too_deep(span);
        expr_depths_.push_back(static_cast<uint16_t>(depth_below + 1));
        return nodes_.exprs.emplace(span, node);
    }
    ExprId add_too_deep(Span span);
    int depth_of(ExprId id) const { return id.valid() ? expr_depths_[id.value] : 0; }
    ExprId bad_expr() { return add_leaf({file_, peek().begin, peek().begin}, BadExpr{}); }
    // Moves the items collected after `mark` into the tree.
    template <class T>
    Slice<T> take_list(std::vector<T>& collected, size_t mark) {
        const Slice<T> slice =
            nodes_.add_list(std::span<const T>(collected.data() + mark, collected.size() - mark));
        collected.resize(mark);
        return slice;
    }

    const ParseOptions& options_;
    const int max_expr_depth_;
    Document document_;
    Nodes& nodes_ = document_;
    std::vector<uint16_t> expr_depths_;  // of each expression
    std::vector<uint16_t> type_depths_;

    // The cursor walks on a window of the text: at least the current statement, and a few tokens
    // after the current one.
    TokenStream stream_;
    size_t dropped_ = 0;        // tokens before the window
    size_t in_sight_ = 0;       // up to here there are enough tokens to look ahead to
    size_t statement_end_ = 0;  // the last token in sight that ends a statement

    Stage stage_ = Stage::Version;
    bool end_reported_ = false;  // text after the graph was reported
    bool operators_enabled_ = false;
    bool fragments_enabled_ = false;
    int call_depth_ = 0;              // open invocations
    std::optional<Token> open_sign_;  // a unary operator whose operand, in Khronos' tools,
                                      // is the rest of the expression
    // Items of unclosed lists.
    std::vector<ExprId> open_exprs_;
    std::vector<TypeId> open_types_;
    std::vector<Argument> open_args_;
    std::vector<Iterator> open_iterators_;
};

}  // namespace lemma::nnef1
