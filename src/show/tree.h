// SPDX-License-Identifier: Apache-2.0
// show/tree.h — a program as an indented tree: the scopes in the names of operations, compounds
// with their parts, and the bodies of control flow, with results and costs.
#pragma once

#include <string>

#include "diag/source.h"
#include "ir/program/program.h"
#include "show/table.h"

namespace lemma::show {

struct TreeOptions {
    // Compound: the parts of a compound are shown if the model's own text calls them.
    Level level = Level::Compound;
    const diag::SourceMap* sources = nullptr;  // without it, all parts are shown
    size_t depth = SIZE_MAX;                   // levels that are shown; the others are counted
    size_t width = kNoLimit;                   // in columns; longer names are cut
};
std::string show_tree(const ir::Program& program, const TreeOptions& options);

}  // namespace lemma::show
