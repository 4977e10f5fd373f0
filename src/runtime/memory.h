// runtime/memory.h — pieces of memory for kernels: aligned for vectors, in large pages where that
// pays, and owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace lemma::runtime {

class Memory {
public:
    Memory() = default;
    // All bytes zero. There is room for a vector behind the end. An error if the number is negative
    // or absurd, too.
    static Result<Memory> zeros(int64_t bytes);
    // The same for tests: what is before it, and behind the room for a vector, cannot be touched.
    static Result<Memory> guarded_zeros(int64_t bytes);

    void* data() const { return data_.get(); }
    int64_t bytes() const { return bytes_; }

private:
    struct Free {
        size_t mapped;  // bytes from the system; 0: from the heap
        size_t before;  // of them, in front of the data
        void operator()(void* data) const;
    };
    std::unique_ptr<void, Free> data_;
    int64_t bytes_ = 0;
};

}  // namespace lemma::runtime
