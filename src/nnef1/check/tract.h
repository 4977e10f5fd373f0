// nnef1/check/tract.h — what documents of tract declare in their extensions.
#pragma once

#include <map>

#include "nnef1/syntax/ast.h"

namespace lemma::nnef1 {

// The symbol that an extension declares: an extent that only a run knows; or nothing.
std::string_view declared_symbol(const Extension& extension);
// All of them, with those that only the shape of an external tensor names.
std::map<std::string_view, Span> extent_symbols(const Document& document);

}  // namespace lemma::nnef1
