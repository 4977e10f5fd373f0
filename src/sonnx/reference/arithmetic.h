// sonnx/reference/arithmetic.h — the files sx.h and sx.c: every arithmetic operation is a function.
// Contracts use the names of these functions only, so proofs do not depend on their bodies. sx.c
// has the bodies, one line each.
#pragma once

#include <string>

namespace lemma::sonnx::reference {

std::string arithmetic_header();
std::string arithmetic_source();

}  // namespace lemma::sonnx::reference
