// SPDX-License-Identifier: Apache-2.0
// device/cuda_queue.h — a stream of an NVIDIA GPU, with pinned memory for its copies.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda_driver.h"
#include "runtime/device.h"

namespace lemma::device {

struct CudaKernel final : runtime::DeviceKernel {
    CuFunction function = nullptr;
    int64_t most_threads = 0;   // of a block
    unsigned group_memory = 0;  // bytes that a launch gives each block
    bool aligned = false;       // buffers begin at whole vectors
};

// The GPU copies to and from pinned memory by itself. Bytes of other memory go through chunks of
// pinned memory, and the processor fills or empties a chunk while the GPU copies another one.
class PinnedChunks {
public:
    explicit PinnedChunks(const CudaDriver& driver) : driver_(driver) {}
    ~PinnedChunks();
    PinnedChunks(const PinnedChunks&) = delete;
    PinnedChunks& operator=(const PinnedChunks&) = delete;

    CuResult upload(CuAddress to, const void* from, size_t bytes, CuStream stream);
    // The bytes are there after `empty`, which follows the end of the work.
    CuResult download(void* to, CuAddress from, size_t bytes, CuStream stream);
    void empty();
    // Without the bytes of downloads, after an error.
    void forget();

private:
    struct Chunk {
        void* memory = nullptr;
        CuEvent copied = nullptr;
        bool used = false;   // by a copy that may not be done
        void* to = nullptr;  // of a download; missing: an upload
        size_t bytes = 0;    // in use
        uint64_t time = 0;   // of the copy, as a count of copies
    };
    void empty(Chunk& chunk);
    Chunk* make_chunk();
    // A chunk whose last copy is done. Null: there is no pinned memory.
    CuResult next(Chunk** chunk);
    // Small uploads share the last chunk.
    Chunk* with_room(size_t bytes);

    const CudaDriver& driver_;
    std::vector<Chunk> chunks_;
    uint64_t copies_ = 0;
    bool none_ = false;  // there is no pinned memory
};

// An error if the GPU takes no work. The context outlives the queue.
Result<std::unique_ptr<runtime::DeviceQueue>> make_cuda_queue(const CudaDriver& driver,
                                                              CuContext context);

}  // namespace lemma::device
