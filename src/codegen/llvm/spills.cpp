// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/spills.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineMemOperand.h>
#include <llvm/CodeGen/PseudoSourceValue.h>

namespace lemma::codegen {

namespace {

constexpr int64_t kVectorBytes = 16;  // and more
constexpr int64_t kFew = 8;           // fewer than one spill in this many instructions costs little

// Whether the memory operand is the spill slot of a vector register.
bool is_spilled(const llvm::MachineMemOperand& operand, const llvm::MachineFrameInfo& frame) {
    const auto* const slot =
        llvm::dyn_cast_or_null<llvm::FixedStackPseudoSourceValue>(operand.getPseudoValue());
    return slot && frame.isSpillSlotObjectIndex(slot->getFrameIndex()) &&
           frame.getObjectSize(slot->getFrameIndex()) >= kVectorBytes;
}

class SpillCounter final : public llvm::MachineFunctionPass {
public:
    explicit SpillCounter(int64_t& spills) : MachineFunctionPass(kId), spills_(spills) {}

    llvm::StringRef getPassName() const override { return "spilled vectors"; }
    void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
        usage.addRequired<llvm::MachineLoopInfoWrapperPass>();
        usage.setPreservesAll();
        MachineFunctionPass::getAnalysisUsage(usage);
    }
    bool runOnMachineFunction(llvm::MachineFunction& function) override;

private:
    static char kId;
    int64_t& spills_;
};

char SpillCounter::kId = 0;

bool SpillCounter::runOnMachineFunction(llvm::MachineFunction& function) {
    llvm::MachineLoopInfo& loops = getAnalysis<llvm::MachineLoopInfoWrapperPass>().getLI();
    const llvm::MachineFrameInfo& frame = function.getFrameInfo();
    for (const llvm::MachineLoop* const loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost()) continue;
        int64_t all = 0;
        int64_t spilled = 0;
        for (const llvm::MachineBasicBlock* const block : loop->blocks()) {
            for (const llvm::MachineInstr& instruction : *block) {
                ++all;
                spilled += llvm::any_of(
                    instruction.memoperands(),
                    [&](const llvm::MachineMemOperand* at) { return is_spilled(*at, frame); });
            }
        }
        if (spilled * kFew > all) spills_ += spilled;
    }
    return false;
}

}  // namespace

llvm::FunctionPass* create_spill_counter(int64_t& spills) { return new SpillCounter(spills); }

}  // namespace lemma::codegen
