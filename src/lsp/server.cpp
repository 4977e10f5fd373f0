// SPDX-License-Identifier: Apache-2.0
// Requests and their answers; texts.cpp has the notifications about texts.
#include "lsp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/version.h"
#include "lsp/text/uri.h"

namespace lemma::lsp {

namespace {

constexpr size_t kMaxWaitingRequests = 1000;

Encoding chosen_encoding(const Json& capabilities) {
    for (const Json& offered : member_at(capabilities, "general/positionEncodings")) {
        const std::string name = text_of(offered);
        if (name == "utf-8") return Encoding::Utf8;
        if (name == "utf-16") return Encoding::Utf16;
        if (name == "utf-32") return Encoding::Utf32;
    }
    return Encoding::Utf16;
}

std::vector<std::string> given_roots(const Json& params) {
    std::vector<std::string> roots;
    const auto add = [&](const std::string& path) {
        if (!path.empty()) roots.push_back(path);
    };
    const Json& folders = member(params, "workspaceFolders");
    for (const Json& folder : folders) add(path_of_uri(text_of(member(folder, "uri"))));
    if (roots.empty()) add(path_of_uri(text_of(member(params, "rootUri"))));
    return roots;
}

}  // namespace

void Server::answer(const Json& id, const Answer& result) { around_.send(answer_text(id, result)); }

void Server::notify(const std::string& method, Json params) {
    around_.send(notification_text(method, std::move(params)));
}

void Server::show_message(const std::string& text) {
    constexpr int kWarning = 2;
    notify("window/showMessage", {{"type", kWarning}, {"message", text}});
}

void Server::refuse(const BadMessage& message) {
    around_.log(fmt::format("refused: {}", message.error.message));
    answer(message.id, std::unexpected(message.error));
}

void Server::handle(const Message& message) {
    if (message.kind == MessageKind::Response) return;
    const auto begin = std::chrono::steady_clock::now();
    if (message.kind == MessageKind::Notification) {
        notice(message);
    } else {
        bool waits = false;
        const Answer result = around_.take_cancelled(message.id)
                                  ? refused(kRequestCancelled, "cancelled")
                                  : request(message, waits);
        if (!waits) answer(message.id, result);
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    around_.log(fmt::format("{} {:.3f} ms", message.method, time.count()));
}

Answer Server::request(const Message& message, bool& waits) {
    if (message.method == "initialize") return initialize(message.params);
    if (!initialized_) return refused(kNotInitialized, "`initialize` comes first");
    if (shut_down_) return refused(kInvalidRequest, "the server is shut down");
    if (message.method == "shutdown") {
        shut_down_ = true;
        return Json();
    }
    for (const WorkspaceFeature& feature : workspace_features()) {
        if (feature.method == message.method)
            return feature.answer(workspace_, message.params, views_);
    }
    for (const Feature& feature : document_features()) {
        if (feature.method == message.method) return document_request(feature, message, waits);
    }
    return refused(kMethodNotFound, fmt::format("no method `{}`", message.method));
}

Answer Server::document_request(const Feature& feature, const Message& message, bool& waits) {
    const std::string uri = text_of(member_at(message.params, "textDocument/uri"));
    const Document* const document = workspace_.find(uri);
    if (!document) return refused(kInvalidParams, fmt::format("`{}` is not open", uri));
    if (document->language() == Language::None) return Json();
    const auto found = analyses_.find(uri);
    const Analysis* const analysis = found == analyses_.end() ? nullptr : found->second.get();
    const Query query{workspace_, *document, analysis, message.params, views_, tokens_};
    if (!feature.waits || query.fresh()) return feature.answer(query);
    if (waiting_.size() >= kMaxWaitingRequests)
        return refused(kRequestFailed, "too many requests are waiting");
    waits = true;
    waiting_.push_back({message.id, &feature, message.params, uri});
    return Json();
}

void Server::answer_waiting(const std::string& uri) {
    const auto ours = std::ranges::stable_partition(
        waiting_, [&](const Waiting& waiting) { return waiting.uri != uri; });
    std::vector<Waiting> ready(std::make_move_iterator(ours.begin()),
                               std::make_move_iterator(ours.end()));
    waiting_.erase(ours.begin(), ours.end());
    const Document* const document = workspace_.find(uri);
    const auto analysis = analyses_.find(uri);
    for (const Waiting& waiting : ready) {
        if (!document || analysis == analyses_.end()) {
            answer(waiting.id, refused(kRequestFailed, "the text was closed"));
            continue;
        }
        const Query query{
            workspace_, *document, analysis->second.get(), waiting.params, views_, tokens_};
        answer(waiting.id, waiting.feature->answer(query));
    }
}

void Server::drop_cancelled() {
    std::erase_if(waiting_, [&](const Waiting& waiting) {
        if (!around_.take_cancelled(waiting.id)) return false;
        answer(waiting.id, refused(kRequestCancelled, "cancelled"));
        return true;
    });
}

Answer Server::initialize(const Json& params) {
    if (initialized_) return refused(kInvalidRequest, "the server is initialized");
    initialized_ = true;
    const Json& capabilities = member(params, "capabilities");
    workspace_.encoding = chosen_encoding(capabilities);
    workspace_.client = client_features(capabilities);
    workspace_.roots = given_roots(params);
    return Json{{"capabilities", server_capabilities(workspace_.encoding)},
                {"serverInfo", {{"name", "lemma"}, {"version", kVersion}}}};
}

void Server::notice(const Message& message) {
    if (message.method == "exit") {
        status_ = shut_down_ ? 0 : 1;
        return;
    }
    if (!initialized_ || shut_down_) return;
    static constexpr std::pair<std::string_view, Notice> kNotices[] = {
        {"initialized", &Server::did_initialize},
        {"textDocument/didOpen", &Server::did_open},
        {"textDocument/didChange", &Server::did_change},
        {"textDocument/didClose", &Server::did_close},
        {"workspace/didChangeWatchedFiles", &Server::did_change_files},
        {"workspace/didChangeWorkspaceFolders", &Server::did_change_folders}};
    for (const auto& [method, handler] : kNotices) {
        if (method == message.method) (this->*handler)(message.params);
    }
}

// The files of open models are watched, data included.
void Server::did_initialize(const Json&) {
    if (!workspace_.client.watch_files) return;
    Json watchers = Json::array();
    for (const char* pattern : {"**/*.sknd", "**/*.nnef", "**/*.quant", "**/*.dat"})
        watchers.push_back({{"globPattern", pattern}});
    const Json registration = {{"id", "files"},
                               {"method", "workspace/didChangeWatchedFiles"},
                               {"registerOptions", {{"watchers", std::move(watchers)}}}};
    around_.send(request_text(
        next_id_++, "client/registerCapability", {{"registrations", Json::array({registration})}}));
}

}  // namespace lemma::lsp
