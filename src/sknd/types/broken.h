// SPDX-License-Identifier: Apache-2.0
// sknd/types/broken.h — the parts of a module that a syntax error makes unsafe to check. A broken
// block loses names and values, so later errors may be its consequence; earlier errors stand.
#pragma once

#include <vector>

#include "diag/diagnostic.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

class BrokenParts {
public:
    // `errors`: the reports of the parser.
    BrokenParts(const Module& module, const std::vector<diag::Diagnostic>& errors);

    // Names of definitions may be lost, so an unknown operator may be a consequence.
    bool names_lost() const { return names_lost_; }
    bool broken(size_t definition) const { return !blocks_[definition].empty(); }
    // Whether to report an error of the check at this place of a broken definition.
    bool independent(const Definition& definition,
                     size_t index,
                     const diag::Diagnostic& error) const;

private:
    // Processing steps (spec 2.2) with a syntax error, by definition; -1 is the definition itself.
    std::vector<std::vector<int>> blocks_;
    bool names_lost_ = false;
};

}  // namespace lemma::sknd
