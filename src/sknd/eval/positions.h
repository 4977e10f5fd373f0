// SPDX-License-Identifier: Apache-2.0
// sknd/eval/positions.h — the items that an index expression selects.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sknd/eval/evaluator.h"

namespace lemma::sknd {

struct Evaluator::Positions {
    std::vector<size_t> many;
    size_t one = 0;
    bool single = false;  // x[i]: one item, not a pack of one
    bool null = false;    // the index is null
    bool mask = false;    // selected by a pack of bool

    std::span<const size_t> at() const {
        return single ? std::span(&one, 1) : std::span<const size_t>(many);
    }
};

}  // namespace lemma::sknd
