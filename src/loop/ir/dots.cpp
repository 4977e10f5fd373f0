// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/dots.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace lemma::loop {

namespace {

int64_t byte_of(uint32_t four, int number, bool is_signed) {
    const auto byte = static_cast<uint8_t>(four >> (8 * number));
    return is_signed ? static_cast<int8_t>(byte) : byte;
}

template <class T>
T element(const TileData& tile, int row, int number) {
    T result;
    std::memcpy(&result, tile.row(row) + static_cast<size_t>(number) * sizeof(T), sizeof(T));
    return result;
}
template <class T>
void set_element(TileData& tile, int row, int number, T value) {
    std::memcpy(tile.row(row) + static_cast<size_t>(number) * sizeof(T), &value, sizeof(T));
}

float without_subnormals(float value) {
    const bool subnormal = std::fabs(value) < std::numeric_limits<float>::min();
    return subnormal ? std::copysign(0.0f, value) : value;
}
float bf16_of(uint32_t two, int number) {
    const uint32_t bits = number == 0 ? two << 16 : two & 0xFFFF0000U;
    return without_subnormals(std::bit_cast<float>(bits));
}

float dot_bf16(const TileSizes& sizes, const TileData& a, const TileData& b, int row, int column) {
    float parts[2] = {0, 0};
    for (int k = 0; k < sizes.groups; ++k) {
        const auto x = element<uint32_t>(a, row, k);
        const auto y = element<uint32_t>(b, k, column);
        for (int half = 0; half < 2; ++half) {
            parts[half] =
                without_subnormals(std::fma(bf16_of(x, half), bf16_of(y, half), parts[half]));
        }
    }
    return without_subnormals(parts[0] + parts[1]);
}

}  // namespace

int64_t dot_bytes(int64_t total, int64_t a, int64_t b, int64_t signs) {
    for (int i = 0; i < 4; ++i) {
        total += byte_of(static_cast<uint32_t>(a), i, (signs & 1) != 0) *
                 byte_of(static_cast<uint32_t>(b), i, (signs & 2) != 0);
    }
    return static_cast<int32_t>(total);
}

void multiply_tiles(const TileSizes& sizes, const TileData& a, const TileData& b, TileData& total) {
    const bool real = sizes.products == TileProducts::Bf16;
    const int64_t signs =
        (sizes.products == TileProducts::SignedUnsigned || sizes.products == TileProducts::Signed)
            ? 1
            : 0;
    const int64_t both = signs + ((sizes.products == TileProducts::UnsignedSigned ||
                                   sizes.products == TileProducts::Signed)
                                      ? 2
                                      : 0);
    for (int row = 0; row < sizes.rows; ++row) {
        for (int column = 0; column < sizes.columns; ++column) {
            if (real) {
                const float before = without_subnormals(element<float>(total, row, column));
                const float sum = before + dot_bf16(sizes, a, b, row, column);
                set_element(total, row, column, without_subnormals(sum));
                continue;
            }
            int64_t sum = element<int32_t>(total, row, column);
            for (int k = 0; k < sizes.groups; ++k) {
                sum = dot_bytes(
                    sum, element<int32_t>(a, row, k), element<int32_t>(b, k, column), both);
            }
            set_element(total, row, column, static_cast<int32_t>(sum));
        }
    }
}

}  // namespace lemma::loop
