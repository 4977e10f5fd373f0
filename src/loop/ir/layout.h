// SPDX-License-Identifier: Apache-2.0
// loop/ir/layout.h — where the elements of a tensor lie in memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/program/program.h"
#include "loop/ir/node.h"
#include "tensor/shape.h"

namespace lemma::loop {

// Element [i0, i1, …] lies at `offset + sum(strides[a] * i_a)`. One axis may be split into blocks:
// there the stride is that of the blocks, and the elements of a block lie side by side.
struct Layout {
    std::vector<int64_t> strides;
    int64_t offset = 0;
    int split = -1;     // axis, or none
    int64_t block = 1;  // elements of the split axis that lie side by side

    friend bool operator==(const Layout&, const Layout&) = default;
};

// The last axis is the innermost. Without elements, all strides are 0: in place of an element that
// is outside kernels read the first one, and that is all that memory has room for. The shape has at
// most tensor::kMaxElements.
Layout row_major(const tensor::Shape& shape);

// So many times so many elements. What no machine has room for counts as kAbsurdElements, which the
// runtime refuses to allocate.
constexpr int64_t kAbsurdElements = int64_t{1} << 50;
int64_t total_elements(int64_t elements, int64_t times);

struct StorageId : Id<StorageId> {};

// A tensor, or a part of one, in a piece of memory.
struct BufferView {
    StorageId storage;
    tensor::DType dtype{};
    tensor::Shape shape;
    Layout layout;
    // Run-time extents, as expressions of stages: then there is no shape, and elements lie
    // row-major.
    std::vector<ExprId> extents = {};
    // Of memory with room for more: the extents that strides are products of. Empty: `extents`.
    std::vector<ExprId> room = {};
    int64_t align = 1;  // its memory begins at a multiple of so many elements

    const std::vector<ExprId>& spaced() const { return room.empty() ? extents : room; }
};
using BufferViews = std::unordered_map<ir::TensorId, BufferView, IdHash>;

// Tensors of one shape that lie one behind the other.
struct StoragePack {
    StorageId first;
    int64_t stride = 0;  // elements
    int64_t count = 0;
};

constexpr int64_t kAnyThreads = 0;
// The processor that kernels are made for.
struct Target {
    int64_t vector_bytes = 64;
    int64_t registers = 32;
    int64_t l2_bytes = int64_t{2} << 20;
    // Decides about the size of items, never about results. kAnyThreads: calls decide
    // (window_items.h).
    int64_t threads = 1;
    bool byte_dots = false;   // kernels may have Op::DotBytes
    bool byte_tiles = false;  // and tile registers, for products of bytes
    bool bf16_tiles = false;  // and of bf16
    bool bf16_dots = false;   // kernels should have Op::DotBf16
    // Kernels are for a device with many threads where they can be; the others run on the
    // processor, which the other facts are about.
    bool device = false;

    uint16_t lanes() const { return static_cast<uint16_t>(vector_bytes / 4); }
};

}  // namespace lemma::loop
