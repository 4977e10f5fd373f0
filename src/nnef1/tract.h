// nnef1/tract.h — what documents of tract declare in their extensions.
#pragma once

#include "nnef1/ast.h"

namespace lemma::nnef1 {

// The symbol that an extension declares: an extent that only a run knows; or nothing.
std::string_view declared_symbol(const Extension& extension);

}  // namespace lemma::nnef1
