// SPDX-License-Identifier: Apache-2.0
#include "lsp/workspace/workspace.h"

#include <algorithm>
#include <filesystem>

#include "base/open_file.h"
#include "diag/source.h"
#include "lsp/text/uri.h"

namespace lemma::lsp {

ClientFeatures client_features(const Json& capabilities) {
    const Json& text = member(capabilities, "textDocument");
    const Json& workspace = member(capabilities, "workspace");
    return {
        .snippets = bool_of(member_at(text, "completion/completionItem/snippetSupport")),
        .hierarchical_symbols =
            bool_of(member_at(text, "documentSymbol/hierarchicalDocumentSymbolSupport")),
        .related_information = bool_of(member_at(text, "publishDiagnostics/relatedInformation")),
        .refresh_inlay_hints = bool_of(member_at(workspace, "inlayHint/refreshSupport")),
        .watch_files = bool_of(member_at(workspace, "didChangeWatchedFiles/dynamicRegistration")),
        .edit_versions = bool_of(member_at(workspace, "workspaceEdit/documentChanges"))};
}

const Document* Workspace::find(const std::string& uri) const {
    const auto found = documents.find(uri);
    return found == documents.end() ? nullptr : &found->second;
}

const Document* Workspace::find_path(const std::string& path) const {
    for (const auto& [uri, document] : documents) {
        if (!path.empty() && document.path() == path) return &document;
    }
    return nullptr;
}

std::string Workspace::uri_of(const std::string& path) const {
    const Document* const open = find_path(path);
    return open ? open->uri() : uri_of_path(path);
}

Buffers Workspace::buffers() const {
    Buffers buffers;
    for (const auto& [uri, document] : documents) {
        if (!document.path().empty()) buffers[document.path()] = document.shared_text();
    }
    return buffers;
}

std::optional<std::string> Workspace::text_of_file(const std::string& path) const {
    if (const Document* const open = find_path(path)) return open->text();
    auto text = diag::read_source(path, kMaxDocumentBytes);
    if (!text) return std::nullopt;
    return std::move(*text);
}

std::vector<std::string> Workspace::files(std::string_view ending,
                                          const std::string& folder) const {
    namespace fs = std::filesystem;
    constexpr size_t kMaxEntries = 50'000;
    constexpr int kMaxLevels = 12;
    std::vector<std::string> found;
    std::vector<std::string> folders = roots;
    if (!folder.empty()) folders.push_back(folder);
    size_t entries = 0;
    for (const std::string& root : folders) {
        std::error_code error;
        fs::recursive_directory_iterator at(
            root, fs::directory_options::skip_permission_denied, error);
        for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
            if (++entries > kMaxEntries || found.size() >= kMaxFiles) break;
            const std::string name = at->path().filename().string();
            std::error_code ignored;
            if (at->is_directory(ignored) && (name.starts_with('.') || at.depth() > kMaxLevels))
                at.disable_recursion_pending();
            if (name.ends_with(ending) && at->is_regular_file(ignored))
                found.push_back(normal_path(at->path().string()));
        }
    }
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    return found;
}

Position position_of(const Json& value) {
    const auto clamped = [](int64_t number) {
        return static_cast<uint32_t>(std::clamp<int64_t>(number, 0, UINT32_MAX));
    };
    return {clamped(int_of(member(value, "line"))), clamped(int_of(member(value, "character")))};
}

Json to_json(Position position) {
    return {{"line", position.line}, {"character", position.character}};
}

Json range_json(const LineIndex& lines, TextSpan span) {
    return {{"start", to_json(lines.position(span.begin))},
            {"end", to_json(lines.position(span.end))}};
}

Json location_json(const std::string& uri, const LineIndex& lines, TextSpan span) {
    return {{"uri", uri}, {"range", range_json(lines, span)}};
}

}  // namespace lemma::lsp
