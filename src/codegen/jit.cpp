#include "codegen/jit.h"

#ifdef LEMMA_JIT_LIBRARY
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>
#endif

#include <cstdlib>

namespace lemma::codegen {

#ifdef LEMMA_JIT_LIBRARY

namespace {

namespace fs = std::filesystem;

std::vector<std::string> candidates() {
    if (const char* named = std::getenv("LEMMA_JIT")) return {named};
    constexpr const char* kName = "lemma_jit.so";
    std::vector<std::string> paths;
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&load_compiler), &here) != 0 && here.dli_fname) {
        std::error_code ignored;
        const fs::path self = fs::weakly_canonical(here.dli_fname, ignored);
        for (const char* below : {"", "..", "../lib", "../lib/lemma"}) {
            paths.push_back((self.parent_path() / below / kName).string());
        }
    }
    paths.emplace_back(kName);  // where the system looks
    return paths;
}

using Create = Result<std::unique_ptr<Compiler>> (*)(const CompilerOptions&);

Result<Create> find_create() {
    std::string trouble;
    for (const std::string& path : candidates()) {
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            // What is not there is no news; what is there and does not load is.
            std::error_code ignored;
            if (trouble.empty() || fs::exists(path, ignored)) trouble = dlerror();
            continue;
        }
        void* const symbol = dlsym(library, "lemma_create_compiler_address");
        if (symbol) return reinterpret_cast<Create>(reinterpret_cast<void* (*)()>(symbol)());
        trouble = fmt::format("`{}` is no compiler of Lemma", path);
    }
    return std::unexpected(Error{fmt::format("cannot load the compiler: {}", trouble)});
}

Result<std::unique_ptr<Compiler>> create(const CompilerOptions& options) {
    static const Result<Create> function = find_create();
    if (!function) return std::unexpected(function.error());
    return (*function)(options);
}

}  // namespace

#else

namespace {

Result<std::unique_ptr<Compiler>> create(const CompilerOptions& options) {
    return Compiler::create(options);
}

}  // namespace

#endif

Result<std::unique_ptr<Compiler>> load_compiler(CompilerOptions options) {
    const char* const target = std::getenv("LEMMA_TARGET");
    if (options.target.empty() && target) options.target = target;
    return create(options);
}

}  // namespace lemma::codegen
