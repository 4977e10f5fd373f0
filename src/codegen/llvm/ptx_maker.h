// SPDX-License-Identifier: Apache-2.0
// codegen/llvm/ptx_maker.h — kernels for NVIDIA GPUs as PTX, a text that the driver compiles.
#pragma once

#include <memory>

#include "codegen/object_maker.h"

namespace lemma::codegen {

// The objects of this maker are texts with one kernel each.
Result<std::unique_ptr<ObjectMaker>> create_ptx_maker(bool fast);

}  // namespace lemma::codegen
