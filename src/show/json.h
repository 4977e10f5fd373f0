// SPDX-License-Identifier: Apache-2.0
// show/json.h — a program as one JSON document, for `lemma show --json`, the library and viewers.
// docs/graph-json.md describes it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "diag/source.h"
#include "ir/program/program.h"
#include "show/table.h"

namespace lemma::show {

// Grows by one if a reader of the document would have to change.
inline constexpr int kGraphSchema = 1;

// What the document says about the file of the program. All of it may be missing.
struct Origin {
    const diag::SourceMap* sources = nullptr;                   // the places of operations
    std::vector<std::pair<std::string, std::string>> metadata;  // by name
    std::vector<std::string> deciding;  // inputs whose values the program was made for
};

// Adds fields to an operation of the document, before those of its parts and bodies.
using AddFields = std::function<void(ir::OpId, nlohmann::ordered_json&)>;

// Level::Primitive gives the leaves, without parts.
nlohmann::ordered_json graph_json(const ir::Program& program,
                                  Level level,
                                  const Origin& origin,
                                  const AddFields& add = {});
std::string show_json(const ir::Program& program, Level level, const Origin& origin);

}  // namespace lemma::show
