// SPDX-License-Identifier: Apache-2.0
// runtime/scratch.h — memory in which a kernel keeps intermediate values of an item. Each thread
// holds a slot while it runs items, so that the slot stays in its cache.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/memory.h"

namespace lemma::runtime {

class ScratchMemory {
public:
    // `slots` slots of so many bytes. At most so many threads use them at a time.
    Result<void> allocate(int slots, int64_t bytes, bool guarded);
    int64_t bytes() const { return bytes_; }

    // Holds a free slot.
    class Slot {
    public:
        explicit Slot(ScratchMemory& memory);
        ~Slot();
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;
        void* data() const { return memory_.slots_[number_].data(); }

    private:
        ScratchMemory& memory_;
        size_t number_ = 0;
    };

private:
    std::vector<Memory> slots_;
    std::unique_ptr<std::atomic<bool>[]> taken_;
    int64_t bytes_ = 0;
};

}  // namespace lemma::runtime
