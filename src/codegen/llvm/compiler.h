// codegen/llvm/compiler.h — loop functions to machine code, in this process or as object files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/layout.h"
#include "loop/node.h"
#include "loop/numerics.h"
#include "runtime/kernel.h"

namespace lemma::codegen {

struct CompilerOptions {
    // `avx512`, `avx2`, `sse2`, or `aarch64`; empty: all that this processor has.
    std::string target;
    loop::Numerics numerics = loop::Numerics::Default;
    // Objects are kept in the folder and found there again; empty: nowhere.
    std::string cache_folder;
    int64_t cache_bytes = int64_t{512} << 20;
};

struct CompilerStats {
    size_t kernels = 0;  // made
    size_t reused = 0;   // the same as another one
    size_t cached = 0;   // found on disk
    double seconds = 0;
    std::string target;         // the processor, as LLVM calls it
    std::string cache_trouble;  // why a folder is not used
};

class Compiler {
public:
    // An error when there is no code for the target. Kernels go with the compiler.
    static Result<std::unique_ptr<Compiler>> create(const CompilerOptions& options = {});
    virtual ~Compiler() = default;

    // What the processor has.
    virtual const loop::Target& target() const = 0;
    // The code of each function, in order. Equal functions share theirs. An error when the target
    // is another kind of processor than this one.
    virtual Result<std::vector<runtime::KernelFunction>> compile(
        std::span<const loop::Function* const> functions, int threads) = 0;
    // The function as an object file of the target, under the name.
    virtual Result<std::string> object(const loop::Function& function, const std::string& name) = 0;
    virtual const CompilerStats& stats() const = 0;
};

}  // namespace lemma::codegen
