// SPDX-License-Identifier: Apache-2.0
// show/types.h — dtypes and shapes of a program as text: `f32[1,64,n]`, `i64[4]..(3)`. Long
// expressions get short names, which a legend explains.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/source.h"
#include "ir/program/program.h"

namespace lemma::show {

// Whether a call is in the model's own text, not in a standard operator's. Without sources, it is.
bool in_model(const diag::SourceMap* sources, Span span);

class TypeNames {
public:
    explicit TypeNames(const ir::Program& program) : program_(program) {}

    std::string tensor(ir::TensorId id);
    // One text for a pack of equal tensors, `f32[2]..(3)`; else a text for each item.
    std::vector<std::string> operand(const ir::Operand& operand);
    std::string extent(ir::SymId id);

    // `n ≤ 16`, `e1 = (n + 3)/4 ≤ 5`: the symbols and short names in the texts so far.
    std::vector<std::string> legend() const;

private:
    struct Alias {
        std::string name;
        ir::SymId id;
    };
    std::string named(ir::SymId id, const std::string& prefix);
    bool is_symbol(ir::SymId id) const;
    bool is_nameless(ir::SymId symbol) const;
    bool equal_items(const ir::Operand& operand) const;

    const ir::Program& program_;
    std::set<ir::SymId> used_;  // symbols printed with their own names
    std::vector<Alias> aliases_;
    std::map<ir::SymId, size_t> alias_index_;
    std::map<std::string, int> counters_;  // by prefix of the short names
};

}  // namespace lemma::show
