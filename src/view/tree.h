// SPDX-License-Identifier: Apache-2.0
// view/tree.h — a formula as a tree that a page draws as mathematics (docs/view-json.md, TREE). The
// tree is read from the printed text, so that both always say the same.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::view {

using Json = nlohmann::ordered_json;  // keeps the order of the fields

// The extent of an axis of a tensor, as text; empty if it is not known.
using ExtentOf = std::function<std::string(std::string_view tensor, size_t axis)>;

struct FormulaTree {
    Json statement;                    // `=`, `+=`, … with targets on the left
    std::vector<std::string> indices;  // in the order of their ranges
    std::vector<std::string> over;     // of these: the ones that are summed over
    Json conditions = Json::array();
    Json lets = Json::array();  // [name, TREE] of names that would make the tree too long
};

// `lines` are those of ir::FormulaPrinter: the lets, then the statement. `initialised`: an earlier
// statement gave the targets values that this one adds to. Nothing if the text is too deep.
std::optional<FormulaTree> formula_tree(const std::vector<std::string>& lines,
                                        bool initialised,
                                        const ExtentOf& extent);

// The tree of one expression.
std::optional<Json> expression_tree(const std::string& text);

}  // namespace lemma::view
