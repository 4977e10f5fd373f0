// sknd/syntax/parser.h — tokens to a syntax tree. Recovers at statements, blocks and definitions,
// so that one run reports every independent error; what is broken becomes BadExpr or BadRegion.
#pragma once

#include <span>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

struct ParseLimits {
    int max_depth = 256;  // nested brackets, blocks and branches, right-hand chains
    // Levels of one expression tree, left-hand chains such as `a + b + c` included: bounds the
    // recursion of every later pass.
    int max_expr_depth = 1000;
    size_t max_tokens = 64'000'000;  // per file
};

// Passes over the ranges to skip, which are in order and hold whole definitions.
Module parse_module(const diag::SourceMap& sources,
                    diag::FileId file,
                    const ParseLimits& limits,
                    Diagnostics& diag,
                    std::span<const TextRange> skipped = {});
// Adds what another file has to a module of several files. `file` and `comments` stay those of the
// first one.
void parse_more(const diag::SourceMap& sources,
                diag::FileId file,
                const ParseLimits& limits,
                Diagnostics& diag,
                std::span<const TextRange> skipped,
                Module& module);

}  // namespace lemma::sknd
