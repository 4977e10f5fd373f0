// SPDX-License-Identifier: Apache-2.0
// view/formulas.h — the formulas of operations as text and as trees, over the names of ports.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/program/program.h"
#include "ir/text/print_formula.h"
#include "view/tree.h"

namespace lemma::view {

class FormulaWriter {
public:
    explicit FormulaWriter(const ir::Program& program);

    // Adds `formulas` to a primitive; `formulas_left_out` counts those beyond the limit.
    void add(const ir::Operation& op, Json& json);

private:
    using Names = std::unordered_map<ir::TensorId, std::string, IdHash>;
    Names names_of(const ir::Operation& op) const;
    Json formula(const ir::Formula& formula, const ir::Formula* initial, const Names& names);
    Json ranges(const ir::Formula& formula, const std::vector<std::string>& words) const;
    // Whether the text would be too long to read, or to make.
    bool too_large(const ir::Formula& formula);
    uint64_t size_of(ir::SymId id, int depth);
    bool starts(const ir::Formula& first, const ir::Formula& second) const;

    const ir::Program& program_;
    ir::ExprScope scope_;
    ir::WordChooser words_;
    std::unordered_map<ir::SymId, uint64_t, IdHash> sizes_;
};

}  // namespace lemma::view
