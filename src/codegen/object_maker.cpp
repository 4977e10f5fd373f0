#include "codegen/object_maker.h"

#ifdef LEMMA_JIT_LIBRARY
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/open_file.h"
#else
#include "codegen/llvm/llvm_maker.h"
#endif

namespace lemma::codegen {

#ifdef LEMMA_JIT_LIBRARY

namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "lemma_jit.so";

// The file of this code, as the system kernel reports it, independent of the command name and the
// current folder. Empty if the system does not know.
fs::path own_file() {
    const auto here = reinterpret_cast<uintptr_t>(&load_object_maker);
    std::ifstream mappings("/proc/self/maps");
    for (std::string line; std::getline(mappings, line);) {
        char* end = nullptr;
        const uintptr_t first = std::strtoull(line.c_str(), &end, 16);
        if (*end != '-') continue;
        const uintptr_t last = std::strtoull(end + 1, nullptr, 16);
        if (here < first || here >= last) continue;
        const size_t path = line.find('/');
        return path == std::string::npos ? fs::path() : fs::path(line.substr(path));
    }
    return {};
}

// Candidates: beside the program or the library, one folder up in a build tree, and the folder of
// an installation.
std::vector<fs::path> places(const fs::path& self) {
    std::vector<fs::path> result;
    if (self.empty()) return result;
    const fs::path folder = self.parent_path();
    for (const char* const place : {"", "..", "../lib", "../" LEMMA_LIBDIR}) {
        fs::path file = (folder / place / kName).lexically_normal();
        if (std::ranges::find(result, file) == result.end()) result.push_back(std::move(file));
    }
    return result;
}

// A library is trusted if its owner could change this program anyway: the system, this user, or the
// owner of the program. Returns the reason for distrust, or nothing.
std::string distrust(const fs::path& path, const fs::path& self) {
    struct stat program = {};
    struct stat library = {};
    if (::stat(path.c_str(), &library) != 0 || ::stat(self.c_str(), &program) != 0) {
        return cannot_read(path.string(), file_trouble(errno)).error().message;
    }
    if (library.st_uid != 0 && library.st_uid != ::geteuid() && library.st_uid != program.st_uid)
        return fmt::format("`{}` belongs to another user", path.string());
    if ((library.st_mode & S_IWOTH) != 0)
        return fmt::format("everybody can write to `{}`", path.string());
    return {};
}

Result<std::string> find_library() {
    if (const char* const named = ::secure_getenv("LEMMA_JIT")) return std::string(named);
    const fs::path self = own_file();
    const std::vector<fs::path> candidates = places(self);
    for (const fs::path& path : candidates) {
        std::error_code ignored;
        if (!fs::exists(path, ignored)) continue;
        const std::string trouble = distrust(path, self);
        if (trouble.empty()) return path.string();
        return std::unexpected(Error{trouble});
    }
    std::vector<std::string> folders;
    for (const fs::path& path : candidates) folders.push_back(path.parent_path().string());
    return std::unexpected(
        Error{fmt::format("there is no `{}` in `{}`; LEMMA_JIT names another place",
                          kName,
                          fmt::join(folders, "`, `"))});
}

using Create = Result<std::unique_ptr<ObjectMaker>> (*)(const MachineTarget&, bool);

Result<Create> load_library() {
    const auto trouble = [](std::string_view what) {
        return std::unexpected(Error{fmt::format("cannot load the compiler: {}", what)});
    };
    const Result<std::string> path = find_library();
    if (!path) return trouble(path.error().message);
    void* const library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return trouble(dlerror());
    void* const symbol = dlsym(library, "lemma_create_object_maker_address");
    if (!symbol) return trouble(fmt::format("`{}` is no compiler of Lemma", *path));
    return reinterpret_cast<Create>(reinterpret_cast<void* (*)()>(symbol)());
}

const Result<Create>& loaded_library() {
    static const Result<Create> library = load_library();
    return library;
}

// Releases the pages of LLVM's library that the file can restore: code and constants.
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
