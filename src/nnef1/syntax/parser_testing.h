// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/parser_testing.h — shared by the tests of the syntax: parses a text, and shows
// findings and trees as short texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/printer.h"

namespace lemma::nnef1::testing {

// "line:column kind" of each diagnostic.
inline std::string findings(const diag::SourceMap& sources, const Diagnostics& diag) {
    std::string result;
    for (const diag::Diagnostic& item : diag.items()) {
        const diag::LineColumn place = sources.place(item.span.file, item.span.begin);
        if (!result.empty()) result += ", ";
        result += fmt::format("{}:{} {}", place.line, place.column, info(item.kind).id);
    }
    return result;
}

struct Parsed {
    diag::SourceMap sources;
    Diagnostics diag;
    Document document;

    std::string findings() const { return testing::findings(sources, diag); }
    std::string text(Span span) const { return std::string(sources.text(span)); }
    std::string printed(Dialect dialect = Dialect::Strict) const {
        return print(document, sources, {.dialect = dialect});
    }
};

inline Parsed parse(std::string text, const ParseOptions& options = {}) {
    Parsed result;
    const diag::FileId file = result.sources.add("test.nnef", std::move(text));
    result.document = parse_document(result.sources, file, options, result.diag);
    return result;
}

inline constexpr std::string_view kHead =
    "version 1.0;\n"
    "extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
    "graph g( x ) -> ( y )\n"
    "{\n";

// Parses the assignments as the body of a graph, from line 5 on, with all syntax enabled.
inline Parsed parse_body(std::string_view assignments, Dialect dialect = Dialect::Strict) {
    return parse(fmt::format("{}{}\n}}\n", kHead, assignments), {.dialect = dialect});
}

// The parsed expression of `y = …;`, or its errors.
inline std::string tree(std::string_view expr, Dialect dialect = Dialect::Strict) {
    const Parsed parsed = parse_body(fmt::format("y = {};", expr), dialect);
    if (parsed.diag.has_errors()) return parsed.findings();
    return dump_tree(parsed.document, parsed.document.graph->body.assignments.at(0).value);
}

inline std::string repeated(std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

}  // namespace lemma::nnef1::testing
