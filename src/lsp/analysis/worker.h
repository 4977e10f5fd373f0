// SPDX-License-Identifier: Apache-2.0
// lsp/analysis/worker.h — a thread that analyses texts, so that the server can answer meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lsp/analysis/analysis.h"

namespace lemma::lsp {

class Worker {
public:
    using Done = std::function<void(std::shared_ptr<const Analysis>)>;

    // `done` is called in the thread of the worker. A job waits for `delay`, so that fast typing
    // does not start one for each key.
    Worker(Done done, std::chrono::milliseconds delay);
    // Ends the job that is running at its next step.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // A newer job replaces the one for the same text, which stops if it is running.
    void post(Job job);
    void drop(const std::string& uri);

private:
    void run();

    Done done_;
    std::chrono::milliseconds delay_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    std::chrono::steady_clock::time_point start_;  // the earliest start of the next job
    std::string running_;                          // the text of the running job
    std::atomic<bool> stop_{false};                // for the running job
    bool end_ = false;
    std::thread thread_;
};

}  // namespace lemma::lsp
