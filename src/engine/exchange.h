// SPDX-License-Identifier: Apache-2.0
// engine/exchange.h — updates without a copy: after a run, a variable and its new value exchange
// their memory. A run that fails leaves the variable as it was.
#pragma once

#include <vector>

#include "loop/plan/plan.h"

namespace lemma::engine {

// The storages of an update; not valid if its value is copied.
struct Exchange {
    loop::StorageId variable, value;
};

// One for each update of the program, in order. The updates are those of runs from bytes to bytes:
// all tensors have memory, in row-major order.
std::vector<Exchange> find_exchanges(const ir::Program& program, const loop::Plan& plan);

}  // namespace lemma::engine
