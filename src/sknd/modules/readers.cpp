// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/open_file.h"
#include "sknd/modules/modules.h"

namespace lemma::sknd {
namespace {

namespace fs = std::filesystem;

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// `custom.blocks` is `custom/blocks.sknd`. Empty for a name with other characters than those of
// identifiers and dots, so no name leads out of the folder.
fs::path path_of(std::string_view module) {
    char before = '.';
    for (const char c : module) {
        const bool allowed = is_name_character(c) || (c == '.' && before != '.');
        if (!allowed) return {};
        before = c;
    }
    if (before == '.') return {};
    std::string path(module);
    std::replace(path.begin(), path.end(), '.', '/');
    return path + ".sknd";
}

Result<std::optional<ModuleText>> read_module(const fs::path& folder, std::string_view module) {
    const fs::path relative = path_of(module);
    if (relative.empty()) return std::nullopt;
    const std::string path = (folder / relative).string();
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    if (type == fs::file_type::not_found) return std::nullopt;
    // A name that no file can have is missing.
    if (error == std::errc::filename_too_long) return std::nullopt;
    LEMMA_TRY(std::string text, read_whole(path, FileKind::Regular, diag::kMaxSourceBytes));
    return ModuleText{.file_name = path, .text = std::move(text)};
}

}  // namespace

ModuleReader folder_reader(std::string folder) {
    return [folder = fs::path(std::move(folder))](const std::string& module) {
        return read_module(folder, module);
    };
}

ModuleReader no_reader() {
    return [](const std::string&) { return std::optional<ModuleText>(); };
}

}  // namespace lemma::sknd
