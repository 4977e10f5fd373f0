// SPDX-License-Identifier: Apache-2.0
#include "support/test_device.h"

#include <algorithm>
#include <cstring>

#include "support/loop_evaluator.h"

namespace lemma::testing {

using runtime::DeviceAddress;

Result<const runtime::DeviceKernel*> TestDevice::add(const loop::Function& function) {
    if (std::string fault = loop::verify(function); !fault.empty()) {
        return std::unexpected(Error{std::move(fault)});
    }
    auto kernel = std::make_unique<Kernel>();
    kernel->function = function;
    kernels_.push_back(std::move(kernel));
    return kernels_.back().get();
}

// New memory has no zeros: nobody may rely on them.
Result<DeviceAddress> TestDevice::allocate(int64_t bytes) {
    constexpr DeviceAddress kApart = 1 << 12;
    const DeviceAddress at = next_;
    memory_[at].assign(static_cast<size_t>(bytes), std::byte{0x5A});
    next_ += static_cast<DeviceAddress>(bytes) / kApart * kApart + 2 * kApart;
    return at;
}

Result<std::span<std::byte>> TestDevice::rest(DeviceAddress at) {
    auto found = memory_.upper_bound(at);
    if (found == memory_.begin()) return std::unexpected(Error{"an address of no memory"});
    --found;
    const size_t begin = at - found->first;
    if (begin > found->second.size()) return std::unexpected(Error{"an address behind memory"});
    return std::span(found->second).subspan(begin);
}

Result<std::span<std::byte>> TestDevice::part(DeviceAddress at, int64_t bytes) {
    LEMMA_TRY(const std::span<std::byte> all, rest(at));
    if (std::ssize(all) < bytes) return std::unexpected(Error{"a copy behind the end of memory"});
    return all.first(static_cast<size_t>(bytes));
}

Result<void> TestDevice::upload(DeviceAddress to, const void* from, int64_t bytes) {
    LEMMA_TRY(const std::span<std::byte> there, part(to, bytes));
    std::memcpy(there.data(), from, there.size());
    return {};
}

Result<void> TestDevice::download(void* to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(const std::span<std::byte> there, part(from, bytes));
    std::memcpy(to, there.data(), there.size());
    return {};
}

Result<void> TestDevice::copy(DeviceAddress to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(const std::span<std::byte> target, part(to, bytes));
    LEMMA_TRY(const std::span<std::byte> source, part(from, bytes));
    std::memmove(target.data(), source.data(), source.size());
    return {};
}

Result<const runtime::DeviceKernel*> TestDevice::load(const std::string&, const std::string&) {
    return std::unexpected(Error{"a device for tests runs no code"});
}

// The evaluator has copies of the buffers; only the elements that change go back, because buffers
// lie in one piece of memory.
Result<void> TestDevice::launch(const Launch& launch) {
    const loop::Function& f = static_cast<const Kernel*>(launch.kernel)->function;
    std::vector<tensor::Tensor> buffers;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
        LEMMA_TRY(const std::span<std::byte> from, rest(launch.buffers[i]));
        const int64_t size = tensor::dtype_size(f.buffers[i].dtype);
        LEMMA_TRY(tensor::Tensor copy,
                  tensor::Tensor::zeros(f.buffers[i].dtype, {std::ssize(from) / size}));
        std::memcpy(copy.bytes().data(), from.data(), copy.bytes().size());
        buffers.push_back(std::move(copy));
    }
    const std::vector<tensor::Tensor> before = buffers;
    const auto order = static_cast<uint64_t>(launches_++);
    LEMMA_TRY(evaluate_groups(f, {launch.begin, launch.end}, order, buffers));
    for (size_t i = 0; i < buffers.size(); ++i) {
        if (!f.buffers[i].written) continue;
        LEMMA_TRY(const std::span<std::byte> to, rest(launch.buffers[i]));
        for (size_t at = 0; at < buffers[i].bytes().size(); ++at) {
            const std::byte now = buffers[i].bytes()[at];
            if (now != before[i].bytes()[at]) to[at] = now;
        }
    }
    return {};
}

}  // namespace lemma::testing
