// show/json.h — a program as one JSON document, for `lemma show --json`, the library and viewers.
// docs/graph-json.md describes it.
#pragma once

#include <string>

#include "diag/source.h"
#include "ir/program/program.h"
#include "show/table.h"

namespace lemma::show {

// Grows by one if a reader of the document would have to change.
inline constexpr int kGraphSchema = 1;

// Level::Primitive gives the leaves, without parts. `sources` are the texts of the program's model;
// without them operations have no place.
std::string show_json(const ir::Program& program,
                      Level level,
                      const diag::SourceMap* sources = nullptr);

}  // namespace lemma::show
