// SPDX-License-Identifier: Apache-2.0
// runtime/memory.h — owned memory for kernels: aligned for vectors, in large pages where that pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace lemma::runtime {

class Memory {
public:
    Memory() = default;
    // Zeros, followed by room for one vector. An error if the size is negative or absurd, or if
    // memory is short.
    static Result<Memory> zeros(int64_t bytes);
    // The same for tests: memory before it, and after the room for a vector, is inaccessible.
    static Result<Memory> guarded_zeros(int64_t bytes);

    void* data() const { return data_.get(); }
    int64_t bytes() const { return bytes_; }

private:
    struct Free {
        size_t mapped;  // bytes mapped from the system; 0: from the heap
        size_t before;  // mapped bytes before the data
        void operator()(void* data) const;
    };
    std::unique_ptr<void, Free> data_;
    int64_t bytes_ = 0;
};

}  // namespace lemma::runtime
