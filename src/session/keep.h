// session/keep.h — intermediate tensors that a run hands over beside its outputs (`--dump`).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "interpret/interpret.h"
#include "ir/program/program.h"

namespace lemma::session {

struct KeepOptions {
    // Picks from the tensors that operations make; without it nothing is kept.
    std::function<Result<std::vector<ir::TensorId>>(const ir::Program&)> choose;
    // Takes each of them behind every step; inside of loops every time, where they are interpreted.
    std::function<Result<void>(const ir::Tensor&, const interpret::Array&)> receive;
};

// Tensors that operations make, in order. Compiled code can hand over those outside of loops and
// branches only.
struct MadeTensors {
    std::vector<ir::TensorId> outside;
    std::vector<ir::TensorId> inside;  // of the body of a loop or an arm of a branch
};
MadeTensors made_tensors(const ir::Program& program);

// The tensors that `names`, separated by commas, name. The error is about the first unknown name.
Result<std::vector<ir::TensorId>> named_tensors(const ir::Program& program, std::string_view names);

// Tensors that are outputs of the main graph, too; ports are added where they were none.
class KeptOutputs {
public:
    void add(ir::Program& program, const std::vector<ir::TensorId>& tensors);
    // Gives each kept tensor to `receive`; removes from `outputs` what the model does not list.
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
