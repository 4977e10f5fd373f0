// What `lemma_jit.so` gives (codegen/jit.h).
#include "codegen/llvm/compiler.h"

extern "C" __attribute__((visibility("default"))) void* lemma_create_compiler_address();

namespace lemma::codegen {

// The name is that of the C symbol below; both sides are built together, so that types agree.
Result<std::unique_ptr<Compiler>> create_compiler(const CompilerOptions& options) {
    return Compiler::create(options);
}

}  // namespace lemma::codegen

extern "C" void* lemma_create_compiler_address() {
    return reinterpret_cast<void*>(&lemma::codegen::create_compiler);
}
