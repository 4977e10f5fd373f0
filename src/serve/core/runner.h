// SPDX-License-Identifier: Apache-2.0
// serve/core/runner.h — runs groups of requests in sessions of one model: joined along the first
// axis where that is faster, and spread over threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "serve/core/served_model.h"

namespace lemma::serve {

// One request, in the order of the model; `run` fills in the rest.
struct Work {
    std::vector<const TensorValue*> inputs;  // null: an optional one is missing
    Clock::time_point deadline = Clock::time_point::max();
    StopHandle stop;
    lemma_stop* shared_stop = nullptr;  // of somebody else, instead of `stop`
    void* owner = nullptr;              // for the caller of `Runner::run`

    std::vector<TensorValue> outputs;
    std::optional<Failure> failure;
    double seconds = 0;
};

// A session that runs one work at a time, or several joined ones.
class Lane {
public:
    Lane(const ServedModel& model, SessionHandle session, int threads)
        : model_(model), session_(std::move(session)), threads_(threads) {}

    void run(Work& work);
    // Works of the same shapes besides the first extent. If the joined run fails, each runs alone.
    void run_joined(std::span<Work* const> works);

private:
    std::optional<Failure> run_once(std::span<lemma_tensor> inputs,
                                    std::vector<lemma_tensor>& outputs,
                                    const Work& work);
    bool try_joined(std::span<Work* const> works);
    std::optional<Failure> begin_anew();

    const ServedModel& model_;
    SessionHandle session_;
    int threads_;
};

// Executes one group at a time. A group of one uses a session with all threads; the works of a
// larger group run beside each other in sessions with one thread each, which keeps every processor
// busy from the first operation to the last. Works that come in the meantime join the group.
class Runner {
public:
    static Answer<std::unique_ptr<Runner>> create(const ServedModel& model,
                                                  int threads,
                                                  bool groups);
    ~Runner();

    // Calls `done` for each work as soon as it is finished, from any thread. A lane without work
    // asks for at most so many further ones instead of waiting for the other lanes; `run` ends when
    // there are none.
    struct Callbacks {
        std::function<void(Work&)> done;
        std::function<std::vector<Work*>(size_t)> more;
    };
    void run(std::span<Work* const> group, const Callbacks& callbacks);

private:
    explicit Runner(const ServedModel& model) : model_(model) {}
    std::vector<std::vector<Work*>> pieces_of(std::span<Work* const> group, size_t lanes) const;
    void run_pieces(Lane& lane, const std::vector<std::vector<Work*>>& pieces) const;
    void help(size_t lane);
    void take_pieces(Lane& lane);

    const ServedModel& model_;
    std::unique_ptr<Lane> wide_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<std::thread> helpers_;  // for the lanes after the first

    std::mutex mutex_;
    std::condition_variable begun_;
    std::condition_variable ended_;
    uint64_t round_ = 0;
    size_t busy_ = 0;
    bool stop_ = false;
    std::vector<std::vector<Work*>> pieces_;
    std::atomic<size_t> next_ = 0;
    const Callbacks* callbacks_ = nullptr;
};

// Which of these batch sizes give the same bits as single runs and take less time for each item.
struct Measured {
    std::vector<int64_t> faster;
    std::string remark;
};
Measured measure_sizes(const ServedModel& model,
                       const std::vector<int64_t>& sizes,
                       lemma_stop* stop);

}  // namespace lemma::serve
