// SPDX-License-Identifier: Apache-2.0
#include "image/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lemma::image {

namespace {

// The names have the interface version, which is that of the headers.
static_assert(PNG_LIBPNG_VER_MAJOR == 1 && PNG_LIBPNG_VER_MINOR == 6);
constexpr const char* kPngName = "libpng16.so.16";
constexpr const char* kJpegName = "libturbojpeg.so.0";

std::unexpected<Error> missing(const char* name, const char* format, const char* package) {
    const char* const reason = dlerror();
    return std::unexpected(
        Error{fmt::format("cannot load {}, which decodes {} files ({}); Debian's package {} has it",
                          name,
                          format,
                          reason ? reason : "no reason given",
                          package)});
}

#define LEMMA_FIND(name)                                                        \
    found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
    if (!found.name) return trouble();

Result<PngLibrary> open_png() {
    const auto trouble = [] { return missing(kPngName, "PNG", "libpng16-16"); };
    void* const library = dlopen(kPngName, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return trouble();
    PngLibrary found;
    LEMMA_PNG_FUNCTIONS(LEMMA_FIND)
    return found;
}

Result<JpegLibrary> open_jpeg() {
    const auto trouble = [] { return missing(kJpegName, "JPEG", "libturbojpeg0"); };
    void* const library = dlopen(kJpegName, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return trouble();
    JpegLibrary found;
    LEMMA_JPEG_FUNCTIONS(LEMMA_FIND)
    return found;
}

#undef LEMMA_FIND

template <class Library>
Result<const Library*> checked(const Result<Library>& loaded) {
    if (!loaded) return std::unexpected(loaded.error());
    return &*loaded;
}

}  // namespace

Result<const PngLibrary*> load_png() {
    static const Result<PngLibrary> loaded = open_png();
    return checked(loaded);
}

Result<const JpegLibrary*> load_jpeg() {
    static const Result<JpegLibrary> loaded = open_jpeg();
    return checked(loaded);
}

}  // namespace lemma::image
