// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace lemma::runtime {

namespace {

using Side = NewerBytes::Side;

constexpr int64_t kRoom = 64;  // behind the bytes, as on the host (memory.h)

}  // namespace

// ---- Memory -------------------------------------------------------------------------------------

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::create(std::shared_ptr<Device> device) {
    LEMMA_TRY(auto queue, device->make_queue());
    return std::unique_ptr<DeviceMemory>(new DeviceMemory(std::move(device), std::move(queue)));
}

DeviceMemory::~DeviceMemory() {
    queue_.reset();  // waits
    for (auto& [address, region] : regions_) {
        if (region.device != 0 && !region.constants) device_->free(region.device);
    }
    for (const DeviceAddress one : borrowed_) device_->free(one);
    if (flag_ != 0) device_->free(flag_);
}

void DeviceMemory::add(void* host, int64_t bytes) {
    if (!host) return;
    remove(host);
    regions_.emplace(reinterpret_cast<uintptr_t>(host),
                     Region{static_cast<std::byte*>(host), bytes, 0, NewerBytes(bytes), nullptr});
}

void DeviceMemory::add(std::shared_ptr<DeviceConstants> constants) {
    std::byte* const host = constants->host();
    const int64_t bytes = constants->bytes();
    remove(host);
    Region region{host, bytes, 0, NewerBytes(bytes, Side::Both), std::move(constants)};
    regions_.emplace(reinterpret_cast<uintptr_t>(host), std::move(region));
}

void DeviceMemory::remove(void* host) {
    const auto found = regions_.find(reinterpret_cast<uintptr_t>(host));
    if (found == regions_.end()) return;
    ++generation_;
    if (found->second.device != 0 && !found->second.constants) {
        keep(queue_->wait());
        device_->free(found->second.device);
    }
    regions_.erase(found);
}

std::shared_ptr<DeviceConstants> DeviceMemory::share(void* host) {
    const auto found = regions_.find(reinterpret_cast<uintptr_t>(host));
    LEMMA_CHECK(found != regions_.end() && !found->second.constants);
    ++generation_;
    keep(queue_->wait());
    Region& region = found->second;
    auto shared = std::make_shared<DeviceConstants>(
        device_,
        DeviceConstants::Copies{region.host, region.bytes, region.device, std::move(region.newer)});
    regions_.erase(found);
    return shared;
}

int64_t DeviceMemory::bytes() const {
    int64_t sum = 0;
    for (const auto& [address, region] : regions_) sum += region.device != 0 ? region.bytes : 0;
    return sum;
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
    if (region.constants) {
        LEMMA_TRY(region.device, region.constants->on_device(*queue_));
    } else {
        LEMMA_TRY(region.device, device_->allocate(region.bytes + kRoom));
    }
    ++generation_;
    return {};
}

Result<void> DeviceMemory::upload(const Part& part) {
    Region& region = *part.region;
    LEMMA_TRY(give_memory(region));
    for (auto range = region.newer.next(part.begin, part.end, Side::Host); range.begin < range.end;
         range = region.newer.next(range.end, part.end, Side::Host)) {
        LEMMA_TRY(queue_->upload(region.device + static_cast<uint64_t>(range.begin),
                                 region.host + range.begin,
                                 range.end - range.begin));
        region.newer.set(range.begin, range.end, Side::Both);
    }
    return {};
}

Result<void> DeviceMemory::download(const Part& part) {
    if (!part.region) return {};
    Region& region = *part.region;
    if (region.constants) return region.constants->on_host(*queue_, part.begin, part.end);
    bool waits = false;
    for (auto range = region.newer.next(part.begin, part.end, Side::Device);
         range.begin < range.end;
         range = region.newer.next(range.end, part.end, Side::Device)) {
        LEMMA_TRY(queue_->download(region.host + range.begin,
                                   region.device + static_cast<uint64_t>(range.begin),
                                   range.end - range.begin));
        region.newer.set(range.begin, range.end, Side::Both);
        waits = true;
    }
    return waits ? queue_->wait() : Result<void>();
}

void DeviceMemory::keep(Result<void> done) {
    done = note(std::move(done));
    if (!done && trouble_) trouble_ = std::move(done);
}

// ---- The processor ------------------------------------------------------------------------------

void DeviceMemory::read_by_host(const void* at, int64_t bytes) { keep(download(find(at, bytes))); }

void DeviceMemory::written_by_host(void* at, int64_t bytes) {
    const Part part = find(at, bytes);
    if (!part.region) return;
    LEMMA_CHECK(!part.region->constants);
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

Result<void> DeviceMemory::copy_there(const Part& target, const Part& source, int64_t bytes) {
    LEMMA_TRY(upload(source));
    LEMMA_TRY(give_memory(*target.region));
    return queue_->copy(target.address(), source.address(), bytes);
}

void DeviceMemory::copy(void* to, const void* from, int64_t bytes) {
    if (bytes <= 0) return;
    const Part source = find(from, bytes);
    const Part target = find(to, bytes);
    const bool newer =
        source.region && source.region->newer.has(source.begin, source.end, Side::Device);
    if (newer && target.region && target.end - target.begin == bytes &&
        source.end - source.begin == bytes) {
        keep(copy_there(target, source, bytes));
        target.region->newer.set(target.begin, target.end, Side::Device);
        return;
    }
    read_by_host(from, bytes);
    written_by_host(to, bytes);
    std::memmove(to, from, static_cast<size_t>(bytes));
}

// Memory that no kernel of the device has used yet stays on the processor.
Result<void> DeviceMemory::give(void* at, const void* from, int64_t bytes) {
    if (bytes <= 0) return {};
    const Part part = find(at, bytes);
    const bool there = part.region && part.region->device != 0 && part.end - part.begin == bytes;
    if (!there) {
        written_by_host(at, bytes);
        std::memmove(at, from, static_cast<size_t>(bytes));
        return {};
    }
    LEMMA_CHECK(!part.region->constants);
    LEMMA_TRY(note(queue_->upload(part.address(), from, bytes)));
    part.region->newer.set(part.begin, part.end, Side::Device);
    return {};
}

Result<void> DeviceMemory::take(void* to, const void* at, int64_t bytes) {
    if (bytes <= 0) return {};
    const Part part = find(at, bytes);
    const bool there = part.region && !part.region->constants && part.end - part.begin == bytes &&
                       part.region->newer.has(part.begin, part.end, Side::Device) &&
                       !part.region->newer.has(part.begin, part.end, Side::Host);
    if (there) return note(queue_->download(to, part.address(), bytes));
    LEMMA_TRY(note(download(part)));
    if (to != at) std::memmove(to, at, static_cast<size_t>(bytes));
    return {};
}

Result<void> DeviceMemory::give_there(void* at, DeviceAddress from, int64_t bytes) {
    if (bytes <= 0) return {};
    const Part part = find(at, bytes);
    LEMMA_CHECK(part.region && !part.region->constants && part.end - part.begin == bytes);
    LEMMA_TRY(note(give_memory(*part.region)));
    LEMMA_TRY(note(queue_->copy(part.address(), from, bytes)));
    part.region->newer.set(part.begin, part.end, Side::Device);
    return {};
}

Result<DeviceAddress> DeviceMemory::address(const void* at, int64_t bytes) {
    const Part part = find(at, bytes);
    LEMMA_CHECK(part.region);
    LEMMA_TRY(note(upload(part)));
    return part.address();
}

Result<void> DeviceMemory::take_there(DeviceAddress to, const void* at, int64_t bytes) {
    if (bytes <= 0) return {};
    LEMMA_TRY(const DeviceAddress from, address(at, bytes));
    return note(queue_->copy(to, from, bytes));
}

// ---- The device ---------------------------------------------------------------------------------

Result<DeviceAddress> DeviceMemory::flag() {
    flag_used_ = true;
    if (flag_ != 0) return flag_;
    LEMMA_TRY(flag_, device_->allocate(sizeof(int64_t)));
    constexpr int64_t kNone = 0;
    LEMMA_TRY(queue_->upload(flag_, &kNone, sizeof kNone));
    return flag_;
}

// A copy for one call, of memory that others own.
Result<DeviceAddress> DeviceMemory::borrow(const void* at, int64_t bytes) {
    LEMMA_TRY(const DeviceAddress memory, device_->allocate(bytes + kRoom));
    borrowed_.push_back(memory);
    LEMMA_TRY(queue_->upload(memory, at, bytes));
    return memory;
}

void DeviceMemory::give_back() {
    if (borrowed_.empty()) return;
    keep(queue_->wait());
    for (const DeviceAddress one : borrowed_) device_->free(one);
    borrowed_.clear();
}

// The address of a buffer of the call, with its bytes on the device.
Result<DeviceAddress> DeviceMemory::address_of(const KernelCall& call,
                                               size_t buffer,
                                               const std::vector<void*>& pieces) {
    if (call.buffers[buffer] == kFlag) return flag();
    const void* const at = pieces[call.buffers[buffer]];
    const BufferUse& use = call.uses[buffer];
    const Part part = find(at, use.bytes);
    if (!part.region) {
        if (use.written) return std::unexpected(Error{"a result without memory on the device"});
        return borrow(at, use.bytes);
    }
    LEMMA_TRY(upload(part));
    if (use.written) written_.push_back(part);
    return part.address();
}

Result<void> DeviceMemory::launch(const KernelCall& call,
                                  const std::vector<void*>& pieces,
                                  int64_t begin,
                                  int64_t end) {
    addresses_.clear();
    written_.clear();
    const auto go = [&]() -> Result<void> {
        for (size_t i = 0; i < call.buffers.size(); ++i) {
            LEMMA_TRY(const DeviceAddress address, address_of(call, i, pieces));
            addresses_.push_back(address);
        }
        return queue_->launch({call.device, addresses_, begin, end, call.group});
    };
    auto done = note(go());
    give_back();
    if (!done) return done;
    for (const Part& part : written_) {
        LEMMA_CHECK(!part.region->constants);
        part.region->newer.set(part.begin, part.end, Side::Device);
    }
    return {};
}

Result<void> DeviceMemory::finish() {
    Result<void> done = std::exchange(trouble_, Result<void>());
    const bool flagged = std::exchange(flag_used_, false) && done;
    if (flagged) done = note(queue_->download(&flag_value_, flag_, sizeof flag_value_));
    if (auto waited = note(queue_->wait()); done && !waited) done = std::move(waited);
    if (!done || !flagged || flag_value_ == 0) return done;
    flag_value_ = 0;
    LEMMA_TRY(note(queue_->upload(flag_, &flag_value_, sizeof flag_value_)));
    return std::unexpected(Error{"an index is outside of its tensor"});
}

}  // namespace lemma::runtime
