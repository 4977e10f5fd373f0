// SPDX-License-Identifier: Apache-2.0
// sonnx/catalogue.h — the rules and the clauses that they answer, as a page of the documentation.
#pragma once

#include <string>

namespace lemma::sonnx {

// docs/profile/sonnx-rules.md; a test compares.
std::string catalogue_markdown();

}  // namespace lemma::sonnx
