// SPDX-License-Identifier: Apache-2.0
#include "lsp/rpc/inbox.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace lemma::lsp {

namespace {

constexpr size_t kMaxWaitingBytes = size_t{128} << 20;
constexpr size_t kMaxWaiting = 10'000;
constexpr size_t kMaxCancelled = 1000;

}  // namespace

Inbox::Inbox(int descriptor, FrameLimits limits) : descriptor_(descriptor), frames_(limits) {
    if (::pipe(end_pipe_) != 0) end_pipe_[0] = end_pipe_[1] = -1;
    thread_ = std::thread([this] { read(); });
}

Inbox::~Inbox() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    emptied_.notify_all();
    if (end_pipe_[1] >= 0) ::close(end_pipe_[1]);
    thread_.join();
    if (end_pipe_[0] >= 0) ::close(end_pipe_[0]);
}

void Inbox::read() {
    char buffer[1 << 16];
    while (true) {
        pollfd waits[2] = {{descriptor_, POLLIN, 0}, {end_pipe_[0], POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0 && errno != EINTR) break;
        if (waits[1].revents != 0) break;
        if (waits[0].revents == 0) continue;
        const ssize_t count = ::read(descriptor_, buffer, sizeof buffer);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) break;
        frames_.add({buffer, static_cast<size_t>(count)});
        while (frames_.ready()) push(frames_.next());
        std::unique_lock lock(mutex_);
        emptied_.wait(lock, [&] {
            return stop_ || (bytes_ < kMaxWaitingBytes && events_.size() < kMaxWaiting);
        });
        if (stop_) break;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    filled_.notify_all();
}

void Inbox::push(const Frame& frame) {
    Event event;
    if (!frame.problem.empty()) {
        event = BadMessage{nullptr, {kParseError, frame.problem}};
    } else if (auto message = read_message(frame.body); !message) {
        event = std::move(message.error());
    } else if (message->method == "$/cancelRequest") {
        const std::lock_guard lock(mutex_);
        cancelled_.push_back(member(message->params, "id"));
        if (cancelled_.size() > kMaxCancelled) cancelled_.pop_front();
        woken_ = true;
        filled_.notify_all();
        return;
    } else {
        event = std::move(*message);
    }
    const std::lock_guard lock(mutex_);
    events_.emplace_back(std::move(event), frame.body.size());
    bytes_ += frame.body.size();
    filled_.notify_all();
}

Event Inbox::next() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return woken_ || ended_ || !events_.empty(); });
    if (std::exchange(woken_, false)) return Wake{};
    if (events_.empty()) return EndOfInput{};
    auto [event, bytes] = std::move(events_.front());
    events_.pop_front();
    bytes_ -= bytes;
    emptied_.notify_all();
    return std::move(event);
}

void Inbox::wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    filled_.notify_all();
}

bool Inbox::take_cancelled(const Json& id) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(cancelled_, id);
    if (found == cancelled_.end()) return false;
    cancelled_.erase(found);
    return true;
}

}  // namespace lemma::lsp
