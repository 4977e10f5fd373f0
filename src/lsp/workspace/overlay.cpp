// SPDX-License-Identifier: Apache-2.0
#include "lsp/workspace/overlay.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lsp/text/uri.h"

namespace lemma::lsp {

namespace {

namespace fs = std::filesystem;
using tensor::ModelSource;

// Names as in tensor/archive/archive.h: no part is empty, `.`, `..` or hidden.
bool is_plain_name(std::string_view name) {
    while (true) {
        const size_t slash = name.find('/');
        const std::string_view part = name.substr(0, slash);
        if (part.empty() || part.starts_with('.')) return false;
        if (slash == std::string_view::npos) return true;
        name.remove_prefix(slash + 1);
    }
}

class OverlaySource final : public ModelSource {
public:
    OverlaySource(std::string folder, std::shared_ptr<const ModelSource> files, Buffers buffers)
        : folder_(std::move(folder)), files_(std::move(files)), buffers_(std::move(buffers)) {}

    Result<std::vector<std::string>> list() const override { return files_->list(); }
    bool has(const std::string& name) const override {
        return buffer(name) != nullptr || files_->has(name);
    }
    Result<int64_t> size(const std::string& name) const override {
        const std::string* const text = buffer(name);
        return text ? Result<int64_t>(static_cast<int64_t>(text->size())) : files_->size(name);
    }
    Result<std::string> read(const std::string& name, int64_t first_bytes) const override {
        const std::string* const text = buffer(name);
        if (!text) return files_->read(name, first_bytes);
        return text->substr(0, static_cast<size_t>(std::max<int64_t>(first_bytes, 0)));
    }
    std::string path_of(const std::string& name) const override {
        return normal_path(folder_ + "/" + name);
    }

private:
    const std::string* buffer(const std::string& name) const {
        if (!is_plain_name(name)) return nullptr;
        const auto found = buffers_.find(path_of(name));
        return found == buffers_.end() ? nullptr : found->second.get();
    }

    std::string folder_;
    std::shared_ptr<const ModelSource> files_;
    Buffers buffers_;
};

tensor::SharedBytes shared_bytes(const SharedText& text) {
    struct Owner {
        SharedText text;
        std::string_view view;
    };
    auto owner = std::make_shared<const Owner>(Owner{text, *text});
    return {owner, &owner->view};
}

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether the word `graph` is in the text, outside of comments and strings.
bool has_graph(std::string_view text) {
    constexpr std::string_view kWord = "graph";
    for (size_t at = text.find(kWord); at != text.npos; at = text.find(kWord, at + 1)) {
        const size_t end = at + kWord.size();
        const bool whole = (at == 0 || !is_word_character(text[at - 1])) &&
                           (end == text.size() || !is_word_character(text[end]));
        const size_t line = at == 0 ? 0 : text.find_last_of("\r\n", at - 1) + 1;
        const std::string_view before = text.substr(line, at - line);
        if (whole && before.find_first_of("#'\"") == before.npos) return true;
    }
    return false;
}

bool is_inside(const fs::path& folder, const std::vector<std::string>& roots) {
    return std::ranges::any_of(roots, [&](const std::string& root) {
        const auto [end, nothing] = std::ranges::mismatch(fs::path(root), folder);
        return end == fs::path(root).end();
    });
}

}  // namespace

ModelPlace model_place(const std::string& path,
                       std::string_view text,
                       const std::vector<std::string>& roots,
                       const Buffers& buffers) {
    const fs::path file(path);
    ModelPlace place{.folder = file.parent_path().string()};
    if (file.extension() != ".sknd" || file.filename() == "main.sknd" || has_graph(text))
        return place;
    place.library = true;
    constexpr int kMaxLevels = 16;
    fs::path folder = file.parent_path();
    for (int level = 0; level < kMaxLevels; ++level, folder = folder.parent_path()) {
        const bool here = level == 0 || is_inside(folder, roots);
        if (!here) break;
        std::error_code ignored;
        const std::string main = (folder / "main.sknd").string();
        if (buffers.contains(main) || fs::exists(main, ignored)) {
            place.folder = folder.string();
            break;
        }
        if (folder == folder.parent_path()) break;
    }
    return place;
}

Result<model::ModelFile> model_of(const std::string& path,
                                  const SharedText& text,
                                  Language language,
                                  const std::string& folder,
                                  const Buffers& buffers) {
    if (path.empty()) {
        const char* const name = language == Language::Nnef1 ? "graph.nnef" : "main.sknd";
        std::vector<tensor::MemoryFile> files;
        files.push_back({.name = name, .bytes = shared_bytes(text)});
        return model::find_in_memory(std::move(files));
    }
    const fs::path file(path);
    Buffers with_text = buffers;
    with_text[path] = text;
    const bool deep = file.filename() == "graph.nnef";
    auto files =
        tensor::open_folder(folder, deep ? tensor::FolderDepth::Deep : tensor::FolderDepth::Flat);
    return model::ModelFile{
        .format = language == Language::Nnef1 ? model::Format::Nnef1 : model::Format::SkriptND,
        .path = path,
        .name = file.stem().string(),
        .main = file.lexically_relative(folder).string(),
        .kind = FileKind::Any,
        .source = std::make_shared<OverlaySource>(folder, std::move(files), std::move(with_text))};
}

}  // namespace lemma::lsp
