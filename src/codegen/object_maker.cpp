// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_maker.h"

#ifdef LEMMA_JIT_LIBRARY
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <string_view>

#include "base/loadable_part.h"
#else
#include "codegen/llvm/llvm_maker.h"
#endif

namespace lemma::codegen {

#ifdef LEMMA_JIT_LIBRARY

namespace {

constexpr LoadablePart kCompiler = {"the compiler", "lemma_jit.so", "LEMMA_JIT", "lemma-llvm"};

using Create = Result<std::unique_ptr<ObjectMaker>> (*)(const MachineTarget&, bool);

Result<Create> load_library() {
    LEMMA_TRY(void* const address, load_symbol(kCompiler, "lemma_create_object_maker_address"));
    return reinterpret_cast<Create>(reinterpret_cast<void* (*)()>(address)());
}

const Result<Create>& loaded_library() {
    static const Result<Create> library = load_library();
    return library;
}

// Releases the pages of LLVM that the file can restore: code and constants. LLVM is a library of
// its own or linked into ours.
int drop_pages(dl_phdr_info* library, size_t, void*) {
    const std::string_view name = library->dlpi_name;
    if (!name.contains("libLLVM") && !name.contains(kCompiler.file)) return 0;
    constexpr uintptr_t kPage = 4096;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = library->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        const uintptr_t begin = (library->dlpi_addr + segment.p_vaddr) / kPage * kPage;
        const uintptr_t end =
            (library->dlpi_addr + segment.p_vaddr + segment.p_memsz) / kPage * kPage;
        if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

Result<std::unique_ptr<ObjectMaker>> load_object_maker(const MachineTarget& target, bool fast) {
    const Result<Create>& create = loaded_library();
    if (!create) return std::unexpected(create.error());
    return (*create)(target, fast);
}

void rest_object_makers() {
    dl_iterate_phdr(drop_pages, nullptr);
    ::malloc_trim(0);
}

#else

Result<std::unique_ptr<ObjectMaker>> load_object_maker(const MachineTarget& target, bool fast) {
    return create_llvm_maker(target, fast);
}

void rest_object_makers() {}

#endif

}  // namespace lemma::codegen
