// sknd/types/broken.h — what a syntax error makes unsafe to check. A broken block loses names and
// values, so that errors found behind it may be its echo; those before it stand.
#pragma once

#include <vector>

#include "diag/diagnostic.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

class BrokenParts {
public:
    // `errors`: what was reported while the module was read.
    BrokenParts(const Module& module, const std::vector<diag::Diagnostic>& errors);

    // Names of definitions may be lost, so that an unknown operator may be an echo.
    bool names_lost() const { return names_lost_; }
    bool broken(size_t definition) const { return !blocks_[definition].empty(); }
    // Whether an error of the check at this place, in a broken definition, is worth telling.
    bool independent(const Definition& definition,
                     size_t index,
                     const diag::Diagnostic& error) const;

private:
    // Processing steps (spec 2.2) with a syntax error, by definition; -1 is the definition itself.
    std::vector<std::vector<int>> blocks_;
    bool names_lost_ = false;
};

}  // namespace lemma::sknd
