// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lemma::runtime {

namespace {

using Side = NewerBytes::Side;

constexpr int64_t kRoom = 64;  // behind the bytes, as on the host (memory.h)

}  // namespace

void NewerBytes::cut(int64_t at) {
    if (at < bytes_) from_.emplace(at, std::prev(from_.upper_bound(at))->second);
}

void NewerBytes::set(int64_t begin, int64_t end, Side side) {
    if (begin >= end) return;
    cut(begin);
    cut(end);
    from_.erase(from_.lower_bound(begin), from_.lower_bound(end));
    from_[begin] = side;
}

std::vector<NewerBytes::Range> NewerBytes::find(int64_t begin, int64_t end, Side side) const {
    std::vector<Range> found;
    if (begin >= end) return found;
    for (auto at = std::prev(from_.upper_bound(begin)); at != from_.end() && at->first < end;
         ++at) {
        if (at->second != side) continue;
        const auto next = std::next(at);
        const int64_t last = next == from_.end() ? bytes_ : next->first;
        const Range range{std::max(begin, at->first), std::min(end, last)};
        const bool joins = !found.empty() && found.back().end == range.begin;
        if (joins) {
            found.back().end = range.end;
        } else {
            found.push_back(range);
        }
    }
    return found;
}

// ---- Memory -------------------------------------------------------------------------------------

DeviceMemory::~DeviceMemory() {
    for (auto& [address, region] : regions_) {
        if (region.device != 0) device_->free(region.device);
    }
    if (flag_ != 0) device_->free(flag_);
}

void DeviceMemory::add(void* host, int64_t bytes) {
    if (!host) return;
    remove(host);
    regions_.emplace(reinterpret_cast<uintptr_t>(host),
                     Region{static_cast<std::byte*>(host), bytes, 0, NewerBytes(bytes)});
}

void DeviceMemory::remove(void* host) {
    const auto found = regions_.find(reinterpret_cast<uintptr_t>(host));
    if (found == regions_.end()) return;
    if (found->second.device != 0) {
        device_->free(found->second.device);
        bytes_ -= found->second.bytes;
    }
    regions_.erase(found);
}

DeviceMemory::Part DeviceMemory::find(const void* at, int64_t bytes) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    auto found = regions_.upper_bound(address);
    if (found == regions_.begin()) return {};
    Region& region = (--found)->second;
    const auto begin = static_cast<int64_t>(address - found->first);
    if (begin > region.bytes) return {};
    const int64_t rest = region.bytes - begin;
    return {&region, begin, begin + (bytes > 0 ? std::min(bytes, rest) : rest)};
}

Result<void> DeviceMemory::give_memory(Region& region) {
    if (region.device != 0) return {};
    LEMMA_TRY(region.device, device_->allocate(region.bytes + kRoom));
    bytes_ += region.bytes;
    return {};
}

Result<void> DeviceMemory::upload(const Part& part) {
    Region& region = *part.region;
    LEMMA_TRY(give_memory(region));
    for (const auto& [begin, end] : region.newer.find(part.begin, part.end, Side::Host)) {
        LEMMA_TRY(device_->upload(
            region.device + static_cast<uint64_t>(begin), region.host + begin, end - begin));
        region.newer.set(begin, end, Side::Both);
    }
    return {};
}

Result<void> DeviceMemory::download(const Part& part) {
    if (!part.region) return {};
    Region& region = *part.region;
    for (const auto& [begin, end] : region.newer.find(part.begin, part.end, Side::Device)) {
        LEMMA_TRY(device_->download(
            region.host + begin, region.device + static_cast<uint64_t>(begin), end - begin));
        region.newer.set(begin, end, Side::Both);
    }
    return {};
}

void DeviceMemory::keep(Result<void> done) {
    if (!done && trouble_) trouble_ = std::move(done);
}

// ---- The processor ------------------------------------------------------------------------------

void DeviceMemory::read_by_host(const void* at, int64_t bytes) { keep(download(find(at, bytes))); }

void DeviceMemory::written_by_host(void* at, int64_t bytes) {
    const Part part = find(at, bytes);
    if (!part.region) return;
    keep(download(part));  // not all bytes may be written
    part.region->newer.set(part.begin, part.end, Side::Host);
}

void DeviceMemory::prepare_host(const KernelCall& call, const std::vector<void*>& pieces) {
    for (size_t i = 0; i < call.buffers.size(); ++i) {
        if (call.buffers[i] >= pieces.size()) continue;  // the flag, or scratch memory
        void* const at = pieces[call.buffers[i]];
        const BufferUse use = i < call.uses.size() ? call.uses[i] : BufferUse{};
        use.written ? written_by_host(at, use.bytes) : read_by_host(at, use.bytes);
    }
}

void DeviceMemory::copy(void* to, const void* from, int64_t bytes) {
    if (bytes <= 0) return;
    const Part source = find(from, bytes);
    const Part target = find(to, bytes);
    const bool newer =
        source.region && !source.region->newer.find(source.begin, source.end, Side::Device).empty();
    if (newer && target.region && target.end - target.begin == bytes &&
        source.end - source.begin == bytes) {
        const auto there = [&]() -> Result<void> {
            LEMMA_TRY(upload(source));
            LEMMA_TRY(give_memory(*target.region));
            return device_->copy(target.region->device + static_cast<uint64_t>(target.begin),
                                 source.region->device + static_cast<uint64_t>(source.begin),
                                 bytes);
        };
        keep(there());
        target.region->newer.set(target.begin, target.end, Side::Device);
        return;
    }
    read_by_host(from, bytes);
    written_by_host(to, bytes);
    std::memmove(to, from, static_cast<size_t>(bytes));
}

// ---- The device ---------------------------------------------------------------------------------

Result<DeviceAddress> DeviceMemory::flag() {
    flag_used_ = true;
    if (flag_ != 0) return flag_;
    LEMMA_TRY(flag_, device_->allocate(sizeof(int64_t)));
    constexpr int64_t kNone = 0;
    LEMMA_TRY(device_->upload(flag_, &kNone, sizeof kNone));
    return flag_;
}

// A copy for one call, of memory that others own.
Result<DeviceAddress> DeviceMemory::borrow(const void* at, int64_t bytes) {
    LEMMA_TRY(const DeviceAddress memory, device_->allocate(bytes + kRoom));
    if (auto done = device_->upload(memory, at, bytes); !done) {
        device_->free(memory);
        return std::unexpected(done.error());
    }
    return memory;
}

Result<void> DeviceMemory::launch(const KernelCall& call,
                                  const std::vector<void*>& pieces,
                                  int64_t begin,
                                  int64_t end) {
    std::vector<DeviceAddress> addresses;
    struct Borrowed {
        DeviceMemory& memory;
        std::vector<DeviceAddress> all;
        ~Borrowed() {
            for (const DeviceAddress one : all) memory.device_->free(one);
        }
    } borrowed{*this, {}};
    std::vector<Part> written;
    for (size_t i = 0; i < call.buffers.size(); ++i) {
        if (call.buffers[i] == kFlag) {
            LEMMA_TRY(const DeviceAddress there, flag());
            addresses.push_back(there);
            continue;
        }
        const void* const at = pieces[call.buffers[i]];
        const BufferUse& use = call.uses[i];
        const Part part = find(at, use.bytes);
        if (!part.region) {
            if (use.written) return std::unexpected(Error{"a result without memory on the device"});
            LEMMA_TRY(const DeviceAddress there, borrow(at, use.bytes));
            borrowed.all.push_back(there);
            addresses.push_back(there);
            continue;
        }
        LEMMA_TRY(upload(part));
        addresses.push_back(part.region->device + static_cast<uint64_t>(part.begin));
        if (use.written) written.push_back(part);
    }
    LEMMA_TRY(device_->launch({call.device, addresses, begin, end, call.group}));
    for (const Part& part : written) {
        part.region->newer.set(part.begin, part.end, Side::Device);
    }
    return {};
}

Result<void> DeviceMemory::finish() {
    Result<void> done = std::exchange(trouble_, Result<void>());
    if (auto waited = device_->wait(); done && !waited) done = std::move(waited);
    if (!done || !std::exchange(flag_used_, false)) return done;
    int64_t failed = 0;
    LEMMA_TRY(device_->download(&failed, flag_, sizeof failed));
    if (failed == 0) return {};
    failed = 0;
    LEMMA_TRY(device_->upload(flag_, &failed, sizeof failed));
    return std::unexpected(Error{"an index is outside of its tensor"});
}

Result<void> DeviceMemory::settle() {
    LEMMA_TRY(finish());
    for (auto& [address, region] : regions_) {
        LEMMA_TRY(download({&region, 0, region.bytes}));
    }
    return {};
}

}  // namespace lemma::runtime
