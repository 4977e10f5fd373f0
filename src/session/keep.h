// SPDX-License-Identifier: Apache-2.0
// session/keep.h — intermediate tensors that a run returns beside its outputs (`--dump`).
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "interpret/interpret.h"
#include "ir/program/program.h"

namespace lemma::session {

struct KeepOptions {
    // Selects from the tensors that operations make; if missing, nothing is kept.
    std::function<Result<std::vector<ir::TensorId>>(const ir::Program&)> choose;
    // Receives each of them after every step; in interpreted loops, after every iteration.
    std::function<Result<void>(const ir::Tensor&, const interpret::Array&)> receive;
};

// The tensors that operations make, in order. Compiled code can return only those outside loops and
// branches.
struct MadeTensors {
    std::vector<ir::TensorId> outside;
    std::vector<ir::TensorId> inside;  // in the body of a loop or an arm of a branch
};
MadeTensors made_tensors(const ir::Program& program);

// The tensors with the given names. The error is about the first unknown name.
Result<std::vector<ir::TensorId>> named_tensors(const ir::Program& program,
                                                std::span<const std::string> names);
// The same for names in one text, separated by commas.
Result<std::vector<ir::TensorId>> named_tensors(const ir::Program& program, std::string_view names);

// Tensors that become outputs of the main graph; adds ports for those that are not outputs yet.
class KeptOutputs {
public:
    void add(ir::Program& program, const std::vector<ir::TensorId>& tensors);
    // Passes each kept tensor to `receive`, and removes outputs from `outputs` that the model does
    // not list.
    Result<void> hand_over(const ir::Program& program,
                           interpret::NamedArrays& outputs,
                           const KeepOptions& options) const;
    size_t added() const { return added_; }

private:
    struct PortItem {
        std::string port;
        size_t item;
    };
    std::vector<std::pair<ir::TensorId, PortItem>> kept_;
    std::string prefix_;
    size_t added_ = 0;
};

}  // namespace lemma::session
