// SPDX-License-Identifier: Apache-2.0
// sknd/print/printer.h — prints a module as text in one canonical layout, with its comments.
// Parsing the text gives the same tree again. Printing is idempotent.
#pragma once

#include <string>

#include "diag/source.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

enum class Spelling : uint8_t {
    Spec,     // `<<` `>>`, `<=` `>=` in @lower, `` `sin`(x) ``, `z = …, y[i] = …`
    Khronos,  // `<?` `>?`, `<?=` `>?=`, `sin(x)`, `with z = …: y[i] = …`
};

struct PrintOptions {
    Spelling spelling = Spelling::Spec;
    size_t max_columns = 100;
};

// `sources` holds the text of the comments; it may be empty for a module without comments.
std::string print(const Module& module, const diag::SourceMap& sources, PrintOptions options = {});
std::string print(const Module& module, ExprId expr, Spelling spelling = Spelling::Spec);

// The tree as indented text, without spans and spelling. Equal dumps mean equal programs.
std::string dump_tree(const Module& module);

}  // namespace lemma::sknd
