// SPDX-License-Identifier: Apache-2.0
// Version, extensions, graph and bodies.
#include <array>
#include <charconv>

#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {
namespace {

constexpr std::array kExtensions = {kFragmentDefinitions, kOperatorExpressions};
constexpr std::array<std::string_view, 5> kTractExtensions = {"tract_registry",
                                                              "tract_symbol",
                                                              "tract_assert",
                                                              "tract_pulse_streaming_symbol",
                                                              "tract_resource"};

}  // namespace

Document parse_document(const diag::SourceMap& sources,
                        diag::FileId file,
                        const ParseOptions& options,
                        Diagnostics& diag) {
    return Parser(sources, file, options, diag).parse();
}

// document ::= version extension* fragment-definition* graph-definition
Document Parser::parse() {
    if (options_.kind == DocumentKind::Model && !at(TokenKind::KwVersion)) {
        diag::Report report = fail_expected("`version`");
        if (at(TokenKind::Identifier)) report.did_you_mean(span(peek()), "version");
        report.note("a document begins with `version 1.0;`");
        if (!at_document_item()) skip_to_document_item();
        panic_ = false;
    }
    while (!at(TokenKind::EndOfFile) && !diag_.full()) {
        read_statement();
        const size_t before = position();
        begin_statement();
        parse_document_item();
        if (panic_) skip_to_document_item();
        if (position() == before) advance();
    }
    if (!diag_.full()) finish_document();
    document_.comments = stream_.take_comments();
    return std::move(document_);
}

void Parser::parse_document_item() {
    switch (peek().kind) {
        case TokenKind::KwVersion:
            return parse_version();
        case TokenKind::KwExtension:
            return parse_extension();
        case TokenKind::KwFragment:
            return parse_fragment();
        case TokenKind::KwGraph:
            return parse_graph();
        default:
            break;
    }
    if (end_reported_) {
        panic_ = true;
        return;
    }
    if (document_.graph) {
        end_reported_ = true;
        fail_expected("the end of the file").note("nothing follows the graph");
        return;
    }
    fail_expected(stage_ == Stage::Version ? "`extension`, `fragment` or `graph`"
                                           : "`fragment` or `graph`");
}

void Parser::finish_document() {
    if (options_.kind == DocumentKind::Library || document_.graph || stage_ == Stage::End) return;
    const Span end = span(cursor_.tokens[cursor_.last]);
    const Span last = span(previous());
    if (diag_.has_errors() && document_.fragments.empty() && document_.extensions.empty()) return;
    diag_.error(last.end > 0 ? last : end, DiagKind::NoGraph, "the document has no graph")
        .note("a graph follows the fragments: `graph name( input ) -> ( output ) { … }`");
}

// ---- Version and extensions -------------------------------------------------------------------

// version ::= "version" NUMBER ";"
void Parser::parse_version() {
    const Token keyword = advance();
    if (document_.version.span.valid()) {
        fail(span(keyword), DiagKind::UnexpectedToken, "a second `version`")
            .note(document_.version.span, "the first one is here");
        panic_ = false;
    }
    if (at(TokenKind::Integer) || at(TokenKind::Scalar)) {
        read_version(advance());
    } else {
        fail_expected("a version such as `1.0`");
    }
    end_statement();
    document_.version.span = span_from(keyword.begin);
}

// Major and minor number, separated by a dot, up to 1.0.
void Parser::read_version(const Token& number) {
    Version& version = document_.version;
    version.text = text(number);
    const char* begin = version.text.data();
    const char* end = begin + version.text.size();
    const auto major = std::from_chars(begin, end, version.major_number);
    const bool dot = major.ec == std::errc{} && major.ptr != end && *major.ptr == '.';
    const auto minor = std::from_chars(dot ? major.ptr + 1 : end, end, version.minor_number);
    if (!dot || minor.ec != std::errc{} || minor.ptr != end) {
        diag::Report result = report(
            span(number), DiagKind::BadVersion, fmt::format("`{}` is not a version", version.text));
        result.note("a version is two numbers with a dot between them: `version 1.0;`");
        if (major.ec == std::errc{} && major.ptr == end) {
            result.fix({file_, number.end, number.end}, ".0");
        }
        return;
    }
    if (version.major_number < 1 || (version.major_number == 1 && version.minor_number == 0)) {
        return;
    }
    diag::Report result =
        report(span(number),
               DiagKind::BadVersion,
               fmt::format("version {} of the format, expected at most 1.0", version.text));
    if (version.major_number >= 2)
        result.note("NNEF 2.0 is SkriptND, in files that end in `.sknd`");
}

// extension ::= "extension" IDENTIFIER+ ";"
// Khronos: "extension" IDENTIFIER+' ";"
// Tract: "extension" IDENTIFIER free-text ";"
void Parser::parse_extension() {
    const Token keyword = advance();
    if (stage_ > Stage::Extensions) {
        report(span(keyword), DiagKind::UnexpectedToken, "`extension` after the first definition")
            .note("extensions stand below the version");
    } else {
        stage_ = Stage::Extensions;
    }
    Extension extension;
    do {
        const Name name = parse_name("the name of an extension");
        if (panic_) break;
        check_extension(name, extension);
        extension.names.push_back(name);
        if (at(TokenKind::FreeText)) extension.rest = text(advance());
    } while (accept_extension_comma() || at_name());
    end_statement();
    extension.span = span_from(keyword.begin);
    if (panic_) {
        while (!at(TokenKind::EndOfFile) && !at(TokenKind::Semicolon) && !peek().line_start) {
            advance();
        }
        accept(TokenKind::Semicolon);
        panic_ = false;
    }
    document_.extensions.push_back(std::move(extension));
}

// Khronos' tools require a comma between the names, the specification white space.
bool Parser::accept_extension_comma() {
    const Token comma = peek();
    if (!accept(TokenKind::Comma)) return false;
    report_by_dialect(span(comma), DiagKind::UnexpectedToken, "a comma between extensions")
        .fix(span(comma), at(TokenKind::Identifier) && peek().begin > comma.end ? "" : " ")
        .note("NNEF 1.0.4, 3.2.4: the names of extensions are separated by white space");
    return true;
}

// Enables the features of an extension. An unknown one is an error in the strict dialect; the
// others only mention it. `extension` holds the names before it.
void Parser::check_extension(const Name& name, const Extension& extension) {
    if (name.text == kFragmentDefinitions) fragments_enabled_ = true;
    if (name.text == kOperatorExpressions) operators_enabled_ = true;
    const auto known = [](const auto& list, std::string_view text) {
        return std::find(list.begin(), list.end(), text) != list.end();
    };
    if (known(kExtensions, name.text)) return;
    const bool of_tract = known(kTractExtensions, name.text);
    if (tract() && of_tract) return;
    // Other dialects read further names after the name of a tract extension.
    if (!extension.names.empty() && known(kTractExtensions, extension.names[0].text)) return;
    const std::vector<std::string_view> candidates(kExtensions.begin(), kExtensions.end());
    report_by_dialect(
        name.span, DiagKind::UnknownExtension, fmt::format("no extension `{}`", name.text))
        .did_you_mean(name.span, diag::nearest_name(name.text, candidates))
        .note(of_tract ? "`--dialect=tract` reads documents of tract"
                       : fmt::format("there are `{}` and `{}`", kExtensions[0], kExtensions[1]));
}

// ---- Graph ------------------------------------------------------------------------------------

// graph-definition ::= "graph" IDENTIFIER "(" IDENTIFIER+' ")" "->" "(" IDENTIFIER+' ")" body
void Parser::parse_graph() {
    const Token keyword = advance();
    const bool second = stage_ == Stage::End;
    if (second) {
        report(span(keyword), DiagKind::UnexpectedToken, "a second graph")
            .note("a document has one graph, which is the last definition");
        end_reported_ = true;
    }
    stage_ = Stage::End;
    Graph graph;
    graph.name = parse_name("the name of the graph");
    const auto names = [&](std::vector<Name>& list, std::string_view what) {
        if (!panic_)
            parse_declared(what, [&] {
                list.push_back(parse_name(what));
                if (!panic_ && !at(TokenKind::Comma) && !at(TokenKind::RParen)) {
                    diag::Report result = fail_expected("`,` or `)`");
                    if (at(TokenKind::Colon))
                        result.note("a graph's tensors have no declared type");
                    if (at(TokenKind::Assign)) result.note("a graph's tensors have no default");
                }
            });
    };
    names(graph.params, "an input");
    graph.arrow = peek().begin;
    if (!panic_) expect(TokenKind::Arrow);
    names(graph.results, "an output");
    begin_statement();
    if (panic_) {
        while (!at(TokenKind::EndOfFile) && !at(TokenKind::LBrace) && !at_definition()) advance();
        panic_ = fatal_;
    }
    if (!at(TokenKind::LBrace) && !has_error()) {
        const Token& last = previous();
        report(
            span(last), DiagKind::UnexpectedToken, fmt::format("expected `{{`, found {}", found()))
            .note("a graph has a body: `{ … }`");
        panic_ = true;
    }
    if (at(TokenKind::LBrace)) parse_body(graph.body);
    graph.span = span_from(keyword.begin);
    if (!second) document_.graph = std::move(graph);
}

// body ::= "{" assignment+ "}"
void Parser::parse_body(Body& body) {
    const Token open = advance();
    if (at(TokenKind::RBrace) && !tract()) {
        report(span(peek()), DiagKind::UnexpectedToken, "expected an assignment, found `}`")
            .note("a body has at least one assignment");
    }
    while (!at(TokenKind::RBrace) && !at(TokenKind::EndOfFile) && !at_definition()) {
        read_statement();
        const size_t before = position();
        begin_statement();
        parse_assignment(body);
        if (panic_) skip_statement();
        if (diag_.full()) panic_ = fatal_ = true;
        if (fatal_) break;
        if (position() == before) advance();
    }
    begin_statement();
    if (!accept(TokenKind::RBrace) && !fatal_) {
        report(span(previous()),
               DiagKind::UnclosedBracket,
               fmt::format("expected `}}`, found {}", found()))
            .note(span(open), "`{` is never closed");
        if (!at(TokenKind::EndOfFile)) return;
    }
    body.span = span_from(open.begin);
}

// assignment ::= lvalue-expr "=" rvalue-expr ";"
void Parser::parse_assignment(Body& body) {
    const Token first = peek();
    if (at(TokenKind::Semicolon)) {
        report(span(first), DiagKind::UnexpectedToken, "expected an assignment, found `;`")
            .fix(span(first), "");
        advance();
        return;
    }
    const ExprId target = parse_targets();
    if (!panic_ && !accept(TokenKind::Assign)) {
        diag::Report result = fail_expected("`=`");
        if (at(TokenKind::LParen)) {
            result.note("the result of an operation is assigned: `y = relu(x);`");
        } else if (at(TokenKind::EqualEqual)) {
            result.did_you_mean(span(peek()), "=");
        } else if (at(TokenKind::Assign, 1) && peek(1).begin == peek().end) {
            result.did_you_mean({file_, peek().begin, peek(1).end}, "=");
        }
    }
    if (panic_) return;
    const ExprId value = parse_expr();
    if (!panic_ && !nodes_.invocation(nodes_.exprs[value])) {
        need_operators(span_of(value), "an expression in place of an invocation");
    }
    end_statement();
    body.assignments.push_back({span_from(first.begin), target, value});
}

// lvalue-expr ("," lvalue-expr)*
ExprId Parser::parse_targets() {
    const uint32_t begin = peek().begin;
    const ExprId first = parse_target();
    if (panic_ || !at(TokenKind::Comma)) return first;
    const size_t mark = open_exprs_.size();
    int depth = depth_of(first);
    open_exprs_.push_back(first);
    while (!panic_ && accept(TokenKind::Comma)) {
        open_exprs_.push_back(parse_target());
        depth = std::max(depth, depth_of(open_exprs_.back()));
    }
    const Slice<ExprId> items = take_list(open_exprs_, mark);
    return add(span_from(begin), Tuple{.items = items, .parentheses = false}, depth);
}

// lvalue-expr ::= IDENTIFIER | "[" [lvalue-expr+'] "]" | "(" lvalue-expr ("," lvalue-expr)+ ")"
ExprId Parser::parse_target() {
    const Token open = peek();
    if (at_name()) {
        advance();
        return add_leaf(span(open), Identifier{name_text(open)});
    }
    const Nest nest(*this);
    if (!nest.ok) return bad_expr();
    const bool array = at(TokenKind::LBracket);
    if (!array && !at(TokenKind::LParen)) {
        const Name name = parse_name("a name to assign to");
        return panic_ ? bad_expr() : add_leaf(name.span, Identifier{name.text});
    }
    advance();
    const size_t mark = open_exprs_.size();
    int depth = 0;
    if (array && at(TokenKind::RBracket)) {
        advance();
    } else {
        parse_list(open, array ? TokenKind::RBracket : TokenKind::RParen, [&] {
            open_exprs_.push_back(parse_target());
            depth = std::max(depth, depth_of(open_exprs_.back()));
        });
    }
    const Slice<ExprId> items = take_list(open_exprs_, mark);
    if (array) return add(span_from(open.begin), Array{items}, depth);
    if (items.count < 2) {
        fail(span_from(open.begin), DiagKind::UnexpectedToken, "a tuple of one item")
            .note("a tuple has two items or more; a single name stands without parentheses");
    }
    return add(span_from(open.begin), Tuple{.items = items, .parentheses = true}, depth);
}

}  // namespace lemma::nnef1
