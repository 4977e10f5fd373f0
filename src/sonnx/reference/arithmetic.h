// sonnx/reference/arithmetic.h — the files sx.h and sx.c: every arithmetic operation as a function
// of its own. Contracts know them by name only, so what is proved holds whatever they compute; what
// they compute is in sx.c, a line each.
#pragma once

#include <string>

namespace lemma::sonnx::reference {

std::string arithmetic_header();
std::string arithmetic_source();

}  // namespace lemma::sonnx::reference
