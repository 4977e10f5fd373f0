// nnef1/embedded.h — stdlib/nnef1/standard.nnef, compiled into the program (tools/embed.py).
#pragma once

#include <string_view>

namespace lemma::nnef1 {

std::string_view standard_text();

}  // namespace lemma::nnef1
