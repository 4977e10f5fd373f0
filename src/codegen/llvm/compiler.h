// codegen/llvm/compiler.h — loop functions to machine code of this processor, in this process.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/layout.h"
#include "loop/node.h"
#include "runtime/kernel.h"

namespace lemma::codegen {

struct CompilerStats {
    size_t kernels = 0;  // made
    size_t reused = 0;   // the same as another one
    size_t cached = 0;   // found on disk
    double seconds = 0;
};

class Compiler {
public:
    // An error when there is no code for this processor. Kernels go with the compiler. Objects are
    // kept in the folder, if there is one, and found there again.
    static Result<std::unique_ptr<Compiler>> create(std::string cache_folder = {});
    virtual ~Compiler() = default;

    // What the processor has.
    virtual const loop::Target& target() const = 0;
    // The code of each function, in order. Equal functions share theirs.
    virtual Result<std::vector<runtime::KernelFunction>> compile(
        std::span<const loop::Function* const> functions, int threads) = 0;
    virtual const CompilerStats& stats() const = 0;
};

}  // namespace lemma::codegen
