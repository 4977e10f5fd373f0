#include "codegen/object_maker.h"

#ifdef LEMMA_JIT_LIBRARY
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>
#else
#include "codegen/llvm/llvm_maker.h"
#endif

namespace lemma::codegen {

#ifdef LEMMA_JIT_LIBRARY

namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates() {
    if (const char* named = std::getenv("LEMMA_JIT")) return {named};
    constexpr const char* kName = "lemma_jit.so";
    std::vector<std::string> paths;
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&load_object_maker), &here) != 0 && here.dli_fname) {
        std::error_code ignored;
        const fs::path self = fs::weakly_canonical(here.dli_fname, ignored);
        for (const char* below : {"", "..", "../lib", "../lib/lemma"}) {
            paths.push_back((self.parent_path() / below / kName).string());
        }
    }
    paths.emplace_back(kName);  // where the system looks
    return paths;
}

using Create = Result<std::unique_ptr<ObjectMaker>> (*)(const MachineTarget&, bool);

Result<Create> load_library() {
    std::string trouble;
    for (const std::string& path : candidates()) {
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            // What is not there is no news; what is there and does not load is.
            std::error_code ignored;
            if (trouble.empty() || fs::exists(path, ignored)) trouble = dlerror();
            continue;
        }
        void* const symbol = dlsym(library, "lemma_create_object_maker_address");
        if (symbol) return reinterpret_cast<Create>(reinterpret_cast<void* (*)()>(symbol)());
        trouble = fmt::format("`{}` is no compiler of Lemma", path);
    }
    return std::unexpected(Error{fmt::format("cannot load the compiler: {}", trouble)});
}

const Result<Create>& loaded_library() {
    static const Result<Create> library = load_library();
    return library;
}

// Of LLVM's own library: what the file has as well, code and constants.
int drop_pages(dl_phdr_info* library, size_t, void*) {
    if (!std::string_view(library->dlpi_name).contains("libLLVM")) return 0;
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

Result<void> find_object_makers() {
    static const bool in_its_place = std::ranges::any_of(candidates(), [](const std::string& path) {
        std::error_code ignored;
        return path.contains('/') && fs::exists(path, ignored);
    });
    if (in_its_place) return {};
    if (const Result<Create>& create = loaded_library(); !create) {
        return std::unexpected(create.error());
    }
    return {};
}

void rest_object_makers() {
    dl_iterate_phdr(drop_pages, nullptr);
    ::malloc_trim(0);
}

#else

Result<std::unique_ptr<ObjectMaker>> load_object_maker(const MachineTarget& target, bool fast) {
    return create_llvm_maker(target, fast);
}

Result<void> find_object_makers() { return {}; }

void rest_object_makers() {}

#endif

}  // namespace lemma::codegen
