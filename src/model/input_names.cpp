// SPDX-License-Identifier: Apache-2.0
#include "model/input_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "diag/diagnostic.h"

namespace lemma::model {

Error no_such_input(const std::string& name, const std::vector<std::string>& inputs) {
    const std::string_view nearest = diag::nearest_name(name, {inputs.begin(), inputs.end()});
    const std::string guess =
        nearest.empty() ? std::string() : fmt::format("did you mean `{}`? ", nearest);
    return {fmt::format(
        "there is no input `{}`; {}the inputs are {}", name, guess, fmt::join(inputs, ", "))};
}

}  // namespace lemma::model
