// SPDX-License-Identifier: Apache-2.0
#include "runtime/scratch.h"

#include <algorithm>
#include <thread>

namespace lemma::runtime {

Result<void> ScratchMemory::allocate(int slots, int64_t bytes, bool guarded) {
    slots_.clear();
    bytes_ = 0;
    taken_ = std::make_unique<std::atomic<bool>[]>(static_cast<size_t>(slots));
    // A large page for each slot, because kernels walk through many parts of it at a time.
    constexpr int64_t kSmall = int64_t{128} << 10, kLargePage = int64_t{2} << 20;
    if (!guarded && bytes > kSmall) bytes = std::max(bytes, kLargePage);
    for (int i = 0; i < slots; ++i) {
        LEMMA_TRY(Memory memory, guarded ? Memory::guarded_zeros(bytes) : Memory::zeros(bytes));
        slots_.push_back(std::move(memory));
        bytes_ += bytes;
    }
    return {};
}

// A thread first tries the slot of its last piece, which is still in its cache.
ScratchMemory::Slot::Slot(ScratchMemory& memory) : memory_(memory) {
    thread_local size_t last = 0;
    const size_t count = memory_.slots_.size();
    for (;;) {
        for (size_t i = 0; i < count; ++i) {
            number_ = (last + i) % count;
            std::atomic<bool>& taken = memory_.taken_[number_];
            if (!taken.load(std::memory_order_relaxed) &&
                !taken.exchange(true, std::memory_order_acquire)) {
                last = number_;
                return;
            }
        }
        std::this_thread::yield();
    }
}

ScratchMemory::Slot::~Slot() { memory_.taken_[number_].store(false, std::memory_order_release); }

}  // namespace lemma::runtime
