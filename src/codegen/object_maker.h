// codegen/object_maker.h — loop functions to object files. LLVM, which does it, is large: it is
// loaded when the first object is wanted, and programs that find theirs on disk never wait for it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "codegen/machine_target.h"
#include "loop/ir/node.h"

namespace lemma::codegen {

struct MadeObject {
    std::string bytes;
    // How often its innermost loops move a vector that had no register left, where it matters.
    int64_t spills = 0;
};

// For one thread.
class ObjectMaker {
public:
    virtual ~ObjectMaker() = default;

    // The function as an object file of the target, under the name.
    virtual Result<MadeObject> make(const loop::Function& function, const std::string& name) = 0;
};

// `fast`: estimates of quotients and roots will do. The library `lemma_jit.so` lies beside the real
// file of the program (or of liblemma.so), in the folder above, or in the `lib` beside that; the
// variable LEMMA_JIT of the environment names another one. The current folder is no such place.
Result<std::unique_ptr<ObjectMaker>> load_object_maker(const MachineTarget& target, bool fast);

// No object will be wanted soon: the memory that its maker's code takes is given back. What is
// wanted after all comes back from the file.
void rest_object_makers();

}  // namespace lemma::codegen
