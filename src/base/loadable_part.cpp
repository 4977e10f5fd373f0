// SPDX-License-Identifier: Apache-2.0
#include "base/loadable_part.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/open_file.h"
#include "base/version.h"

namespace lemma {

namespace {

namespace fs = std::filesystem;

// The file of this code, as the system kernel reports it, independent of the command name and the
// current folder. Empty if the system does not know.
fs::path own_file() {
    const auto here = reinterpret_cast<uintptr_t>(&load_symbol);
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

// A library is trusted if its owner could change this program anyway: the system, this user, or the
// owner of the program. Returns the reason for distrust, or nothing.
std::string distrust(const std::string& path, const fs::path& self) {
    struct stat program = {};
    struct stat library = {};
    if (::stat(path.c_str(), &library) != 0 || ::stat(self.c_str(), &program) != 0) {
        return cannot_read(path, file_trouble(errno)).error().message;
    }
    if (library.st_uid != 0 && library.st_uid != ::geteuid() && library.st_uid != program.st_uid)
        return fmt::format("`{}` belongs to another user", path);
    if ((library.st_mode & S_IWOTH) != 0) return fmt::format("everybody can write to `{}`", path);
    return {};
}

Result<std::string> find_part(const LoadablePart& part) {
    if (const char* const named = ::secure_getenv(part.variable)) return std::string(named);
    const fs::path self = own_file();
    std::vector<std::string> folders;  // those that exist
    for (const std::string& path : places_of_part(part, self.string())) {
        std::error_code ignored;
        if (fs::exists(path, ignored)) {
            const std::string trouble = distrust(path, self);
            if (trouble.empty()) return path;
            return std::unexpected(Error{trouble});
        }
        const fs::path folder = fs::path(path).parent_path();
        if (fs::exists(folder, ignored)) folders.push_back(folder.string());
    }
    return std::unexpected(Error{
        fmt::format("there is no `{}` in `{}`; the package `{}` has it, and {} names another place",
                    part.file,
                    fmt::join(folders, "`, `"),
                    part.package,
                    part.variable)});
}

}  // namespace

// Candidates: beside the program or the library, one folder up in a build tree, and the folders of
// an installation, seen from the library and from the program.
std::vector<std::string> places_of_part(const LoadablePart& part, const std::string& self) {
    std::vector<std::string> result;
    if (self.empty()) return result;
    const fs::path folder = fs::path(self).parent_path();
    for (const char* const place : {"",
                                    "..",
                                    "lemma",
                                    "../lib/lemma",
                                    "../lib64/lemma",
                                    "../lib/" LEMMA_MULTIARCH "/lemma"}) {
        std::string file = (folder / place / part.file).lexically_normal().string();
        if (std::ranges::find(result, file) == result.end()) result.push_back(std::move(file));
    }
    return result;
}

Result<void*> load_symbol(const LoadablePart& part, const char* symbol) {
    const auto trouble = [&](std::string_view what) {
        return std::unexpected(Error{fmt::format("cannot load {}: {}", part.what, what)});
    };
    const Result<std::string> path = find_part(part);
    if (!path) return trouble(path.error().message);
    void* const library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return trouble(::dlerror());
    const auto version =
        reinterpret_cast<const char* (*)()>(::dlsym(library, "lemma_part_version"));
    void* const address = ::dlsym(library, symbol);
    if (!version || !address)
        return trouble(fmt::format("`{}` is not {} of Lemma", *path, part.what));
    if (version() != kVersion) {
        return trouble(fmt::format(
            "`{}` is part of Lemma {}, and this is Lemma {}", *path, version(), kVersion));
    }
    return address;
}

}  // namespace lemma
