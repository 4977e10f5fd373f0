// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/quant_file.h"

#include <unordered_map>

#include "nnef1/syntax/parser_impl.h"

namespace lemma::nnef1 {

QuantFile parse_quant_file(const diag::SourceMap& sources,
                           diag::FileId file,
                           const ParseOptions& options,
                           Diagnostics& diag) {
    return Parser(sources, file, options, diag).parse_quant();
}

// quantization ::= entry*
QuantFile Parser::parse_quant() {
    QuantFile result;
    result.file = file_;
    operators_enabled_ = true;  // arguments that are not literals have their own message
    while (!at(TokenKind::EndOfFile) && !diag_.full()) {
        read_statement();
        const size_t before = position();
        begin_statement();
        parse_quant_entry(result);
        fatal_ = false;
        if (panic_) {
            // To the next entry: after a `;`, or at a string that begins a line.
            while (!at(TokenKind::EndOfFile) &&
                   !(at(TokenKind::String) && peek().line_start && position() > before)) {
                if (advance().kind == TokenKind::Semicolon) break;
            }
            panic_ = false;
        }
        if (position() == before) advance();
    }
    static_cast<Nodes&>(result) = std::move(nodes_);
    std::unordered_map<std::string_view, Span> seen;
    for (const QuantEntry& entry : result.entries) {
        const auto [first, added] = seen.emplace(entry.tensor.text, entry.tensor.span);
        if (added) continue;
        diag_
            .error(entry.tensor.span,
                   DiagKind::DuplicateName,
                   fmt::format("`{}` is quantised twice", entry.tensor.text))
            .note(first->second, "the first time is here");
    }
    std::erase_if(result.entries, [&](const QuantEntry& entry) {
        return seen[entry.tensor.text] != entry.tensor.span;
    });
    return result;
}

// entry ::= STRING ":" invocation ";"
// Tract: the tensor's name may be an identifier.
void Parser::parse_quant_entry(QuantFile& result) {
    const Token first = peek();
    QuantEntry entry;
    if (at(TokenKind::String) || (tract() && at_name())) {
        advance();
        entry.tensor = {first.kind == TokenKind::String ? unescaped(first) : name_text(first),
                        span(first)};
    } else {
        diag::Report missing = fail_expected("the name of a tensor in quotes");
        if (at(TokenKind::Identifier)) {
            missing.fix(span(first), fmt::format("\"{}\"", text(first)));
        }
        return;
    }
    if (!expect(TokenKind::Colon)) return;
    if (!at_name()) {
        fail_expected("the name of a quantiser")
            .note(
                "an entry is written `\"tensor\": linear_quantize(min = 0.0, max = 1.0, bits = "
                "8);`");
        return;
    }
    entry.quantizer = parse_named();
    if (panic_) return;
    if (!nodes_.invocation(nodes_.exprs[entry.quantizer])) {
        fail_expected("`(`");
        return;
    }
    check_quantizer(entry.quantizer);
    end_statement();
    entry.span = span_from(first.begin);
    result.entries.push_back(entry);
}

// All arguments must be named and consist of literals.
void Parser::check_quantizer(ExprId quantizer) {
    const Invocation& call = *nodes_.invocation(nodes_.exprs[quantizer]);
    for (const Argument& argument : nodes_.items(call.args)) {
        if (argument.name.empty()) {
            report(span_of(argument.value), DiagKind::UnexpectedToken, "an argument without name")
                .note("arguments of a quantiser are named; the tensor is not one of them");
        } else if (!is_literal(argument.value)) {
            report(span_of(argument.value),
                   DiagKind::UnexpectedToken,
                   fmt::format("`{}` is not given as a literal", argument.name))
                .note("arguments of a quantiser are literals and arrays of them");
        }
    }
}

}  // namespace lemma::nnef1
