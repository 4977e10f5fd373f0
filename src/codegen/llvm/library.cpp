// SPDX-License-Identifier: Apache-2.0
// The interface of `lemma_jit.so` (codegen/object_maker.h). The function has a C name, but C++
// types: both sides are built together.
#include "codegen/llvm/llvm_maker.h"

extern "C" __attribute__((visibility("default"))) void* lemma_create_object_maker_address();

extern "C" void* lemma_create_object_maker_address() {
    return reinterpret_cast<void*>(&lemma::codegen::create_llvm_maker);
}
