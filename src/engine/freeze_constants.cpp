// SPDX-License-Identifier: Apache-2.0
// The bytes of a frozen plan: stored data, and what the steps on constants make of it.
#include <cstring>

#include "base/check.h"
#include "engine/data.h"
#include "engine/freeze_impl.h"
#include "engine/stored.h"
#include "loop/ir/run.h"

namespace lemma::engine {

using loop::FrozenMemory;
using loop::StorageId;

namespace {

std::byte* shifted(const runtime::Memory& memory, int64_t bytes) {
    return static_cast<std::byte*>(memory.data()) + bytes;
}

}  // namespace

// The stored data of a variable, if it needs no conversion.
Result<std::optional<tensor::Tensor>> Freezer::stored_data(ir::TensorId id,
                                                           const loop::BufferView& view) const {
    const ir::Tensor& tensor = program_.tensors[id];
    const bool stored =
        tensor.role == ir::TensorRole::Variable && options_.weights && !state_.has_variable(id);
    if (!stored) return std::nullopt;
    LEMMA_TRY(auto data, options_.weights(tensor));
    const bool same = data && data->dtype() == view.dtype && data->shape() == view.shape &&
                      view.layout == loop::row_major(view.shape);
    if (!same) return std::nullopt;
    return data;
}

Result<void> Freezer::fill(ir::TensorId id, const loop::BufferView& view, void* to) {
    LEMMA_TRY(const auto data, stored_data(id, view));
    if (data) {
        std::memcpy(to, data->bytes().data(), data->bytes().size());
        return {};
    }
    LEMMA_TRY(const auto value, state_.value_of(id));
    to_memory(*value, view, to);
    return {};
}

Result<void> Freezer::fill_blocks() {
    // Constants that are outputs or updates need a place even if no kernel reads them.
    const auto add_constant = [&](ir::TensorId id) -> Result<void> {
        const ir::Tensor& tensor = program_.tensors[id];
        const bool stored =
            (tensor.role == ir::TensorRole::Constant || tensor.role == ir::TensorRole::Variable) &&
            !plan_.places.contains(id) && !extra_at_.contains(id);
        if (!stored || extra_constants_.contains(id)) return {};
        LEMMA_TRY(const loop::FrozenTensor listed, interface_tensor(tensor.name, id));
        const int64_t elements = listed.bytes / tensor::dtype_size(listed.dtype);
        LEMMA_TRY(extra_constants_[id], add_bytes(constant_bytes_, elements, listed.dtype));
        return {};
    };
    for (const ir::TensorId id : outputs_) {
        LEMMA_TRY(add_constant(id));
    }
    for (const ir::Update& update : program_.updates) {
        LEMMA_TRY(add_constant(update.value));
    }
    for (const loop::PlanStep& step : plan_.steps) {
        if (!step.is<loop::InterpretedStep>()) continue;
        for (const ir::TensorId id : tensors_of(program_.operations[step.op].inputs)) {
            LEMMA_TRY(add_constant(id));
        }
    }
    LEMMA_TRY(constants_, runtime::Memory::zeros(constant_bytes_));
    LEMMA_TRY(state_block_, runtime::Memory::zeros(state_bytes_));
    for (uint32_t i = 0; i < plan_.storages.size(); ++i) {
        const loop::Storage& storage = plan_.storages[make_id<StorageId>(i)];
        if (!is_stored(storage, program_) || storage.only_once) continue;
        const loop::BufferView& view = plan_.places.at(storage.tensor);
        const loop::FrozenPlace place = at(view.storage);
        const bool constant = place.memory == FrozenMemory::Constant;
        LEMMA_CHECK(constant || place.memory == FrozenMemory::State);
        LEMMA_TRY(fill(
            storage.tensor, view, shifted(constant ? constants_ : state_block_, place.offset)));
    }
    for (const auto& [id, view] : extra_state_) {
        LEMMA_TRY(fill(id, view, shifted(state_block_, extra_at_.at(id))));
    }
    for (const auto& [id, offset] : extra_constants_) {
        LEMMA_TRY(const loop::FrozenTensor listed, interface_tensor("", id));
        LEMMA_TRY(fill(id,
                       {{}, listed.dtype, listed.shape, loop::row_major(listed.shape)},
                       shifted(constants_, offset)));
    }
    return {};
}

// Makes memory for a tensor that only the steps on constants need.
Result<void> Freezer::prepare_once(StorageId root) {
    const loop::Storage& storage = plan_.storages[root];
    if (!storage.only_once || once_.contains(root) || borrowed_.contains(root)) return {};
    const bool stored = is_stored(storage, program_);
    if (stored) {
        LEMMA_TRY(auto data, stored_data(storage.tensor, plan_.places.at(storage.tensor)));
        if (data) {
            borrowed_.emplace(root, std::move(*data));
            return {};
        }
    }
    LEMMA_TRY(runtime::Memory memory,
              runtime::Memory::zeros(storage.elements * tensor::dtype_size(storage.dtype)));
    void* const to = memory.data();
    once_.emplace(root, std::move(memory));
    return stored ? fill(storage.tensor, plan_.places.at(storage.tensor), to) : Result<void>();
}

void* Freezer::once_address(StorageId id) const {
    const StorageId root = plan_.root(id);
    int64_t offset = 0;
    for (; id != root; id = plan_.storages[id].base) {
        offset += plan_.storages[id].begin * tensor::dtype_size(plan_.storages[id].dtype);
    }
    if (const auto found = once_.find(root); found != once_.end()) {
        return shifted(found->second, offset);
    }
    if (const auto found = borrowed_.find(root); found != borrowed_.end()) {
        // Steps only read stored data.
        return const_cast<char*>(reinterpret_cast<const char*>(found->second.bytes().data())) +
               offset;
    }
    const loop::FrozenPlace place = places_[root.value];
    LEMMA_CHECK(place.memory == FrozenMemory::Constant);
    return shifted(constants_, place.offset + offset);
}

// A tensor is freed after the last step that needs it.
Result<void> Freezer::run_once() {
    std::vector<size_t> last(plan_.storages.size(), SIZE_MAX);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
        if (!plan_.steps[i].once) continue;
        for (const StorageId id : plan_.steps[i].kernel()->arguments) {
            if (id.valid()) last[plan_.root(id).value] = i;
        }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
        if (!plan_.steps[i].once) continue;
        const loop::ScheduledKernel& kernel = *plan_.steps[i].kernel();
        int64_t failed = 0;
        std::vector<void*> buffers;
        for (const StorageId id : kernel.arguments) {
            if (id.valid()) {
                LEMMA_TRY(prepare_once(plan_.root(id)));
            }
            buffers.push_back(id.valid() ? once_address(id) : &failed);
        }
        loop::run_function(kernel.function,
                           buffers.data(),
                           0,
                           kernel.function.items,
                           {.has_fma = options_.target.has_fma});
        if (failed) {
            state_.set_failed(plan_.steps[i].op);
            return std::unexpected(Error{"an index is outside of its tensor"});
        }
        for (const StorageId id : kernel.arguments) {
            if (!id.valid() || last[plan_.root(id).value] != i) continue;
            once_.erase(plan_.root(id));
            borrowed_.erase(plan_.root(id));
        }
    }
    return {};
}

}  // namespace lemma::engine
