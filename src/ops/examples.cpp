// SPDX-License-Identifier: Apache-2.0
#include "ops/examples.h"

#include <algorithm>
#include <tuple>

namespace lemma::ops {

const OperatorExample* example_of(std::string_view module, std::string_view name) {
    const auto key = [](const OperatorExample& e) { return std::tuple(e.module, e.name); };
    const auto all = operator_examples();
    const auto found = std::ranges::lower_bound(all, std::tuple(module, name), {}, key);
    return found != all.end() && key(*found) == std::tuple(module, name) ? &*found : nullptr;
}

}  // namespace lemma::ops
