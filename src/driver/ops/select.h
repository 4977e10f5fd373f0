// driver/ops/select.h — which operators a word of the command line names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/ops/library.h"

namespace lemma::driver {

// `nn.conv`, `relu` if only one module has it, a module, or a pattern with `*` and `?`. The error
// says what comes nearest, or which operators a name fits.
struct Selection {
    bool one = false;  // the word names a single operator
    std::vector<ModuleText> modules;
};
Result<Selection> select_operators(const std::vector<ModuleText>& library, const std::string& word);

// `*` stands for any text, `?` for any character.
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace lemma::driver
