// SPDX-License-Identifier: Apache-2.0
// serve/core/scheduler.h — the queue of one version of a model: limits, deadlines, cancelled
// requests, and groups of requests that run together.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/core/metrics.h"
#include "serve/core/runner.h"

namespace lemma::serve {

struct SchedulerOptions {
    int threads = 1;
    int sessions = 1;
    int64_t max_batch = 16;
    std::chrono::microseconds batch_delay{0};
    size_t queue = 256;
};

class Scheduler {
public:
    // The model and the metrics outlive the scheduler.
    static Answer<std::unique_ptr<Scheduler>> create(const ServedModel& model,
                                                     const SchedulerOptions& options,
                                                     ModelMetrics& metrics);
    ~Scheduler() { stop(); }

    // A request that was accepted is answered exactly once, from any thread, maybe before this
    // returns. `Answer` holds a request's place, for `cancel`.
    struct Job;
    Answer<std::shared_ptr<Job>> submit(InferRequest request, Reply reply);
    // The client of this job went away. The job is answered nevertheless.
    void cancel(const std::shared_ptr<Job>& job);

    // Answers waiting requests whose time is over, and stops requests whose clients went away. To
    // be called every few milliseconds.
    void tick();
    // Whether nothing waits or runs.
    bool idle();
    // Stops what runs and answers what waits. Later requests are refused.
    void stop();

private:
    Scheduler(const ServedModel& model, const SchedulerOptions& options, ModelMetrics& metrics);
    void work(Runner& runner);
    std::vector<Work*> next_group();
    std::vector<Work*> take(size_t most);
    std::vector<Work*> take_more(size_t most);
    void finish(Job& job);
    void answer(Job& job, Answer<InferResponse> response);
    std::vector<std::shared_ptr<Job>> take_lost(Clock::time_point now);

    const ServedModel& model_;
    const SchedulerOptions options_;
    ModelMetrics& metrics_;
    std::vector<std::unique_ptr<Runner>> runners_;
    std::vector<std::thread> workers_;

    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::shared_ptr<Job>> waiting_;
    std::list<std::shared_ptr<Job>> running_;
    bool stop_ = false;
};

}  // namespace lemma::serve
