// SPDX-License-Identifier: Apache-2.0
#include "lsp/analysis/worker.h"

#include <algorithm>
#include <utility>

namespace lemma::lsp {

Worker::Worker(Done done, std::chrono::milliseconds delay)
    : done_(std::move(done)), delay_(delay), thread_([this] { run(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
        stop_ = true;
        jobs_.clear();
    }
    changed_.notify_all();
    thread_.join();
}

void Worker::post(Job job) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(jobs_, [&](const Job& other) { return other.uri == job.uri; });
        if (running_ == job.uri) stop_ = true;
        start_ = std::chrono::steady_clock::now() + delay_;
        jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
}

void Worker::drop(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [&](const Job& other) { return other.uri == uri; });
    if (running_ == uri) stop_ = true;
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return end_ || !jobs_.empty(); });
        while (!end_ && !jobs_.empty() && std::chrono::steady_clock::now() < start_)
            changed_.wait_until(lock, start_);
        if (end_) return;
        if (jobs_.empty()) continue;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        running_ = job.uri;
        stop_ = false;
        lock.unlock();
        auto analysis = analyse(job, stop_);
        if (!analysis->stopped) done_(std::move(analysis));
        lock.lock();
        running_.clear();
    }
}

}  // namespace lemma::lsp
