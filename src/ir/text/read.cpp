// SPDX-License-Identifier: Apache-2.0
#include "ir/text/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text/read_impl.h"
#include "ir/text/text_words.h"

namespace lemma::ir {

std::optional<Program> read_program(const diag::SourceMap& sources,
                                    diag::FileId file,
                                    Diagnostics& diag) {
    return Reader(file, sources.text(file), diag).run();
}

Reader::Reader(diag::FileId file, std::string_view text, Diagnostics& diag)
    : file_(file), text_(text), diag_(diag) {}

std::optional<Program> Reader::run() {
    const size_t errors = diag_.error_count() + diag_.dropped_errors();
    tokens_ = lex_text(file_, text_, diag_);
    if (diag_.error_count() + diag_.dropped_errors() > errors) return std::nullopt;
    if (!read_statements()) return std::nullopt;
    return std::move(program_);
}

// ---- tokens -----------------------------------------------------------------------------------

const TextToken& Reader::peek(size_t ahead) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const TextToken& Reader::take() {
    const TextToken& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
}

bool Reader::is_sign(std::string_view sign, size_t ahead) const {
    return peek(ahead).kind == TextKind::Sign && peek(ahead).text == sign;
}
bool Reader::is_word(std::string_view word, size_t ahead) const {
    return peek(ahead).kind == TextKind::Word && peek(ahead).text == word;
}
bool Reader::accept(std::string_view sign) {
    if (!is_sign(sign)) return false;
    take();
    return true;
}
bool Reader::accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    take();
    return true;
}
bool Reader::expect(std::string_view sign) {
    return accept(sign) || unexpected(fmt::format("`{}`", sign));
}

bool Reader::end_line() {
    if (peek().kind != TextKind::Newline && peek().kind != TextKind::End && !is_sign("}"))
        return unexpected("the end of the line");
    skip_lines();
    return true;
}

void Reader::skip_lines() {
    while (peek().kind == TextKind::Newline) take();
}

Span Reader::span_here() const { return {file_, peek().begin, peek().end}; }

bool Reader::fail(Span span, DiagKind kind, std::string message) {
    diag_.error(span, kind, std::move(message));
    return false;
}

bool Reader::unexpected(std::string_view wanted) {
    const TextToken& token = peek();
    const std::string found = token.kind == TextKind::End       ? "the end of the text"
                              : token.kind == TextKind::Newline ? "the end of the line"
                                                                : fmt::format("`{}`", token.text);
    return fail(DiagKind::UnexpectedToken, fmt::format("{}, expected {}", found, wanted));
}

// ---- statements -------------------------------------------------------------------------------

// program = 'program' name line {statement}
bool Reader::read_statements() {
    skip_lines();
    if (!accept_word("program")) return unexpected("`program`");
    const auto name = read_name();
    if (!name || !end_line()) return false;
    program_.name = *name;
    while (peek().kind != TextKind::End)
        if (!read_statement()) return false;
    if (program_.main.valid()) return true;
    return fail(DiagKind::NoGraph, "a program without a graph");
}

bool Reader::read_statement() {
    if (peek().kind != TextKind::Word) return unexpected("a statement");
    if (const auto role = role_from_text(peek().text)) return take(), read_declaration(*role);
    if (accept_word("symbol")) return read_symbol();
    if (accept_word("let")) return read_let();
    if (accept_word("require")) return read_assertion(program_.assertions);
    if (accept_word("update")) return read_update();
    if (!is_word("graph")) return unexpected("a statement");
    if (program_.main.valid()) return fail(DiagKind::DuplicateName, "a second graph");
    take();
    const auto graph = read_graph("", 0);
    if (graph) program_.main = *graph;
    return graph && end_line();
}

// symbol = 'symbol' word [string] ':' type ['in' range]
bool Reader::read_symbol() {
    const TextToken& word = take();
    std::string name(word.text);
    if (peek().kind == TextKind::String) name = take().value;
    if (!expect(":")) return false;
    const auto type = scalar_type_from_text(peek().text);
    if (!type) return unexpected("`int`, `real`, `bool` or `str`");
    take();
    Interval range{INT64_MIN, INT64_MAX};
    if (accept_word("in")) {
        const auto told = read_range();
        if (!told) return false;
        range = *told;
    }
    return add_name(word, program_.symbols.symbol(std::move(name), *type, range)) && end_line();
}

// let = 'let' word '=' expr
bool Reader::read_let() {
    const TextToken& word = take();
    if (!expect("=")) return false;
    const MaybeSym value = read_expr();
    return value && add_name(word, *value) && end_line();
}

// declaration = ('input' | 'constant' | 'variable' | 'tensor') tensor ':' type ['=' items]
bool Reader::read_declaration(TensorRole role) {
    if (peek().kind != TextKind::Tensor) return unexpected("a tensor");
    return declare(take(), role) && end_line();
}

// update = 'update' tensor '=' tensor
bool Reader::read_update() {
    const auto variable = read_tensor(false);
    if (!variable || !expect("=")) return false;
    const auto value = read_tensor(false);
    if (!value) return false;
    program_.updates.push_back({*variable, *value});
    return end_line();
}

// assertion = 'require' expr ',' string
bool Reader::read_assertion(std::vector<Assertion>& assertions) {
    const MaybeSym condition = read_typed(ScalarType::Bool, "the condition");
    if (!condition || !expect(",")) return false;
    auto message = read_string();
    if (!message) return false;
    assertions.push_back({*condition, std::move(*message)});
    return end_line();
}

// ---- graphs and operations --------------------------------------------------------------------

// graph = [name] ['(' ports ')'] '{' {operation} ['yield' ports] '}'
std::optional<GraphId> Reader::read_graph(std::string_view usual_name, int depth) {
    Graph graph;
    graph.name = usual_name;
    if (!is_sign("(") && !is_sign("{")) {
        auto name = read_name();
        if (!name) return std::nullopt;
        graph.name = std::move(*name);
    }
    if (accept("(") && !read_ports(graph.inputs, ")")) return std::nullopt;
    if (!expect("{") || !read_operations(graph.operations, depth)) return std::nullopt;
    if (accept_word("yield") && !(read_ports(graph.outputs, "") && end_line())) return std::nullopt;
    if (!expect("}")) return std::nullopt;
    return program_.graphs.add(std::move(graph));
}

bool Reader::read_operations(std::vector<OpId>& operations, int depth) {
    skip_lines();
    while (!is_sign("}") && !(is_word("yield") && !starts_outputs())) {
        const auto op = read_operation(depth);
        if (!op) return false;
        operations.push_back(*op);
    }
    return true;
}

// Whether a name and an operand follow.
bool Reader::starts_outputs() const {
    const bool name = peek().kind == TextKind::Word || peek().kind == TextKind::Int ||
                      peek().kind == TextKind::String;
    return name && (peek(1).kind == TextKind::Tensor || is_sign("[", 1) || is_sign("~", 1));
}

// operation = [outputs '='] name [string] ['<' dtypes '>'] [attributes] '(' ports ')' [kind]
//             ['over' '(' … ')'] ['{' body '}']
std::optional<OpId> Reader::read_operation(int depth) {
    if (depth > kMaxOperationDepth) {
        fail(DiagKind::TooDeep,
             fmt::format("operations nest more than {} deep", kMaxOperationDepth));
        return std::nullopt;
    }
    Operation op;
    const Span begin = span_here();
    if (starts_outputs() && !(read_outputs(op.outputs) && expect("="))) return std::nullopt;
    std::optional<OperationKind> kind;
    if (!read_head(op, kind)) return std::nullopt;
    op.span = cover(begin, {file_, tokens_[at_ - 1].begin, tokens_[at_ - 1].end});
    if (accept("{") && !(read_body(op, depth + 1) && expect("}"))) return std::nullopt;
    if (!finish_control(op) || !end_line()) return std::nullopt;
    op.kind = kind ? *kind : kind_from_body(op).value_or(OperationKind::Intrinsic);
    return program_.operations.add(std::move(op));
}

bool Reader::read_head(Operation& op, std::optional<OperationKind>& kind) {
    if (peek().kind != TextKind::Word && peek().kind != TextKind::String)
        return unexpected("an operation");
    op.op = *read_name();
    if (peek().kind == TextKind::String) op.label = take().value;
    if (accept("<")) {
        do {
            auto name = read_name();
            if (!name || !expect("=")) return false;
            const auto dtype = read_dtype();
            if (!dtype) return false;
            op.dtypes.emplace_back(std::move(*name), *dtype);
        } while (accept(","));
        if (!expect(">")) return false;
    }
    if (is_sign("{") && !read_attributes(op.attributes)) return false;
    if (!expect("(") || !read_ports(op.inputs, ")")) return false;
    if (peek().kind == TextKind::Word) kind = kind_from_text(peek().text);
    if (kind) take();
    return !accept_word("over") || read_over(op.control.emplace<Loop>());
}

bool Reader::read_body(Operation& op, int depth) {
    skip_lines();
    while (!is_sign("}"))
        if (!read_body_statement(op, depth)) return false;
    return true;
}

bool Reader::starts_graph() const {
    const bool word = is_word("condition") || is_word("then") || is_word("else") ||
                      is_word("while") || is_word("body");
    return word && (is_sign("{", 1) || is_sign("(", 1) || peek(1).kind == TextKind::String);
}

bool Reader::read_body_statement(Operation& op, int depth) {
    const bool let = is_word("let") && peek(1).kind == TextKind::Word;
    if (let || peek().kind == TextKind::Tensor) return read_formula(op);
    if (is_word("require") && !starts_outputs()) return take(), read_assertion(op.assertions);
    if (starts_graph()) return read_control(op, depth);
    const auto part = read_operation(depth);
    if (part) op.parts.push_back(*part);
    return part.has_value();
}

}  // namespace lemma::ir
