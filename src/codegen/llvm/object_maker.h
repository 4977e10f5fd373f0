// codegen/llvm/object_maker.h — one kernel at a time as an object file, for one thread.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "codegen/llvm/targets.h"
#include "loop/node.h"

namespace lemma::codegen {

class ObjectMaker {
public:
    static Result<ObjectMaker> create(const MachineTarget& target);

    Result<std::string> make(const loop::Function& function, const std::string& name);

private:
    ObjectMaker(const MachineTarget& target, std::unique_ptr<llvm::TargetMachine> machine)
        : target_(&target), machine_(std::move(machine)) {}

    const MachineTarget* target_;
    std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace lemma::codegen
