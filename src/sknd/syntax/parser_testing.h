// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/parser_testing.h — shared by the tests of the parser: parses a text, and shows trees
// and findings as short texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sknd/syntax/parser.h"

namespace lemma::sknd::testing {

struct Parsed {
    diag::SourceMap sources;
    Diagnostics diag;
    Module module;

    const Definition& def() const { return module.definitions.at(0); }
    // "line:column kind" of each diagnostic.
    std::string findings() const;
    // The expression with all parentheses.
    std::string show(ExprId id) const;
    std::string show(RegionId id) const;
};

Parsed parse(std::string text, ParseLimits limits = {});
// The statements as a block of an operator with a generic type `T`; they begin in line 4.
Parsed parse_in(std::string_view block, std::string_view statements);

// The parsed expression of `a = …;` in @using, or its findings.
std::string expr(std::string_view text);
// The same for the right side of `y[] = …;` in @lower and of `y = …;` in @compose.
std::string lowered(std::string_view text);
std::string region(std::string_view text);

std::string repeated(std::string_view text, int count);

}  // namespace lemma::sknd::testing
