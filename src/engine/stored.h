// SPDX-License-Identifier: Apache-2.0
// engine/stored.h — which storages of a plan have data in the program or its files.
#pragma once

#include "loop/plan/plan.h"

namespace lemma::engine {

// Whether the program or its files fill the storage.
inline bool is_stored(const loop::Storage& storage, const ir::Program& program) {
    const bool given =
        storage.role == loop::StorageRole::Constant || storage.role == loop::StorageRole::Kept;
    if (!given || !storage.tensor.valid()) return false;
    const ir::TensorRole role = program.tensors[storage.tensor].role;
    return role == ir::TensorRole::Constant || role == ir::TensorRole::Variable;
}

}  // namespace lemma::engine
