// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_constants.h"

namespace lemma::runtime {

using Side = NewerBytes::Side;

namespace {

constexpr int64_t kRoom = 64;  // behind the bytes, as on the host (memory.h)

}  // namespace

// Other queues may use the bytes as soon as the lock is open.
Result<DeviceAddress> DeviceConstants::on_device(DeviceQueue& queue) {
    const std::lock_guard lock(mutex_);
    if (copies_.device == 0) {
        LEMMA_TRY(copies_.device, device_->allocate(bytes() + kRoom));
    }
    if (!copies_.newer.has(0, bytes(), Side::Host)) return copies_.device;
    for (const auto& [begin, end] : copies_.newer.find(0, bytes(), Side::Host)) {
        LEMMA_TRY(queue.upload(
            copies_.device + static_cast<uint64_t>(begin), host() + begin, end - begin));
    }
    LEMMA_TRY(queue.wait());
    for (const auto& [begin, end] : copies_.newer.find(0, bytes(), Side::Host)) {
        copies_.newer.set(begin, end, Side::Both);
    }
    return copies_.device;
}

Result<void> DeviceConstants::on_host(DeviceQueue& queue, int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex_);
    const auto ranges = copies_.newer.find(begin, end, Side::Device);
    for (const auto& range : ranges) {
        LEMMA_TRY(queue.download(host() + range.begin,
                                 copies_.device + static_cast<uint64_t>(range.begin),
                                 range.end - range.begin));
    }
    if (ranges.empty()) return {};
    LEMMA_TRY(queue.wait());
    for (const auto& range : ranges) copies_.newer.set(range.begin, range.end, Side::Both);
    return {};
}

}  // namespace lemma::runtime
