// SPDX-License-Identifier: Apache-2.0
// edit/part.h — the part of a program between tensors, as a program of its own. Compounds stay
// whole, unless a cut goes through them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "edit/names.h"
#include "ir/program/program.h"

namespace lemma::edit {

struct Cut {
    std::vector<NamedTensor> from;  // become inputs
    std::vector<NamedTensor> to;    // become outputs
    bool own_inputs = false;        // `from` has the model's inputs; unread ones are left out
    bool keep_inputs = false;       // with `own_inputs`: unread ones stay
    bool add_inputs = false;        // what is missing in `from` is added
};

// A tensor that is computed already: a constant with items, or a variable without.
struct Stored {
    ir::TensorId tensor;
    std::vector<ir::Scalar> items;
};

// Simplifications on the way.
struct Changes {
    std::vector<Stored> stored;
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> same;  // readers use the other tensor
    std::unordered_map<ir::SymId, int64_t, IdHash> extents;       // numbers for symbols
};

struct Part {
    ir::Program program;
    std::vector<std::string> unread;  // names in `from` that the part does not read
    std::vector<std::string> added;   // inputs that `add_inputs` added
};

// An error names the tensor that is missing and the operation that needs it.
Result<Part> cut_part(const ir::Program& program, const Cut& cut, const Changes& changes = {});

// The cut that keeps the inputs and outputs of the model.
Cut whole_model(const ir::Program& program);

// The tensors of the model's own ports, with the names of items.
std::vector<NamedTensor> port_tensors(const std::vector<ir::Port>& ports);

}  // namespace lemma::edit
