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

void Memory::Free::operator()(void* data) const { std::free(data); }

Result<Memory> Memory::zeros(int64_t bytes) {
    const size_t wanted = static_cast<size_t>(bytes) + 2 * kLine;
    const size_t align = wanted >= kLargePage ? kLargePage : kLine;
    const size_t size = (wanted + align - 1) / align * align;
    Memory memory;
    memory.data_.reset(std::aligned_alloc(align, size));
    if (!memory.data_) {
        return std::unexpected(Error{fmt::format("there is no memory for {} bytes", bytes)});
    }
#ifdef MADV_HUGEPAGE
    if (align == kLargePage) ::madvise(memory.data(), size, MADV_HUGEPAGE);
#endif
    std::memset(memory.data(), 0, size);
    memory.bytes_ = bytes;
    return memory;
}

}  // namespace lemma::runtime
