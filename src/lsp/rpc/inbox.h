// SPDX-License-Identifier: Apache-2.0
// lsp/rpc/inbox.h — a thread that reads messages from a descriptor, and the queue of them. The
// thread stops reading while much is waiting, so memory is bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "lsp/rpc/framing.h"
#include "lsp/rpc/message.h"

namespace lemma::lsp {

struct EndOfInput {};
// Something else happened; the owner of the queue knows what.
struct Wake {};
using Event = std::variant<EndOfInput, Wake, Message, BadMessage>;

class Inbox {
public:
    explicit Inbox(int descriptor, FrameLimits limits = {});
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    // Waits for the next event.
    Event next();
    void wake();
    // Whether the client has cancelled this request, of those that it has sent.
    bool take_cancelled(const Json& id);

private:
    void read();
    void push(const Frame& frame);

    int descriptor_;
    int end_pipe_[2] = {-1, -1};  // ends the wait of the thread
    FrameReader frames_;
    std::mutex mutex_;
    std::condition_variable filled_, emptied_;
    std::deque<std::pair<Event, size_t>> events_;  // with the bytes of each
    std::deque<Json> cancelled_;
    size_t bytes_ = 0;
    bool woken_ = false;
    bool ended_ = false;  // nothing more can be read
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace lemma::lsp
