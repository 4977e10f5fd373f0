// SPDX-License-Identifier: Apache-2.0
// convert/transfer.h — copies tensors and expressions of one program into another that is being
// built.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program/calls.h"

namespace lemma::convert {

class Transfer {
public:
    Transfer(const ir::Program& from, ir::CallBuilder& to) : from_(from), to_(to) {}

    // Adds inputs, constants and variables on first use. Adds other unknown tensors, too: the
    // operations that make them could not be rewritten, which was reported.
    ir::TensorId tensor(ir::TensorId id);
    ir::TensorId new_tensor(ir::TensorId id);
    bool is_known(ir::TensorId id) const;
    ir::Operand operand(const ir::Operand& operand);
    ir::SymId symbol(ir::SymId id);
    ir::Value value(const ir::Value& value);

    // Maps the outputs of the operation to these. False if there are too few, or if their types
    // differ: translations leave their output shapes to the operators that they call.
    bool take_outputs(const ir::Operation& op, const std::vector<ir::Operand>& results);
    // Maps the outputs to new tensors of the same types.
    void outputs_as_they_are(const ir::Operation& op);

    const std::unordered_map<ir::TensorId, ir::TensorId, IdHash>& tensors() const {
        return tensors_;
    }

private:
    ir::Scalar scalar(const ir::Scalar& scalar);
    ir::SymId rebuilt(ir::SymId id);
    bool has_shape(const std::vector<ir::SymId>& to, const std::vector<ir::SymId>& from) const;
    void learn(const std::vector<ir::SymId>& from, const std::vector<ir::SymId>& to);

    const ir::Program& from_;
    ir::CallBuilder& to_;
    std::unordered_map<ir::TensorId, ir::TensorId, IdHash> tensors_;
    std::unordered_map<ir::SymId, ir::SymId, IdHash> symbols_;
};

}  // namespace lemma::convert
