// SPDX-License-Identifier: Apache-2.0
#include "serve/core/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace lemma::serve {

struct Scheduler::Job {
    InferRequest request;
    std::vector<std::pair<size_t, bool>> outputs;
    Reply reply;
    Work work;
    Clock::time_point arrived = Clock::now();
    Clock::time_point started;
    std::list<std::shared_ptr<Job>>::iterator place;  // in running_
    int64_t batch = 1;                                // requests that began with it
};

Scheduler::Scheduler(const ServedModel& model,
                     const SchedulerOptions& options,
                     ModelMetrics& metrics)
    : model_(model), options_(options), metrics_(metrics) {}

Answer<std::unique_ptr<Scheduler>> Scheduler::create(const ServedModel& model,
                                                     const SchedulerOptions& options,
                                                     ModelMetrics& metrics) {
    auto scheduler = std::unique_ptr<Scheduler>(new Scheduler(model, options, metrics));
    for (int i = 0; i < options.sessions; ++i) {
        auto runner = Runner::create(model, options.threads, options.max_batch > 1);
        if (!runner) return std::unexpected(runner.error());
        scheduler->runners_.push_back(std::move(*runner));
    }
    for (const auto& runner : scheduler->runners_) {
        scheduler->workers_.emplace_back(
            [raw = scheduler.get(), &runner = *runner] { raw->work(runner); });
    }
    return scheduler;
}

void Scheduler::stop() {
    std::deque<std::shared_ptr<Job>> left;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        left.swap(waiting_);
        for (const auto& job : running_) lemma_stop_now(job->work.stop.get());
    }
    filled_.notify_all();
    metrics_.waiting -= static_cast<int64_t>(left.size());
    for (const auto& job : left) {
        answer(*job, fails(Code::Unavailable, "the server stops"));
    }
    for (std::thread& worker : workers_) {
        if (worker.joinable()) worker.join();
    }
}

Answer<std::shared_ptr<Scheduler::Job>> Scheduler::submit(InferRequest request, Reply reply) {
    auto job = std::make_shared<Job>();
    job->request = std::move(request);
    auto inputs = model_.order_inputs(job->request);
    if (!inputs) return std::unexpected(inputs.error());
    auto outputs = model_.order_outputs(job->request);
    if (!outputs) return std::unexpected(outputs.error());
    job->work.inputs = std::move(*inputs);
    job->work.deadline = job->request.deadline;
    job->work.stop.reset(lemma_stop_create());
    job->outputs = std::move(*outputs);
    job->reply = std::move(reply);
    {
        const std::lock_guard lock(mutex_);
        if (stop_) return fails(Code::Unavailable, "the server stops");
        if (waiting_.size() >= options_.queue) {
            return fails(Code::Exhausted,
                         fmt::format("{} requests wait already; try again later", waiting_.size()));
        }
        waiting_.push_back(job);
        ++metrics_.waiting;
    }
    filled_.notify_one();
    return job;
}

void Scheduler::cancel(const std::shared_ptr<Job>& job) {
    lemma_stop_now(job->work.stop.get());
    bool waited = false;
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(waiting_, job);
        waited = found != waiting_.end();
        if (waited) waiting_.erase(found);
    }
    if (!waited) return;
    --metrics_.waiting;
    answer(*job, fails(Code::Cancelled, "the request was cancelled"));
}

// Those that need no run any more. The caller holds the lock.
std::vector<std::shared_ptr<Scheduler::Job>> Scheduler::take_lost(Clock::time_point now) {
    std::vector<std::shared_ptr<Job>> lost;
    std::erase_if(waiting_, [&](const std::shared_ptr<Job>& job) {
        const bool gone = job->request.abandoned && job->request.abandoned();
        if (gone) lemma_stop_now(job->work.stop.get());
        if (!gone && now < job->request.deadline) return false;
        lost.push_back(job);
        return true;
    });
    return lost;
}

void Scheduler::tick() {
    std::vector<std::shared_ptr<Job>> lost;
    {
        const std::lock_guard lock(mutex_);
        lost = take_lost(Clock::now());
        for (const auto& job : running_) {
            if (job->request.abandoned && job->request.abandoned()) {
                lemma_stop_now(job->work.stop.get());
            }
        }
    }
    metrics_.waiting -= static_cast<int64_t>(lost.size());
    for (const auto& job : lost) {
        const bool gone = lemma_stop_requested(job->work.stop.get()) != 0;
        answer(*job,
               gone
                   ? fails(Code::Cancelled, "the client went away")
                   : fails(Code::Deadline, "the time limit was over before the request could run"));
    }
}

bool Scheduler::idle() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && running_.empty();
}

// Takes waiting jobs, which then run. The caller holds the lock.
std::vector<Work*> Scheduler::take(size_t most) {
    const size_t count = stop_ ? 0 : std::min(most, waiting_.size());
    std::vector<Work*> works;
    for (size_t i = 0; i < count; ++i) {
        const auto place = running_.insert(running_.end(), std::move(waiting_.front()));
        waiting_.pop_front();
        Job& job = **place;
        job.place = place;
        job.started = Clock::now();
        job.batch = static_cast<int64_t>(count);
        job.work.owner = &job;
        works.push_back(&job.work);
    }
    metrics_.waiting -= static_cast<int64_t>(count);
    metrics_.running += static_cast<int64_t>(count);
    return works;
}

// Empty when the scheduler stops. A group is complete when it has `max_batch` requests, or when
// its first one has waited for the delay.
std::vector<Work*> Scheduler::next_group() {
    std::unique_lock lock(mutex_);
    const auto most = static_cast<size_t>(options_.max_batch);
    filled_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    while (!stop_ && options_.batch_delay.count() > 0 && waiting_.size() < most) {
        // Another worker may have taken the requests in the meantime.
        if (waiting_.empty()) {
            filled_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
            continue;
        }
        const Clock::time_point end = waiting_.front()->arrived + options_.batch_delay;
        if (filled_.wait_until(lock, end) == std::cv_status::timeout && !waiting_.empty()) break;
    }
    auto group = take(most);
    if (!waiting_.empty()) filled_.notify_one();  // another worker may have slept through it
    return group;
}

// For a lane that is free while others of its group still run.
std::vector<Work*> Scheduler::take_more(size_t most) {
    const std::lock_guard lock(mutex_);
    return take(std::min(most, static_cast<size_t>(options_.max_batch)));
}

void Scheduler::work(Runner& runner) {
    const auto begin = [this](std::vector<Work*> works) {
        if (!works.empty()) metrics_.batch_size.add(static_cast<double>(works.size()));
        return works;
    };
    const Runner::Callbacks callbacks = {
        .done = [this](Work& work) { finish(*static_cast<Job*>(work.owner)); },
        .more = [&](size_t most) { return begin(take_more(most)); },
    };
    while (true) {
        const auto group = begin(next_group());
        if (!group.empty()) {
            runner.run(group, callbacks);
            continue;
        }
        const std::lock_guard lock(mutex_);
        if (stop_) return;
    }
}

// Called once for each job that ran.
void Scheduler::finish(Job& job) {
    std::shared_ptr<Job> self;
    {
        const std::lock_guard lock(mutex_);
        self = *job.place;
        running_.erase(job.place);
    }
    --metrics_.running;
    Timing timing;
    timing.queue = std::chrono::duration<double>(job.started - job.arrived).count();
    timing.compute = job.work.seconds;
    timing.batch = job.batch;
    metrics_.queue_seconds.add(timing.queue);
    metrics_.compute_seconds.add(timing.compute);
    if (job.work.failure) return answer(job, std::unexpected(*job.work.failure));
    if (Clock::now() > job.request.deadline) {
        return answer(job, fails(Code::Deadline, "the time limit is over"));
    }
    InferResponse response;
    response.id = job.request.id;
    response.timing = timing;
    for (const auto& [index, binary] : job.outputs) {
        TensorValue& output = job.work.outputs[index];
        if (output.type == LEMMA_NO_TYPE) continue;  // an optional one that the run did not make
        response.outputs.push_back(output);
        response.binary.push_back(binary);
    }
    answer(job, std::move(response));
}

void Scheduler::answer(Job& job, Answer<InferResponse> response) {
    metrics_.count(response ? Code::Good : response.error().code);
    const Reply reply = std::move(job.reply);
    job.reply = nullptr;
    if (reply) reply(std::move(response));
}

}  // namespace lemma::serve
