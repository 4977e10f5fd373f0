// SPDX-License-Identifier: Apache-2.0
#include "tensor/archive/libarchive.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lemma::tensor {

namespace {

// The name has the interface version, which is that of the header.
static_assert(ARCHIVE_VERSION_NUMBER / 1'000'000 == 3);
constexpr const char* kName = "libarchive.so.13";

// Whether the library supports the filter without an external program.
bool reads(const LibArchive& lib, int (*support)(archive*)) {
    archive* const handle = lib.archive_read_new();
    const bool own = handle && support(handle) == ARCHIVE_OK;
    if (handle) lib.archive_read_free(handle);
    return own;
}

Result<LibArchive> load() {
    const auto missing = [] {
        const char* reason = dlerror();
        return std::unexpected(Error{
            fmt::format("cannot load {}, which reads archives: {}", kName, reason ? reason : "")});
    };
    void* const library = dlopen(kName, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return missing();
    LibArchive found;
#define LEMMA_FIND(name)                                                        \
    found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
    if (!found.name) return missing();
    LEMMA_LIBARCHIVE_FUNCTIONS(LEMMA_FIND)
#undef LEMMA_FIND
    found.has_bzip2 = reads(found, found.archive_read_support_filter_bzip2);
    found.has_xz = reads(found, found.archive_read_support_filter_xz);
    return found;
}

}  // namespace

Result<const LibArchive*> load_libarchive() {
    static const Result<LibArchive> loaded = load();
    if (!loaded) return std::unexpected(loaded.error());
    return &*loaded;
}

}  // namespace lemma::tensor
