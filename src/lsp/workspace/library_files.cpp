// SPDX-License-Identifier: Apache-2.0
#include "lsp/workspace/library_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/version.h"
#include "diag/source.h"
#include "lsp/text/uri.h"
#include "sknd/modules/embedded.h"

namespace lemma::lsp {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "stdlib/";

// Copies of several versions exist side by side: the folder is named by version and content.
const std::string& cache_folder() {
    static const std::string folder = [] {
        uint64_t digest = 0xcbf29ce484222325;
        const auto add = [&](std::string_view text) {
            for (const char c : text)
                digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        };
        for (const sknd::EmbeddedFile& file : sknd::embedded_files()) add(file.text);
        for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) add(file.text);
        const char* const cache = std::getenv("XDG_CACHE_HOME");
        const char* const home = std::getenv("HOME");
        std::string base;
        if (cache && *cache == '/')
            base = cache;
        else if (home && *home == '/')
            base = std::string(home) + "/.cache";
        else
            return std::string();
        return normal_path(fmt::format("{}/lemma/stdlib-{}-{:016x}", base, kVersion, digest));
    }();
    return folder;
}

bool write_copy(const std::string& path, std::string_view text) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    std::string temporary = path + ".XXXXXX";
    const int file = ::mkstemp(temporary.data());
    if (file < 0) return false;
    bool good = ::fchmod(file, 0444) == 0;
    while (good && !text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        good = count > 0;
        if (good) text.remove_prefix(static_cast<size_t>(count));
    }
    good = ::close(file) == 0 && good;
    good = good && ::rename(temporary.c_str(), path.c_str()) == 0;
    if (!good) ::unlink(temporary.c_str());
    return good;
}

}  // namespace

std::string_view library_text(std::string_view name) {
    if (!name.starts_with(kPrefix)) return "";
    name.remove_prefix(kPrefix.size());
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) {
        if (file.path == name) return file.text;
    }
    for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) {
        if (file.path == name) return file.text;
    }
    return "";
}

std::optional<std::string> library_file(std::string_view name) {
    const std::string_view text = library_text(name);
    if (text.empty() || cache_folder().empty()) return std::nullopt;
    std::string path = fmt::format("{}/{}", cache_folder(), name.substr(kPrefix.size()));
    const auto found = diag::read_source(path);
    if (!(found && *found == text) && !write_copy(path, text)) return std::nullopt;
    return path;
}

std::string library_name(std::string_view path) {
    const std::string& folder = cache_folder();
    if (folder.empty() || !path.starts_with(folder + "/")) return "";
    std::string name = fmt::format("{}{}", kPrefix, path.substr(folder.size() + 1));
    return library_text(name).empty() ? "" : name;
}

}  // namespace lemma::lsp
