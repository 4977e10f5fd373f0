// SPDX-License-Identifier: Apache-2.0
#include "driver/new/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "ir/text/text_words.h"
#include "sknd/syntax/keywords.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "template_name";

// Words with a meaning in SkriptND or NNEF 1.0 that are no keywords of SkriptND.
constexpr std::array<std::string_view, 10> kOtherWords = {"is",
                                                          "in",
                                                          "version",
                                                          "extension",
                                                          "fragment",
                                                          "tensor",
                                                          "scalar",
                                                          "logical",
                                                          "string",
                                                          "integer"};

std::string with_name(std::string_view text, const std::string& name) {
    std::string result;
    while (true) {
        const size_t at = text.find(kPlaceholder);
        result += text.substr(0, at);
        if (at == std::string_view::npos) return result;
        result += name;
        text.remove_prefix(at + kPlaceholder.size());
    }
}

}  // namespace

std::vector<NewFile> new_files(std::string_view kind,
                               const std::string& folder,
                               const std::string& name) {
    std::vector<NewFile> files;
    for (const TemplateFile& file : template_files()) {
        if (file.kind != kind) continue;
        const fs::path path = fs::path(folder) / with_name(file.name, name);
        files.push_back({path.string(), with_name(file.text, name)});
    }
    return files;
}

bool is_new_name(std::string_view name) {
    constexpr size_t kMostBytes = 100;
    const bool keyword = std::ranges::find(sknd::kKeywords, name, &sknd::Keyword::text) !=
                         std::ranges::end(sknd::kKeywords);
    const bool other = std::ranges::find(kOtherWords, name) != kOtherWords.end();
    return name.size() <= kMostBytes && name.find('.') == std::string_view::npos &&
           ir::is_word(name) && !keyword && !other;
}

std::string as_identifier(std::string_view name) {
    std::string result;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool digit = c >= '0' && c <= '9';
        if (digit && result.empty()) result = "n";
        result += letter || digit ? c : '_';
    }
    return result.empty() || !is_new_name(result) ? result + "_" : result;
}

Result<void> write_new(const std::vector<NewFile>& files) {
    for (const NewFile& file : files) {
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(file.path, ignored)))
            return std::unexpected(Error{
                fmt::format("`{}` exists already, and `lemma new` overwrites nothing", file.path)});
    }
    for (const NewFile& file : files) {
        const fs::path folder = fs::path(file.path).parent_path();
        if (!folder.empty()) LEMMA_TRY(tensor::make_folder(folder.string()));
        LEMMA_TRY(tensor::write_file(file.path, file.text));
    }
    return {};
}

}  // namespace lemma::driver
