// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace lemma::runtime {

namespace {

constexpr size_t kLine = 64;
constexpr size_t kLargePage = size_t{2} << 20;
constexpr int64_t kMostBytes = int64_t{1} << 46;  // upper bound on any machine; more is a mistake

constexpr size_t kPage = 4096;

std::unexpected<Error> no_memory(int64_t bytes) {
    return std::unexpected(Error{fmt::format("there is no memory for {} bytes", bytes)});
}

}  // namespace

void Memory::Free::operator()(void* data) const {
    if (mapped > 0) {
        ::munmap(static_cast<std::byte*>(data) - before, mapped);
    } else {
        std::free(data);
    }
}

// Large pieces come from the system, which provides zeros.
Result<Memory> Memory::zeros(int64_t bytes) {
    if (bytes < 0 || bytes > kMostBytes) return no_memory(bytes);
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
            // A large page needs aligned ends; the surplus is given back.
            const auto address = reinterpret_cast<uintptr_t>(data);
            const size_t before = (kLargePage - address % kLargePage) % kLargePage;
            auto* const begin = static_cast<std::byte*>(data) + before;
            const size_t behind = kLargePage - before;
            if (before > 0) ::munmap(data, before);
            ::munmap(begin + size - kLargePage, behind);
            memory.data_ = {begin, Free{size - kLargePage, 0}};
#ifdef MADV_HUGEPAGE
            ::madvise(begin, size - kLargePage, MADV_HUGEPAGE);
#endif
        }
    }
    if (!memory.data_) return no_memory(bytes);
    return memory;
}

Result<Memory> Memory::guarded_zeros(int64_t bytes) {
    if (bytes < 0 || bytes > kMostBytes) return no_memory(bytes);
    const size_t used = (static_cast<size_t>(bytes) + 2 * kLine - 1) / kLine * kLine;
    const size_t pages = (used + kPage - 1) / kPage * kPage;
    const size_t size = pages + 2 * kPage;
    void* const data = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return no_memory(bytes);
    Memory memory;
    memory.bytes_ = bytes;
    auto* const first = static_cast<std::byte*>(data) + kPage;
    memory.data_ = {first + pages - used, Free{size, kPage + pages - used}};
    if (::mprotect(first, pages, PROT_READ | PROT_WRITE) != 0) return no_memory(bytes);
    return memory;
}

}  // namespace lemma::runtime
