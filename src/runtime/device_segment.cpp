// SPDX-License-Identifier: Apache-2.0
// The steps of an executable that run on a device.
#include "runtime/device_segment.h"

#include <algorithm>

#include "runtime/executable.h"

namespace lemma::runtime {

namespace {

constexpr size_t kMostVariants = 4;

template <class Visit>
void each_call(const Step& step, const Visit& visit) {
    if (const auto* const call = std::get_if<KernelCall>(&step.kind)) visit(*call, step.number);
    if (const auto* const wave = std::get_if<KernelWave>(&step.kind)) {
        for (size_t i = 0; i < wave->calls.size(); ++i) visit(wave->calls[i], wave->numbers[i]);
    }
}

std::shared_ptr<DeviceSegment> make_segment(const Steps& steps, size_t first) {
    auto segment = std::make_shared<DeviceSegment>();
    for (size_t i = first; i < steps.size() && is_on_device(steps[i]); ++i) {
        ++segment->steps;
        each_call(steps[i], [&](const KernelCall& call, size_t) {
            if (call.items <= 0) return;
            segment->calls.push_back(&call);
            for (const size_t piece : call.buffers) {
                if (piece < kScratch) segment->pieces.push_back(piece);
            }
        });
    }
    std::ranges::sort(segment->pieces);
    const auto repeated = std::ranges::unique(segment->pieces);
    segment->pieces.erase(repeated.begin(), repeated.end());
    return segment;
}

// The variant with these addresses. In its first run, there is none yet.
DeviceSegment::Variant* find_variant(DeviceSegment& segment, const std::vector<void*>& pieces) {
    for (DeviceSegment::Variant& variant : segment.variants) {
        const bool same = std::ranges::equal(
            segment.pieces, variant.addresses, {}, [&](size_t piece) { return pieces[piece]; });
        if (same) return &variant;
    }
    if (segment.variants.size() == kMostVariants) return nullptr;
    DeviceSegment::Variant& fresh = segment.variants.emplace_back();
    for (const size_t piece : segment.pieces) fresh.addresses.push_back(pieces[piece]);
    return nullptr;
}

}  // namespace

bool is_on_device(const Step& step) {
    const bool kernels = std::holds_alternative<KernelCall>(step.kind) ||
                         std::holds_alternative<KernelWave>(step.kind);
    bool there = kernels;
    each_call(step, [&](const KernelCall& call, size_t) { there &= call.device != nullptr; });
    return there;
}

Result<void> Executable::run_calls(const DeviceSegment& segment) {
    for (const KernelCall* const call : segment.calls) {
        LEMMA_TRY(device_->launch(*call, pieces_, 0, call->items));
    }
    return {};
}

// The first run gives memory to the device, the second one records, later ones replay.
Result<size_t> Executable::run_segment(const Steps& steps, size_t first) {
    std::shared_ptr<DeviceSegment>& known = steps[first].segment;
    if (!known) known = make_segment(steps, first);
    DeviceSegment& segment = *known;
    DeviceSegment::Variant* const variant =
        segment.calls.size() > 1 ? find_variant(segment, pieces_) : nullptr;
    if (variant && variant->recording && !device_->is_valid(*variant->recording)) {
        variant->recording = nullptr;
    } else if (variant && !variant->recording && segment.left > 0) {
        --segment.left;
        variant->recording = device_->record(segment.calls, pieces_);
    }
    if (variant && variant->recording) {
        LEMMA_TRY(device_->replay(*variant->recording));
    } else {
        LEMMA_TRY(run_calls(segment));
    }
    return segment.steps;
}

// ---- Times --------------------------------------------------------------------------------------

Result<void> Executable::mark_call(const KernelCall& call, size_t number) {
    constexpr size_t kMostMarked = 512;
    if (call.items <= 0) return {};
    if (marked_.size() == kMostMarked) LEMMA_TRY(collect_marks());
    const size_t mark = kCallMarks + 2 * marked_.size();
    LEMMA_TRY(device_->mark(mark));
    LEMMA_TRY(device_->launch(call, pieces_, 0, call.items));
    LEMMA_TRY(device_->mark(mark + 1));
    marked_.push_back(number);
    return {};
}

Result<void> Executable::run_marked(const Step& step) {
    Result<void> done;
    each_call(step, [&](const KernelCall& call, size_t number) {
        if (done) done = mark_call(call, number);
    });
    return done;
}

Result<void> Executable::collect_marks() {
    LEMMA_TRY(device_->wait());
    for (size_t i = 0; i < marked_.size(); ++i) {
        LEMMA_TRY(const double spent, device_->seconds(kCallMarks + 2 * i, kCallMarks + 2 * i + 1));
        (*seconds_)[marked_[i]] += spent;
    }
    marked_.clear();
    return {};
}

}  // namespace lemma::runtime
