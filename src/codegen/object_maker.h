// SPDX-License-Identifier: Apache-2.0
// codegen/object_maker.h — compiles loop functions to object files. LLVM is large, so it is loaded
// when the first object is needed; a program with cached kernels never waits for it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "codegen/machine_target.h"
#include "loop/ir/node.h"
#include "loop/plan/frozen.h"

namespace lemma::codegen {

struct MadeObject {
    std::string bytes;
    // Vector spills in the innermost loops, where they matter.
    int64_t spills = 0;
};

// Not thread-safe.
class ObjectMaker {
public:
    virtual ~ObjectMaker() = default;

    // The function as an object file of the target, with the given name.
    virtual Result<MadeObject> make(const loop::Function& function, const std::string& name) = 0;

    // The whole model as an object file, with the functions that the header of the model declares
    // (emit/fast/fast.h). The code is position-independent and needs functions of libc and libm
    // only.
    virtual Result<std::string> make_model(const loop::FrozenPlan& plan,
                                           const std::string& name) = 0;
};

// `fast` allows estimates of quotients and roots. The library `lemma_jit.so` lies beside the real
// file of the program (or of liblemma.so), in the folder above, or in the `lib` beside that. The
// environment variable LEMMA_JIT names another one. The current folder is never searched.
Result<std::unique_ptr<ObjectMaker>> load_object_maker(const MachineTarget& target, bool fast);

// Releases the memory of the code generator, if no object is needed soon. A later use reads it back
// from the file.
void rest_object_makers();

}  // namespace lemma::codegen
