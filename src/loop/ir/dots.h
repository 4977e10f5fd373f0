// SPDX-License-Identifier: Apache-2.0
// loop/ir/dots.h — the meaning of dot products, tile registers and their operands, for
// evaluation without them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "loop/ir/node.h"

namespace lemma::loop {

// Op::DotBytes in one lane: `signs` has bit 0 for signed bytes of `a`, and bit 1 for those of `b`.
int64_t dot_bytes(int64_t total, int64_t a, int64_t b, int64_t signs);

// Op::DotBf16 in one lane. The first bf16 of a pair is in the lower half.
float dot_bf16(float total, uint32_t a, uint32_t b);

// The bits of the least float whose nearest bf16 is infinite.
constexpr uint32_t kRoundsToInfinity = 0x7F7F8000U;
// Op::FirstTerm.
float first_term(float value);

struct TileData {
    std::array<std::byte, size_t{kMostTileRows} * kTileBytes> bytes{};

    std::byte* row(int row) { return &bytes[static_cast<size_t>(row * kTileBytes)]; }
    const std::byte* row(int row) const { return &bytes[static_cast<size_t>(row * kTileBytes)]; }
};
struct TileSizes {
    TileProducts products{};
    int rows = 0, columns = 0;  // of the total
    int groups = 0;             // rows of b
};
// Adds the product of two tiles. Of bf16, it adds the even products of a row in one float and the
// odd ones in another, then both to the total. Subnormal floats count as zero.
void multiply_tiles(const TileSizes& sizes, const TileData& a, const TileData& b, TileData& total);

// What the items of a warp have of the matrices of a MatrixStmt. The products of a total are added
// exactly, and the sum is rounded once. Those of bytes must fit 32 bits.
struct WarpMatrices {
    std::array<std::array<uint32_t, 4>, kWarp> a;
    std::array<std::array<uint32_t, 2>, kWarp> b;
    std::array<std::array<double, 4>, kWarp> totals;
};
void multiply_matrices(MatrixProducts products, WarpMatrices& matrices);

}  // namespace lemma::loop
