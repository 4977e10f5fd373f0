// SPDX-License-Identifier: Apache-2.0
// lsp/server.h — the language server without its threads: messages in, messages out. Analyses are
// made elsewhere; requests that need one wait for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lsp/analysis/analysis.h"
#include "lsp/analysis/diagnostics.h"
#include "lsp/features/feature.h"
#include "lsp/rpc/message.h"
#include "lsp/workspace/workspace.h"

namespace lemma::lsp {

// What the server needs from its surroundings.
struct Surroundings {
    std::function<void(const std::string& body)> send;
    std::function<void(Job)> post;                       // asks for an analysis
    std::function<void(const std::string& uri)> drop;    // it is not needed any more
    std::function<bool(const Json& id)> take_cancelled;  // whether a request is cancelled
    std::function<void(const std::string& line)> log;
};

class Server {
public:
    explicit Server(Surroundings surroundings) : around_(std::move(surroundings)) {}

    void handle(const Message& message);
    void refuse(const BadMessage& message);
    void analysed(std::shared_ptr<const Analysis> analysis);
    // Answers waiting requests that the client has cancelled.
    void drop_cancelled();
    // The exit status, once the client has ended the server; 1 if it did so without `shutdown`.
    std::optional<int> status() const { return status_; }

private:
    using Notice = void (Server::*)(const Json&);
    struct Waiting {
        Json id;
        const Feature* feature;
        Json params;
        std::string uri;
    };

    Answer request(const Message& message, bool& waits);
    Answer document_request(const Feature& feature, const Message& message, bool& waits);
    Answer initialize(const Json& params);
    void notice(const Message& message);
    void answer(const Json& id, const Answer& result);
    void answer_waiting(const std::string& uri);

    void did_initialize(const Json& params);
    void did_open(const Json& params);
    void did_change(const Json& params);
    void did_close(const Json& params);
    void did_change_files(const Json& params);
    void did_change_folders(const Json& params);

    void notify(const std::string& method, Json params);
    void post(const Document& document);
    void post_dependents(const std::string& path, const std::string& except);
    void set_diagnostics(const std::string& uri, DiagnosticLists lists);
    void forget_others(const std::string& uri);
    void publish(const std::string& uri);
    void show_message(const std::string& text);

    Surroundings around_;
    Workspace workspace_;
    Views views_;
    TokenResults tokens_;
    std::map<std::string, std::shared_ptr<const Analysis>> analyses_;  // by address
    std::map<std::string, DiagnosticLists> found_;  // by the address of the analysed text
    std::vector<Waiting> waiting_;
    bool initialized_ = false;
    bool shut_down_ = false;
    std::optional<int> status_;
    int64_t next_id_ = 1;
};

}  // namespace lemma::lsp
