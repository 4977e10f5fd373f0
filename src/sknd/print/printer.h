// sknd/print/printer.h — a module as text, in one canonical layout, comments kept. Printing what
// was parsed and parsing it again gives the same tree; printing is idempotent.
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

// `sources` gives the comments' texts; a module without comments may pass an empty map.
std::string print(const Module& module, const diag::SourceMap& sources, PrintOptions options = {});
std::string print(const Module& module, ExprId expr, Spelling spelling = Spelling::Spec);

// The tree without spans and spelling as indented text: equal dumps mean equal programs.
std::string dump_tree(const Module& module);

}  // namespace lemma::sknd
