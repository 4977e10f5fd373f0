// What `lemma_jit.so` gives (codegen/object_maker.h). The name is that of a C symbol; both sides
// are built together, so that types agree.
#include "codegen/llvm/llvm_maker.h"

extern "C" __attribute__((visibility("default"))) void* lemma_create_object_maker_address();

extern "C" void* lemma_create_object_maker_address() {
    return reinterpret_cast<void*>(&lemma::codegen::create_llvm_maker);
}
