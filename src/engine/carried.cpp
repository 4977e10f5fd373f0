// SPDX-License-Identifier: Apache-2.0
#include "engine/carried.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "tensor/room.h"

namespace lemma::engine {

namespace {

// Copies `count` rows of each of the outer parts.
struct Spaced {
    std::byte* data;
    int64_t room;  // rows from one outer part to the next
};
void copy_rows(Spaced from, Spaced to, int64_t outer, int64_t count, int64_t row_bytes) {
    if (count == 0 || row_bytes == 0) return;
    for (int64_t i = 0; i < outer; ++i) {
        std::memcpy(to.data + i * to.room * row_bytes,
                    from.data + i * from.room * row_bytes,
                    static_cast<size_t>(count * row_bytes));
    }
}

}  // namespace

CarriedValue::Rows CarriedValue::rows_of(const tensor::Shape& shape) const {
    Rows rows;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        int64_t& part = axis < pair_.axis ? rows.outer : axis > pair_.axis ? rows.row : rows.count;
        part *= shape[axis];
    }
    return rows;
}

Result<void> CarriedValue::make_memory(const tensor::Shape& shape, int64_t room) {
    tensor::Shape whole = shape;
    if (!whole.empty()) whole[pair_.axis] = room;
    const auto elements = tensor::bounded_volume(whole);
    if (!elements) return std::unexpected(Error{"a carried tensor that is too large"});
    constexpr int64_t kLeastBytes = 4096;  // kernels read an element even if there is none
    LEMMA_TRY(
        memory_,
        runtime::Memory::zeros(std::max(kLeastBytes, *elements * tensor::dtype_size(dtype_))));
    room_ = room;
    return {};
}

Result<void> CarriedValue::reserve(int64_t length) {
    if (length <= room_) return {};
    constexpr int64_t kLeast = 64;
    const auto more = checked_add(length, length / 2);
    if (!more) return std::unexpected(Error{"a carried tensor that is too large"});
    const runtime::Memory old = std::move(memory_);
    const int64_t old_room = room_;
    LEMMA_TRY(make_memory(shape_, std::max(kLeast, *more)));
    const Rows rows = rows_of(shape_);
    copy_rows({static_cast<std::byte*>(old.data()), old_room},
              {static_cast<std::byte*>(memory_.data()), room_},
              rows.outer,
              rows.count,
              rows.row * tensor::dtype_size(dtype_));
    return {};
}

void CarriedValue::set_shape(tensor::Shape shape) {
    shape_ = std::move(shape);
    has_value_ = true;
    tried_ = false;
}

void CarriedValue::clear_to(int64_t length) {
    const Rows rows = rows_of(shape_);
    const int64_t bytes = rows.row * tensor::dtype_size(dtype_);
    const int64_t more = std::min(length, room_) - rows.count;
    if (more <= 0) return;
    for (int64_t i = 0; i < rows.outer; ++i) {
        std::memset(static_cast<std::byte*>(memory_.data()) + (i * room_ + rows.count) * bytes,
                    0,
                    static_cast<size_t>(more * bytes));
    }
}

Result<void> CarriedValue::assign(tensor::Shape shape, const void* elements) {
    const Rows rows = rows_of(shape);
    const Rows before = rows_of(shape_);
    const bool fits =
        has_value_ && rows.outer == before.outer && rows.row == before.row && rows.count <= room_;
    if (!fits) {
        // A value that grows gets room for the next ones at once.
        const auto more = checked_add(rows.count, grows_ ? rows.count / 2 + 64 : 0);
        if (!more) return std::unexpected(Error{"a carried tensor that is too large"});
        has_value_ = false;
        LEMMA_TRY(make_memory(shape, *more));
    }
    copy_rows({static_cast<std::byte*>(const_cast<void*>(elements)), rows.count},
              {static_cast<std::byte*>(memory_.data()), room_},
              rows.outer,
              rows.count,
              rows.row * tensor::dtype_size(dtype_));
    set_shape(std::move(shape));
    return {};
}

Result<tensor::Tensor> CarriedValue::value() const {
    LEMMA_TRY(tensor::Tensor made, tensor::Tensor::zeros(dtype_, shape_));
    const Rows rows = rows_of(shape_);
    copy_rows({static_cast<std::byte*>(memory_.data()), room_},
              {made.bytes().data(), rows.count},
              rows.outer,
              rows.count,
              rows.row * tensor::dtype_size(dtype_));
    return made;
}

void CarriedValue::drop() {
    has_value_ = false;
    tried_ = false;
    shape_.clear();
    room_ = 0;
    memory_ = runtime::Memory();
}

}  // namespace lemma::engine
