// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_recording.h"

#include <algorithm>

#include "base/check.h"

namespace lemma::runtime {

// Joins it with parts that it touches, so that few remain.
void DeviceMemory::add_part(std::vector<Part>& parts, const Part& part) {
    Part whole = part;
    std::erase_if(parts, [&](const Part& other) {
        const bool meets =
            other.region == whole.region && other.begin <= whole.end && whole.begin <= other.end;
        if (!meets) return false;
        whole.begin = std::min(whole.begin, other.begin);
        whole.end = std::max(whole.end, other.end);
        return true;
    });
    parts.push_back(whole);
}

// All memory is on the device before the recording begins: copies are no part of it.
Result<void> DeviceMemory::record_calls(std::span<const KernelCall* const> calls,
                                        const std::vector<void*>& pieces,
                                        Recording& to) {
    std::vector<DeviceAddress> addresses;
    for (const KernelCall* const call : calls) {
        written_.clear();
        for (size_t i = 0; i < call->buffers.size(); ++i) {
            const bool flag = call->buffers[i] == kFlag;
            const Part part = flag ? Part{} : find(pieces[call->buffers[i]], call->uses[i].bytes);
            if (!flag && !part.region) return std::unexpected(Error{"memory of others"});
            LEMMA_TRY(const DeviceAddress address, address_of(*call, i, pieces));
            addresses.push_back(address);
            to.flag |= flag;
            if (flag) continue;
            add_part(to.used, part);
            if (call->uses[i].written) add_part(to.written, part);
        }
    }
    LEMMA_TRY(queue_->begin_recording());
    Result<void> done;
    size_t next = 0;
    for (const KernelCall* const call : calls) {
        const std::span<const DeviceAddress> own(addresses.data() + next, call->buffers.size());
        next += own.size();
        done = queue_->launch({call->device, own, 0, call->items, call->group});
        if (!done) break;
    }
    auto graph = queue_->end_recording();
    LEMMA_TRY(std::move(done));
    if (!graph) return std::unexpected(graph.error());
    to.graph = std::move(*graph);
    to.generation = generation_;
    return {};
}

std::shared_ptr<DeviceMemory::Recording> DeviceMemory::record(
    std::span<const KernelCall* const> calls, const std::vector<void*>& pieces) {
    if (!queue_->can_record() || calls.empty()) return nullptr;
    auto made = std::make_shared<Recording>();
    return record_calls(calls, pieces, *made) ? made : nullptr;
}

bool DeviceMemory::is_valid(const Recording& recording) const {
    return recording.generation == generation_;
}

Result<void> DeviceMemory::replay(const Recording& recording) {
    LEMMA_CHECK(is_valid(recording));
    for (const Part& part : recording.used) {
        LEMMA_TRY(note(upload(part)));
    }
    flag_used_ |= recording.flag;
    LEMMA_TRY(note(queue_->replay(*recording.graph)));
    for (const Part& part : recording.written) {
        LEMMA_CHECK(!part.region->constants);
        part.region->newer.set(part.begin, part.end, NewerBytes::Side::Device);
    }
    return {};
}

}  // namespace lemma::runtime
