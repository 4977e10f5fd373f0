// SPDX-License-Identifier: Apache-2.0
// sknd/syntax/parser.h — tokens to a syntax tree. The parser recovers at statements, blocks and
// definitions, so one run reports every independent error. Broken parts become BadExpr or
// BadRegion.
#pragma once

#include <span>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

struct ParseLimits {
    int max_depth = 256;  // nested brackets, blocks and branches, right-hand chains
    // Levels of one expression tree, including left-hand chains such as `a + b + c`. This bounds
    // the recursion of every later pass.
    int max_expr_depth = 1000;
    size_t max_tokens = 64'000'000;  // per file
};

// Skips the given ranges, which are sorted and contain whole definitions.
Module parse_module(const diag::SourceMap& sources,
                    diag::FileId file,
                    const ParseLimits& limits,
                    Diagnostics& diag,
                    std::span<const TextRange> skipped = {});
// Adds the content of another file to a module of several files. `file` and `comments` stay those
// of the first file.
void parse_more(const diag::SourceMap& sources,
                diag::FileId file,
                const ParseLimits& limits,
                Diagnostics& diag,
                std::span<const TextRange> skipped,
                Module& module);

}  // namespace lemma::sknd
