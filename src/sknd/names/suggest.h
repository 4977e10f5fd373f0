// sknd/names/suggest.h — what was probably meant: names of other languages, and of the standard
// library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lemma::sknd {

// `real` for `float` and `f32`, `int` for `i64`, and so on; empty for other names.
std::string_view usual_type(std::string_view name);

// The nearest of the candidates, else the longest that begins the name (`conv` of `convolution`),
// else the shortest that the name begins; empty if none is like it.
std::string_view likely_name(std::string_view name,
                             const std::vector<std::string_view>& candidates);

// The public operator of a standard module with this name, or one like it: `nn.relu`; may be empty.
std::string standard_operator(std::string_view name);

}  // namespace lemma::sknd
