// SPDX-License-Identifier: Apache-2.0
#include "lsp/run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <mutex>

#include "base/match.h"
#include "lsp/analysis/worker.h"
#include "lsp/rpc/inbox.h"
#include "lsp/server.h"

namespace lemma::lsp {

namespace {

// False if the client has gone.
bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

// An analysis needs as much memory as the one before it: keeping a part of it saves page faults.
void keep_memory() {
#ifdef M_TRIM_THRESHOLD
    constexpr int kKept = 64 << 20;
    ::mallopt(M_TRIM_THRESHOLD, kKept);
    ::mallopt(M_MMAP_THRESHOLD, kKept);
#endif
}

// Analyses on their way from the worker to the server.
class Finished {
public:
    void add(std::shared_ptr<const Analysis> analysis) {
        const std::lock_guard lock(mutex_);
        analyses_.push_back(std::move(analysis));
    }
    std::shared_ptr<const Analysis> take() {
        const std::lock_guard lock(mutex_);
        if (analyses_.empty()) return nullptr;
        auto analysis = std::move(analyses_.front());
        analyses_.pop_front();
        return analysis;
    }

private:
    std::mutex mutex_;
    std::deque<std::shared_ptr<const Analysis>> analyses_;
};

}  // namespace

Result<int> run(const RunOptions& options) {
    std::ofstream log;
    if (!options.log.empty()) {
        log.open(options.log, std::ios::app);
        if (!log) return std::unexpected(Error{fmt::format("cannot write `{}`", options.log)});
    }
    keep_memory();
    std::signal(SIGPIPE, SIG_IGN);  // a write fails instead
    bool gone = false;
    Finished finished;
    Inbox inbox(options.input, {.max_body_bytes = static_cast<size_t>(options.max_message)});
    Worker worker(
        [&](std::shared_ptr<const Analysis> analysis) {
            finished.add(std::move(analysis));
            inbox.wake();
        },
        std::chrono::milliseconds(options.delay_ms));
    Server server({.send =
                       [&](const std::string& body) {
                           gone = gone || !write_all(options.output, framed(body));
                       },
                   .post = [&](Job job) { worker.post(std::move(job)); },
                   .drop = [&](const std::string& uri) { worker.drop(uri); },
                   .take_cancelled = [&](const Json& id) { return inbox.take_cancelled(id); },
                   .log =
                       [&](const std::string& line) {
                           if (log.is_open()) log << line << std::endl;
                       }});
    while (!server.status() && !gone) {
        const Event event = inbox.next();
        if (std::holds_alternative<EndOfInput>(event)) return 1;
        match(
            event,
            [&](const Message& message) { server.handle(message); },
            [&](const BadMessage& message) { server.refuse(message); },
            [&](const Wake&) {
                server.drop_cancelled();
                while (auto analysis = finished.take()) server.analysed(std::move(analysis));
            },
            [&](const EndOfInput&) {});
    }
    return server.status().value_or(1);
}

}  // namespace lemma::lsp
