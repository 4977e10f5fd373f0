// SPDX-License-Identifier: Apache-2.0
// nnef1/check/tract.h — declarations in the extensions of tract documents.
#pragma once

#include <map>

#include "nnef1/syntax/ast.h"

namespace lemma::nnef1 {

// The symbol that an extension declares, a runtime extent; empty if it declares none.
std::string_view declared_symbol(const Extension& extension);
// All symbols, including those that occur only in the shape of an external tensor.
std::map<std::string_view, Span> extent_symbols(const Document& document);

}  // namespace lemma::nnef1
