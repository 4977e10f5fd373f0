// SPDX-License-Identifier: Apache-2.0
// tests/support/c_kernels.h — kernels as C, built by the system's compiler and loaded into the
// test.
#pragma once

#include <string>
#include <unordered_map>

#include "codegen/machine_target.h"
#include "emit/fast/vector_support.h"
#include "loop/ir/node.h"
#include "runtime/kernel.h"

namespace lemma::testing {

class CKernels {
public:
    explicit CKernels(codegen::MachineTarget target);
    ~CKernels();
    CKernels(const CKernels&) = delete;
    CKernels& operator=(const CKernels&) = delete;

    const codegen::MachineTarget& target() const { return target_; }
    // Equal kernels are one.
    void add(const loop::Function& function);
    // Builds all kernels with the compiler, `cc` for example. The text is empty, or says what is
    // wrong.
    std::string build(const std::string& compiler);
    // Null before they are built.
    runtime::KernelFunction find(const loop::Function& function) const;
    size_t size() const { return names_.size(); }

private:
    codegen::MachineTarget target_;
    emit::VectorSupport support_;
    std::unordered_map<std::string, std::string> names_;  // by the text of the function
    std::string functions_;
    std::string folder_;
    void* library_ = nullptr;
};

}  // namespace lemma::testing
