// SPDX-License-Identifier: Apache-2.0
// edit/connect.h — which outputs of a model feed which inputs of another, and what that says about
// their extents.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "edit/copier.h"
#include "edit/names.h"

namespace lemma::edit {

struct Connection {
    NamedTensor output;  // of the first model
    NamedTensor input;   // of the second model
};

// `wanted` are pairs `OUT=IN`. Without any, equal names connect; if there are none, the only output
// and the only input.
Result<std::vector<Connection>> find_connections(const ir::Program& first,
                                                 const ir::Program& second,
                                                 const std::vector<std::string>& wanted);

// Makes the types of all connected tensors equal. Extents of the second model become those of the
// first, and symbols of the first take numbers of the second. Call `fix_first` before the first
// model is copied and `fix_second` before the second one. An error has both types.
Result<void> fix_first(const std::vector<Connection>& connections,
                       const ir::Program& first,
                       const ir::Program& second,
                       ir::Program& into,
                       Copier& copier);
Result<void> fix_second(const std::vector<Connection>& connections,
                        const ir::Program& second,
                        ir::Program& into,
                        Copier& first_copier,
                        Copier& second_copier);

}  // namespace lemma::edit
