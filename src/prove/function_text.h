// SPDX-License-Identifier: Apache-2.0
// prove/function_text.h — one function of a model as a C file of its own: what it uses is declared,
// functions that it calls have their contracts alone. Names are canonical, so that equal layers
// have equal files.
#pragma once

#include <string>
#include <vector>

#include "emit/certified/certified.h"

namespace lemma::prove {

struct FunctionText {
    std::string name;       // in the model
    std::string canonical;  // in the file
    std::string text;
};

// The functions of the model in its order. `prefix` is the name of the model in its functions.
std::vector<FunctionText> function_texts(const emit::CertifiedModel& model,
                                         const std::string& prefix);

// Renames tensors (`t_…`), nodes (`n12_…`) and functions of the model (`model_…`) by the order in
// which they appear.
class CanonicalNames {
public:
    explicit CanonicalNames(std::string prefix) : prefix_(std::move(prefix)) {}
    std::string rename(std::string_view text);

private:
    std::string renamed(std::string_view identifier);
    std::string number(std::vector<std::string>& seen, std::string_view what);

    std::string prefix_;
    std::vector<std::string> tensors_, nodes_, functions_;
};

}  // namespace lemma::prove
