// SPDX-License-Identifier: Apache-2.0
// ops/select.h — the operators that a word of the command line selects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/library.h"

namespace lemma::ops {

// `nn.conv`, `relu` if only one module has it, a module, or a pattern with `*` and `?`. The error
// suggests similar names, or lists the operators that match.
struct Selection {
    bool one = false;  // the word names a single operator
    std::vector<ModuleText> modules;
};
Result<Selection> select_operators(const std::vector<ModuleText>& library, const std::string& word);

// `*` matches any text, `?` any character.
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace lemma::ops
