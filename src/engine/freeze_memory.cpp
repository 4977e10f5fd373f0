// SPDX-License-Identifier: Apache-2.0
// Gives each storage its place in a frozen plan.
#include <algorithm>

#include "base/check.h"
#include "base/checked.h"
#include "engine/freeze_impl.h"
#include "tensor/room.h"

namespace lemma::engine {

using loop::FrozenMemory;
using loop::FrozenPlace;
using loop::StorageId;
using loop::StorageRole;

namespace {

// Room for one vector follows every tensor.
constexpr int64_t kRoom = loop::kFrozenAlign;

bool is_plain(const loop::BufferView& view) { return view.layout == loop::row_major(view.shape); }

}  // namespace

// Adds a tensor to the end of a block and returns its offset.
Result<int64_t> Freezer::add_bytes(int64_t& block, int64_t elements, tensor::DType dtype) const {
    const auto bytes = checked_mul(elements, tensor::dtype_size(dtype));
    const auto padded = bytes ? checked_add(*bytes, 2 * kRoom - 1) : std::nullopt;
    const auto end = padded ? checked_add(block, *padded / kRoom * kRoom) : std::nullopt;
    constexpr int64_t kMost = int64_t{1} << 46;  // as the runtime's memory
    if (!end || *end > kMost) return std::unexpected(Error{"the model needs too much memory"});
    return std::exchange(block, *end);
}

Result<void> Freezer::place_storages() {
    arena_bytes_ = (plan_.arena_bytes + kRoom - 1) / kRoom * kRoom;
    places_.resize(plan_.storages.size());
    LEMMA_TRY(place_extents());
    int64_t scratch = 0;  // elements
    for (const loop::Storage& storage : plan_.storages) {
        if (storage.scratch) scratch = std::max(scratch, storage.elements);
    }
    FrozenPlace shared{FrozenMemory::Arena, 0, 0};
    if (scratch > 0) {
        LEMMA_TRY(shared.offset, add_bytes(arena_bytes_, scratch, tensor::DType::F32));
    }
    for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
        const auto id = make_id<StorageId>(i);
        const loop::Storage& storage = plan_.storages[id];
        FrozenPlace& place = places_[i];
        const auto add = [&](FrozenMemory memory, int64_t& block) -> Result<void> {
            LEMMA_TRY(const int64_t offset, add_bytes(block, storage.elements, storage.dtype));
            place = {memory, 0, offset};
            return {};
        };
        if (storage.scratch) {
            place = shared;
        } else if (storage.moves) {
            place = {FrozenMemory::Moving, out_.pointers++, 0};
        } else if (storage.base.valid()) {
            continue;
        } else if (storage.offset >= 0) {
            place = {FrozenMemory::Arena, 0, storage.offset};
        } else if (storage.role == StorageRole::Constant) {
            if (storage.only_once) continue;
            LEMMA_TRY(add(FrozenMemory::Constant, constant_bytes_));
        } else if (storage.role == StorageRole::Kept) {
            LEMMA_TRY(add(FrozenMemory::State, state_bytes_));
        } else if (storage.role == StorageRole::Computed) {
            LEMMA_TRY(add(FrozenMemory::Arena, arena_bytes_));
        } else {
            LEMMA_TRY(place_given(id));
        }
    }
    for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
        const loop::Storage& storage = plan_.storages[make_id<StorageId>(i)];
        if (storage.role == StorageRole::Given && (storage.base.valid() || storage.moves)) {
            LEMMA_TRY(place_given(make_id<StorageId>(i)));
        }
    }
    LEMMA_TRY(place_updated());
    return place_intrinsics();
}

Result<void> Freezer::place_intrinsics() {
    for (const loop::PlanStep& step : plan_.steps) {
        if (!step.is<loop::InterpretedStep>()) continue;
        const ir::Operation& op = program_.operations[step.op];
        const auto add = [&](ir::TensorId id, bool made) -> Result<void> {
            LEMMA_TRY(const tensor::Shape shape, state_.shape_of(id, false));
            const int64_t elements = tensor::volume(shape).value_or(0);
            if (made && !plan_.places.contains(id) && !extra_results_.contains(id)) {
                LEMMA_TRY(extra_results_[id],
                          add_bytes(arena_bytes_, elements, program_.tensors[id].dtype));
            }
            if (is_bit_cast(op) || wide_.contains(id)) return {};
            LEMMA_TRY(wide_[id], add_bytes(arena_bytes_, elements, tensor::DType::F64));
            return {};
        };
        for (const ir::TensorId id : tensors_of(op.inputs)) {
            LEMMA_TRY(add(id, false));
        }
        for (const ir::TensorId id : tensors_of(op.outputs)) {
            LEMMA_TRY(add(id, true));
        }
    }
    return {};
}

// An input is read where the caller has it, unless it belongs inside another tensor, has another
// layout, or is empty: kernels may read the first element even then.
Result<void> Freezer::place_given(StorageId id) {
    const loop::Storage& storage = plan_.storages[id];
    if (is_dynamic(storage.tensor)) {
        places_[id.value] = place_input(storage.tensor);
        return {};
    }
    const loop::BufferView& view = plan_.places.at(storage.tensor);
    const auto found = std::ranges::find(inputs_, storage.tensor);
    LEMMA_CHECK(found != inputs_.end());
    const FrozenPlace given{FrozenMemory::Input, static_cast<uint32_t>(found - inputs_.begin()), 0};
    const bool inside = storage.base.valid() || storage.moves;
    const bool empty = std::ranges::find(view.shape, 0) != view.shape.end();
    if (!inside && !empty && is_plain(view)) {
        places_[id.value] = given;
        return {};
    }
    if (!inside) {
        LEMMA_TRY(const int64_t offset, add_bytes(arena_bytes_, storage.elements, storage.dtype));
        places_[id.value] = {FrozenMemory::Arena, 0, offset};
    }
    if (empty) return {};
    input_copies_.push_back(
        copy_of({given, view.dtype, view.shape, loop::row_major(view.shape).strides},
                {at(view), view.dtype, view.shape, view.layout.strides}));
    return {};
}

// A variable that changes has a place even if no kernel reads it.
Result<void> Freezer::place_updated() {
    for (const ir::Update& update : program_.updates) {
        const ir::Tensor& tensor = program_.tensors[update.variable];
        LEMMA_TRY(loop::FrozenTensor listed, interface_tensor(tensor.name, update.variable));
        const auto found = plan_.places.find(update.variable);
        int64_t offset = 0;
        if (found != plan_.places.end()) {
            offset = at(found->second).offset;
        } else if (const auto known = extra_at_.find(update.variable); known != extra_at_.end()) {
            continue;
        } else {
            const int64_t elements = listed.bytes / tensor::dtype_size(listed.dtype);
            LEMMA_TRY(offset, add_bytes(state_bytes_, elements, listed.dtype));
            extra_at_[update.variable] = offset;
            extra_state_[update.variable] = {
                {}, listed.dtype, listed.shape, loop::row_major(listed.shape)};
        }
        out_.variables.push_back({std::move(listed), offset});
    }
    return {};
}

FrozenPlace Freezer::at(StorageId id) const {
    int64_t offset = 0;
    while (!plan_.storages[id].moves && plan_.storages[id].base.valid()) {
        const loop::Storage& storage = plan_.storages[id];
        offset += storage.begin * tensor::dtype_size(storage.dtype);
        id = storage.base;
    }
    FrozenPlace place = places_[id.value];
    place.offset += offset;
    return place;
}

FrozenPlace Freezer::at(const loop::BufferView& view) const {
    LEMMA_CHECK(view.layout.split < 0);
    FrozenPlace place = at(view.storage);
    place.offset += view.layout.offset * tensor::dtype_size(view.dtype);
    return place;
}

// Axes that lie row-major in both are one run of bytes.
loop::FrozenCopy copy_of(const FrozenView& from, const FrozenView& to) {
    const int64_t size = tensor::dtype_size(from.dtype);
    loop::FrozenCopy copy{from.place, to.place, size, {}};
    bool dense = true;
    for (size_t axis = from.shape.size(); axis-- > 0;) {
        const int64_t extent = from.shape[axis];
        const int64_t a = from.strides[axis] * size;
        const int64_t b = to.strides[axis] * size;
        if (extent == 1) continue;
        dense = dense && a == copy.bytes && b == copy.bytes;
        if (dense) {
            copy.bytes *= extent;
        } else {
            copy.axes.insert(copy.axes.begin(), {extent, a, b});
        }
    }
    if (std::ranges::find(from.shape, 0) != from.shape.end()) copy.bytes = 0;
    return copy;
}

}  // namespace lemma::engine
