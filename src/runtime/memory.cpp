#include "runtime/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace lemma::runtime {

namespace {

constexpr size_t kLine = 64;
constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

void Memory::Free::operator()(void* data) const {
    if (mapped > 0) {
        ::munmap(data, mapped);
    } else {
        std::free(data);
    }
}

// Large pieces come from the system, which has zeros already.
Result<Memory> Memory::zeros(int64_t bytes) {
    const size_t wanted = static_cast<size_t>(bytes) + 2 * kLine;
    Memory memory;
    memory.bytes_ = bytes;
    if (wanted < kLargePage) {
        const size_t size = (wanted + kLine - 1) / kLine * kLine;
        memory.data_.reset(std::aligned_alloc(kLine, size));
        if (memory.data_) std::memset(memory.data(), 0, size);
    } else {
        const size_t size = (wanted + kLargePage - 1) / kLargePage * kLargePage + kLargePage;
        void* const data =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data != MAP_FAILED) {
            // Only what begins and ends with a large page can be one: what is over is given back.
            const auto address = reinterpret_cast<uintptr_t>(data);
            const size_t before = (kLargePage - address % kLargePage) % kLargePage;
            auto* const begin = static_cast<std::byte*>(data) + before;
            const size_t behind = kLargePage - before;
            if (before > 0) ::munmap(data, before);
            ::munmap(begin + size - kLargePage, behind);
            memory.data_ = {begin, Free{size - kLargePage}};
#ifdef MADV_HUGEPAGE
            ::madvise(begin, size - kLargePage, MADV_HUGEPAGE);
#endif
        }
    }
    if (!memory.data_) {
        return std::unexpected(Error{fmt::format("there is no memory for {} bytes", bytes)});
    }
    return memory;
}

}  // namespace lemma::runtime
