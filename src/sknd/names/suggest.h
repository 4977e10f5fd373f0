// SPDX-License-Identifier: Apache-2.0
// sknd/names/suggest.h — suggestions for names: those of other languages and of the standard
// library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lemma::sknd {

// `real` for `float` and `f32`, `int` for `i64`, and so on; empty for other names.
std::string_view usual_type(std::string_view name);

// The most similar candidate, else the longest prefix of the name (`conv` of `convolution`), else
// the shortest candidate with the name as prefix; empty if none is similar.
std::string_view likely_name(std::string_view name,
                             const std::vector<std::string_view>& candidates);

// The public operator of a standard module with this or a similar name: `nn.relu`; may be empty.
std::string standard_operator(std::string_view name);

}  // namespace lemma::sknd
