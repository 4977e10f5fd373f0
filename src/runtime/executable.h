// SPDX-License-Identifier: Apache-2.0
// runtime/executable.h — a compiled model: memory, and kernel calls in order. It does not depend on
// the compiler.
#pragma once

#include <memory>
#include <vector>

#include "base/control.h"
#include "base/result.h"
#include "runtime/control.h"
#include "runtime/device_memory.h"
#include "runtime/memory.h"
#include "runtime/scratch.h"
#include "runtime/series.h"
#include "runtime/thread_pool.h"

namespace lemma::runtime {

class Executable {
public:
    // Guarded: a kernel that touches memory outside of its buffers is stopped.
    explicit Executable(int threads, bool guarded = false, int processors = usable_processors())
        : pool_(threads, processors), guarded_(guarded) {}

    // Kernels run on the device where they can. Before memory is added.
    Result<void> use_device(std::shared_ptr<Device> device) {
        LEMMA_TRY(device_, DeviceMemory::create(std::move(device)));
        return {};
    }
    // Memory of others that kernels of the device use.
    void show_device(void* data, int64_t bytes) {
        if (device_) device_->add(data, bytes);
    }
    void show_device(std::shared_ptr<DeviceConstants> constants) {
        if (device_) device_->add(std::move(constants));
    }
    // From now on, nobody changes the memory, and others may use it.
    std::shared_ptr<DeviceConstants> share_device(void* data) { return device_->share(data); }
    // What failed since the end of the last run.
    Result<void> finish_device() { return device_ ? device_->finish() : Result<void>(); }
    int64_t device_bytes() const { return device_ ? device_->bytes() : 0; }
    // Whether the device itself has failed: no other engine can say more about it.
    bool device_failed() const { return device_ && device_->failed(); }

    Result<size_t> add_memory(int64_t bytes);
    size_t add_alias(size_t memory, int64_t offset_bytes);
    // Memory whose address loops and branches change.
    size_t add_moving();
    Result<void> give_memory(size_t moving, int64_t bytes);
    // Memory borrowed from the caller; steps only read it.
    void lend_memory(size_t moving, const void* data) { move(moving, const_cast<void*>(data)); }
    // The memory of kScratch: so many bytes for each thread.
    Result<void> set_scratch(int64_t bytes);
    // Frees memory that no step uses any more.
    void release(size_t memory);
    void* memory(size_t index) const { return pieces_[index]; }
    // The same before bytes of it are read or written here; 0: up to the end of the memory.
    const void* read(size_t index, int64_t bytes) const {
        if (device_) device_->read_by_host(pieces_[index], bytes);
        return pieces_[index];
    }
    void* write(size_t index, int64_t bytes) const {
        if (device_) device_->written_by_host(pieces_[index], bytes);
        return pieces_[index];
    }
    // Bytes from elsewhere become those of a piece, or the other way round, on whichever side they
    // are. They are there, and may change, after `finish_device`.
    Result<void> give(size_t to, const void* from, int64_t bytes);
    Result<void> take(void* to, size_t from, int64_t bytes) const;
    // The same with other memory of the device, in a run with a device.
    Result<void> give_there(size_t to, DeviceAddress from, int64_t bytes) {
        return device_->give_there(pieces_[to], from, bytes);
    }
    Result<void> take_there(DeviceAddress to, size_t from, int64_t bytes) {
        return device_->take_there(to, pieces_[from], bytes);
    }
    Result<DeviceAddress> address_there(size_t piece, int64_t bytes) {
        return device_->address(pieces_[piece], bytes);
    }
    Result<void> follow(void* stream) { return device_->follow(stream); }
    // From one piece to another.
    void copy(size_t to, size_t from, int64_t bytes) const {
        copy(pieces_[to], pieces_[from], bytes);
    }
    int64_t bytes() const { return bytes_; }
    int threads() const { return pool_.threads(); }
    int usable_threads() const { return pool_.usable_threads(); }
    // Adds up where the time of all threads goes in the next runs, or ends it (null).
    void measure(ThreadPool::Times* times) { pool_.measure(times); }

    // Runs the steps in order and adds the time of each to `seconds`; the time of a loop excludes
    // its steps. An error if an index left its tensor; the engine words the message.
    // `on_device` gets the time from the first to the last work of the device, if it tells it.
    Result<void> run(const Steps& steps,
                     std::vector<double>* seconds = nullptr,
                     double* on_device = nullptr);
    // The same without waiting for the device: `finish_device` does.
    Result<void> start(const Steps& steps, std::vector<double>* seconds = nullptr);
    // Looks at it between steps; null: nobody stops a run.
    void set_control(const RunControl* control) { control_ = control; }
    // Some items of a kernel.
    Result<void> run_items(const KernelCall& call, int64_t begin, int64_t end);

private:
    // Pieces that lie inside of another one and move with it.
    struct Follower {
        size_t piece;
        int64_t offset;
    };
    Result<void> run_call(const KernelCall& call, int64_t begin, int64_t end);
    Result<void> run_apart(const KernelWave& wave);
    bool walks_backwards(int64_t items) const;
    bool runs_apart(const KernelWave& wave) const;
    Result<size_t> run_series(const Steps& steps, size_t first);
    // Steps of the device that follow each other, from this one on. Returns their number.
    Result<size_t> run_segment(const Steps& steps, size_t first);
    Result<void> run_calls(const DeviceSegment& segment);
    // Measured by the device.
    Result<void> run_marked(const Step& step);
    Result<void> mark_call(const KernelCall& call, size_t number);
    Result<void> collect_marks();
    void* part(const Pack& pack, int64_t index) const;
    void move(size_t piece, void* to);
    void copy(void* to, const void* from, int64_t bytes) const;
    Result<void> run_steps(const Steps& steps);
    Result<void> run_step(const Step& step);
    Result<void> run_loop(const Loop& loop);
    Result<void> begin_iteration(const Loop& loop, int64_t step);
    void end_iteration(const Loop& loop, int64_t step);
    Result<void> run_branch(const Branch& branch);
    Result<bool> holds(const Condition& condition);
    int64_t number(const Number& number) const;
    void set_number(const Number& number, int64_t value) const;

    Result<Memory> zeros(int64_t bytes) const {
        return guarded_ ? Memory::guarded_zeros(bytes) : Memory::zeros(bytes);
    }

    ThreadPool pool_;
    std::unique_ptr<DeviceMemory> device_;  // missing: there is no device
    ScratchMemory scratch_;
    bool guarded_;
    std::vector<Memory> owned_;  // by piece; empty for an alias
    std::vector<void*> pieces_;
    std::vector<std::vector<Follower>> followers_;
    PreparedCall alone_;  // of one thread
    Series series_{pool_, pieces_, scratch_};
    int64_t bytes_ = 0;
    const RunControl* control_ = nullptr;
    std::vector<double>* seconds_ = nullptr;
    std::vector<size_t> marked_;  // whose time it is, by pair of marks of the device
    double inner_ = 0;            // seconds of the steps inside of the current one
    // Every other iteration of a loop walks its items backwards, because the weights read last are
    // still in the cache.
    bool backwards_ = false;
};

}  // namespace lemma::runtime
