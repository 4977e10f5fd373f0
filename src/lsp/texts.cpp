// SPDX-License-Identifier: Apache-2.0
// Notifications about texts and files, and the diagnostics that follow from them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "lsp/server.h"
#include "lsp/text/uri.h"
#include "lsp/workspace/library_files.h"

namespace lemma::lsp {

namespace {

std::vector<Edit> edits_of(const Json& changes) {
    std::vector<Edit> edits;
    for (const Json& change : changes) {
        Edit edit{.text = text_of(member(change, "text"))};
        const Json& range = member(change, "range");
        if (range.is_object()) {
            edit.begin = position_of(member(range, "start"));
            edit.end = position_of(member(range, "end"));
        }
        edits.push_back(std::move(edit));
    }
    return edits;
}

bool holds(const std::vector<std::string>& texts, const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
}

bool is_below(const std::string& path, const std::string& folder) {
    return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

}  // namespace

void Server::did_open(const Json& params) {
    const Json& item = member(params, "textDocument");
    const std::string uri = text_of(member(item, "uri"));
    std::string text = text_of(member(item, "text"));
    if (uri.empty()) return;
    const bool fits =
        workspace_.documents.size() < kMaxDocuments && text.size() <= kMaxDocumentBytes;
    if (!fits) {
        show_message(fmt::format("`{}` is not opened: too many or too large texts", uri));
        return;
    }
    const Language language = language_of_document(uri, text_of(member(item, "languageId")), text);
    workspace_.documents.erase(uri);
    analyses_.erase(uri);
    const auto [opened, added] = workspace_.documents.emplace(
        uri,
        Document(
            uri, language, int_of(member(item, "version")), std::move(text), workspace_.encoding));
    forget_others(uri);
    post(opened->second);
    post_dependents(opened->second.path(), uri);
}

void Server::did_change(const Json& params) {
    const std::string uri = text_of(member_at(params, "textDocument/uri"));
    const auto found = workspace_.documents.find(uri);
    if (found == workspace_.documents.end()) return;
    Document& document = found->second;
    const int64_t version =
        int_of(member_at(params, "textDocument/version"), document.version() + 1);
    if (!document.apply(edits_of(member(params, "contentChanges")), version, kMaxDocumentBytes)) {
        show_message(fmt::format("`{}` has become too large", uri));
        return;
    }
    forget_others(uri);
    post(document);
    post_dependents(document.path(), uri);
}

void Server::did_close(const Json& params) {
    const std::string uri = text_of(member_at(params, "textDocument/uri"));
    const auto found = workspace_.documents.find(uri);
    if (found == workspace_.documents.end()) return;
    const std::string path = found->second.path();
    around_.drop(uri);
    analyses_.erase(uri);
    tokens_.forget(uri);
    workspace_.documents.erase(found);
    answer_waiting(uri);
    set_diagnostics(uri, {});
    found_.erase(uri);
    post_dependents(path, uri);
}

void Server::did_change_files(const Json& params) {
    for (const Json& change : member(params, "changes"))
        post_dependents(path_of_uri(text_of(member(change, "uri"))), "");
}

void Server::did_change_folders(const Json& params) {
    const Json& event = member(params, "event");
    for (const Json& folder : member(event, "removed"))
        std::erase(workspace_.roots, path_of_uri(text_of(member(folder, "uri"))));
    for (const Json& folder : member(event, "added")) {
        const std::string path = path_of_uri(text_of(member(folder, "uri")));
        if (!path.empty() && !holds(workspace_.roots, path)) workspace_.roots.push_back(path);
    }
}

// ---- Analyses -----------------------------------------------------------------------------------

void Server::post(const Document& document) {
    // The copies of the standard modules are right.
    if (document.language() == Language::None || !library_name(document.path()).empty()) return;
    around_.post({.uri = document.uri(),
                  .path = document.path(),
                  .language = document.language(),
                  .version = document.version(),
                  .revision = document.revision(),
                  .text = document.shared_text(),
                  .buffers = workspace_.buffers(),
                  .roots = workspace_.roots});
}

// A text depends on the files that its analysis has read, and on those that it may look for: all
// below its folder.
void Server::post_dependents(const std::string& path, const std::string& except) {
    if (path.empty()) return;
    for (auto& [uri, document] : workspace_.documents) {
        if (uri == except || document.path().empty()) continue;
        const std::string folder = std::filesystem::path(document.path()).parent_path().string();
        const auto analysis = analyses_.find(uri);
        const bool read = analysis != analyses_.end() && holds(analysis->second->paths(), path);
        if (!read && !is_below(path, folder)) continue;
        document.outdate();
        post(document);
    }
}

void Server::analysed(std::shared_ptr<const Analysis> analysis) {
    const Document* const document = workspace_.find(analysis->uri);
    if (!document || document->revision() != analysis->revision) return;
    const std::string uri = analysis->uri;
    set_diagnostics(uri, diagnostics_of(*analysis, workspace_));
    analyses_[uri] = std::move(analysis);
    answer_waiting(uri);
}

// ---- Diagnostics --------------------------------------------------------------------------------

void Server::set_diagnostics(const std::string& uri, DiagnosticLists lists) {
    std::set<std::string> changed = {uri};
    for (const auto& [target, list] : found_[uri]) changed.insert(target);
    for (const auto& [target, list] : lists) changed.insert(target);
    found_[uri] = std::move(lists);
    for (const std::string& target : changed) publish(target);
}

// What other texts have found in this one is about its old text.
void Server::forget_others(const std::string& uri) {
    for (auto& [source, lists] : found_) {
        if (source != uri) lists.erase(uri);
    }
}

// Several open models may have found the same fault in a module.
void Server::publish(const std::string& uri) {
    Json all = Json::array();
    std::set<std::string> seen;
    for (const auto& [source, lists] : found_) {
        const auto found = lists.find(uri);
        if (found == lists.end()) continue;
        for (const Json& item : found->second) {
            if (seen.insert(written(item)).second) all.push_back(item);
        }
    }
    Json params = {{"uri", uri}, {"diagnostics", std::move(all)}};
    if (const Document* const document = workspace_.find(uri))
        params["version"] = document->version();
    notify("textDocument/publishDiagnostics", std::move(params));
}

}  // namespace lemma::lsp
