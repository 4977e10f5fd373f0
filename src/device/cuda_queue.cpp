// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lemma::device {

namespace {

using runtime::DeviceAddress;

constexpr int64_t kMostBlocks = INT32_MAX;  // of a grid
constexpr size_t kMostArguments = 4096 / sizeof(DeviceAddress);
constexpr size_t kChunks = 8;
constexpr size_t kChunkBytes = size_t{512} << 10;

}  // namespace

// ---- Pinned memory ------------------------------------------------------------------------------

PinnedChunks::~PinnedChunks() {
    for (const Chunk& chunk : chunks_) {
        if (chunk.copied) driver_.destroy_event(chunk.copied);
        if (chunk.memory) driver_.free_pinned(chunk.memory);
    }
}

void PinnedChunks::empty(Chunk& chunk) {
    if (chunk.used && chunk.to) std::memcpy(chunk.to, chunk.memory, chunk.bytes);
    chunk.used = false;
}

void PinnedChunks::empty() {
    for (Chunk& chunk : chunks_) empty(chunk);
}

void PinnedChunks::forget() {
    for (Chunk& chunk : chunks_) chunk.used = false;
}

PinnedChunks::Chunk* PinnedChunks::make_chunk() {
    constexpr unsigned kNoTime = 2;
    Chunk fresh;
    const bool made = driver_.allocate_pinned(&fresh.memory, kChunkBytes, 0) == 0 &&
                      driver_.create_event(&fresh.copied, kNoTime) == 0;
    none_ = !made;  // the driver copies through memory of its own
    return &chunks_.emplace_back(fresh);
}

CuResult PinnedChunks::next(Chunk** chunk) {
    *chunk = nullptr;
    none_ |= !driver_.has_pinned_memory();
    if (none_) return 0;
    const auto unused = std::ranges::find(chunks_, false, &Chunk::used);
    Chunk* found = unused != chunks_.end() ? &*unused : nullptr;
    if (!found && chunks_.size() < kChunks) {
        found = make_chunk();
        if (none_) return 0;
    }
    if (!found) {
        found = &*std::ranges::min_element(chunks_, {}, &Chunk::time);
        if (const CuResult result = driver_.wait_event(found->copied); result != 0) return result;
        empty(*found);
    }
    found->time = ++copies_;
    *chunk = found;
    return 0;
}

PinnedChunks::Chunk* PinnedChunks::with_room(size_t bytes) {
    const auto last = std::ranges::find(chunks_, copies_, &Chunk::time);
    const bool fits =
        last != chunks_.end() && last->used && !last->to && last->bytes + bytes <= kChunkBytes;
    return fits ? &*last : nullptr;
}

CuResult PinnedChunks::upload(CuAddress to, const void* from, size_t bytes, CuStream stream) {
    const auto* source = static_cast<const std::byte*>(from);
    for (size_t size = 0; bytes > 0; to += size, source += size, bytes -= size) {
        Chunk* chunk = with_room(bytes);
        const size_t begin = chunk ? chunk->bytes : 0;
        if (!chunk) {
            if (const CuResult result = next(&chunk); result != 0) return result;
        }
        if (!chunk) return driver_.upload(to, source, bytes, stream);
        size = std::min(bytes, kChunkBytes);
        auto* const memory = static_cast<std::byte*>(chunk->memory) + begin;
        std::memcpy(memory, source, size);
        chunk->used = true;
        chunk->to = nullptr;
        chunk->bytes = begin + size;
        CuResult result = driver_.upload(to, memory, size, stream);
        if (result == 0) result = driver_.record_event(chunk->copied, stream);
        if (result != 0) return result;
    }
    return 0;
}

CuResult PinnedChunks::download(void* to, CuAddress from, size_t bytes, CuStream stream) {
    auto* target = static_cast<std::byte*>(to);
    for (size_t size = 0; bytes > 0; target += size, from += size, bytes -= size) {
        Chunk* chunk = nullptr;
        if (const CuResult result = next(&chunk); result != 0) return result;
        if (!chunk) return driver_.download(target, from, bytes, stream);
        size = std::min(bytes, kChunkBytes);
        CuResult result = driver_.download(chunk->memory, from, size, stream);
        if (result == 0) result = driver_.record_event(chunk->copied, stream);
        if (result != 0) return result;
        chunk->used = true;
        chunk->to = target;
        chunk->bytes = size;
    }
    return 0;
}

// ---- Work ---------------------------------------------------------------------------------------

namespace {

class CudaGraph final : public runtime::DeviceGraph {
public:
    CudaGraph(const CudaDriver& driver, CuContext context) : driver_(driver), context_(context) {}
    ~CudaGraph() override {
        if (made && driver_.set_context(context_) == 0) driver_.destroy_made_graph(made);
    }

    CuGraphExec made = nullptr;

private:
    const CudaDriver& driver_;
    CuContext context_;
};

class CudaQueue final : public runtime::DeviceQueue {
public:
    CudaQueue(const CudaDriver& driver, CuContext context)
        : driver_(driver), context_(context), chunks_(driver) {}
    ~CudaQueue() override;
    Result<void> open();

    // The driver has one context for each thread, which other libraries may change.
    Result<void> begin() override {
        return driver_.check("the GPU is not available", driver_.set_context(context_));
    }
    Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) override;
    Result<void> download(void* to, DeviceAddress from, int64_t bytes) override;
    Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) override;
    Result<void> launch(const Launch& launch) override;
    Result<void> wait() override;
    Result<void> follow(void* stream) override;
    bool can_record() const override { return driver_.has_graphs(); }
    Result<void> begin_recording() override;
    Result<std::unique_ptr<runtime::DeviceGraph>> end_recording() override;
    Result<void> replay(const runtime::DeviceGraph& graph) override;
    bool can_mark() const override { return driver_.has_events(); }
    Result<void> mark(size_t number) override;
    Result<double> seconds(size_t from, size_t to) override;

private:
    const CudaDriver& driver_;
    CuContext context_;
    CuStream stream_ = nullptr;
    PinnedChunks chunks_;
    std::vector<CuEvent> marks_;
    CuEvent followed_ = nullptr;  // of the stream that this one follows
};

Result<void> CudaQueue::open() {
    LEMMA_TRY(begin());
    constexpr unsigned kApart = 1;  // does not wait for the default stream
    return driver_.check("the GPU takes no work", driver_.create_stream(&stream_, kApart));
}

// The members free what the driver has for them in the context of this thread.
CudaQueue::~CudaQueue() {
    if (!begin() || !stream_) return;
    driver_.wait_stream(stream_);
    for (const CuEvent mark : marks_) driver_.destroy_event(mark);
    if (followed_) driver_.destroy_event(followed_);
    driver_.destroy_stream(stream_);
}

Result<void> CudaQueue::upload(DeviceAddress to, const void* from, int64_t bytes) {
    LEMMA_TRY(begin());
    return driver_.check("data cannot be copied to the GPU",
                         chunks_.upload(to, from, static_cast<size_t>(bytes), stream_));
}

Result<void> CudaQueue::download(void* to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(begin());
    return driver_.check("data cannot be copied from the GPU",
                         chunks_.download(to, from, static_cast<size_t>(bytes), stream_));
}

Result<void> CudaQueue::copy(DeviceAddress to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(begin());
    return driver_.check("data cannot be copied on the GPU",
                         driver_.copy(to, from, static_cast<size_t>(bytes), stream_));
}

Result<void> CudaQueue::launch(const Launch& launch) {
    const auto& kernel = *static_cast<const CudaKernel*>(launch.kernel);
    const size_t count = launch.buffers.size();
    int64_t items = 0;
    const bool odd = launch.begin < 0 || launch.end <= launch.begin || launch.group < 1 ||
                     launch.group > kernel.most_threads || count + 2 > kMostArguments ||
                     __builtin_sub_overflow(launch.end, launch.begin, &items) ||
                     (items - 1) / launch.group >= kMostBlocks;
    if (odd) {
        return std::unexpected(Error{fmt::format(
            "a kernel is too large for the GPU: items {} to {} in groups of {}, with {} buffers",
            launch.begin,
            launch.end,
            launch.group,
            count)});
    }
    // An address that is not would end all work of the process on the GPU.
    constexpr DeviceAddress kVector = 16;
    const auto is_odd = [](DeviceAddress at) { return at % kVector != 0; };
    if (kernel.aligned && std::ranges::any_of(launch.buffers, is_odd)) {
        return std::unexpected(Error{"a kernel for whole vectors gets other memory"});
    }
    int64_t begin = launch.begin, end = launch.end;
    void* arguments[kMostArguments];
    for (size_t i = 0; i < count; ++i) {
        arguments[i] = const_cast<DeviceAddress*>(&launch.buffers[i]);
    }
    arguments[count] = &begin;
    arguments[count + 1] = &end;
    return driver_.check("the GPU does not run a kernel",
                         driver_.launch(kernel.function,
                                        static_cast<unsigned>((items - 1) / launch.group + 1),
                                        1,
                                        1,
                                        static_cast<unsigned>(launch.group),
                                        1,
                                        1,
                                        kernel.group_memory,
                                        stream_,
                                        arguments,
                                        nullptr));
}

Result<void> CudaQueue::wait() {
    LEMMA_TRY(begin());
    const CuResult result = driver_.wait_stream(stream_);
    if (result == 0) {
        chunks_.empty();
    } else {
        chunks_.forget();
    }
    return driver_.check("the GPU failed", result);
}

// The processor waits only if the driver cannot let one stream wait for another.
Result<void> CudaQueue::follow(void* stream) {
    constexpr const char* kWhat = "the GPU does not wait for other work";
    LEMMA_TRY(begin());
    auto* const other = static_cast<CuStream>(stream);
    if (!driver_.has_events() || !driver_.follow_event) {
        return driver_.check(kWhat, driver_.wait_stream(other));
    }
    constexpr unsigned kNoTime = 2;
    if (!followed_) {
        LEMMA_TRY(driver_.check(kWhat, driver_.create_event(&followed_, kNoTime)));
    }
    LEMMA_TRY(driver_.check(kWhat, driver_.record_event(followed_, other)));
    return driver_.check(kWhat, driver_.follow_event(stream_, followed_, 0));
}

// ---- Recordings ---------------------------------------------------------------------------------

Result<void> CudaQueue::begin_recording() {
    LEMMA_TRY(begin());
    constexpr int kThisThread = 1;  // other threads may do what they want meanwhile
    return driver_.check("the GPU records no work", driver_.begin_capture(stream_, kThisThread));
}

Result<std::unique_ptr<runtime::DeviceGraph>> CudaQueue::end_recording() {
    CuGraph recorded = nullptr;
    LEMMA_TRY(driver_.check("the GPU records no work", driver_.end_capture(stream_, &recorded)));
    auto graph = std::make_unique<CudaGraph>(driver_, context_);
    const CuResult result = driver_.make_graph(&graph->made, recorded, 0);
    driver_.destroy_graph(recorded);
    LEMMA_TRY(driver_.check("the GPU refuses recorded work", result));
    return graph;
}

Result<void> CudaQueue::replay(const runtime::DeviceGraph& graph) {
    return driver_.check("the GPU does not run recorded work",
                         driver_.launch_graph(static_cast<const CudaGraph&>(graph).made, stream_));
}

// ---- Times --------------------------------------------------------------------------------------

Result<void> CudaQueue::mark(size_t number) {
    while (marks_.size() <= number) {
        CuEvent event = nullptr;
        LEMMA_TRY(driver_.check("the GPU measures no times", driver_.create_event(&event, 0)));
        marks_.push_back(event);
    }
    return driver_.check("the GPU measures no times",
                         driver_.record_event(marks_[number], stream_));
}

Result<double> CudaQueue::seconds(size_t from, size_t to) {
    float milliseconds = 0;
    LEMMA_TRY(driver_.check("the GPU measures no times",
                            driver_.event_time(&milliseconds, marks_[from], marks_[to])));
    return double{milliseconds} * 1e-3;
}

}  // namespace

Result<std::unique_ptr<runtime::DeviceQueue>> make_cuda_queue(const CudaDriver& driver,
                                                              CuContext context) {
    auto queue = std::make_unique<CudaQueue>(driver, context);
    LEMMA_TRY(queue->open());
    return queue;
}

}  // namespace lemma::device
