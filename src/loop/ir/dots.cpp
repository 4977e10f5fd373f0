// SPDX-License-Identifier: Apache-2.0
#include "loop/ir/dots.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/convert.h"

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

// The nearest float with 10 bits of fraction; halves away from zero.
double tf32_of(uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) return value;
    return std::bit_cast<float>((bits + 0x1000U) & 0xFFFFE000U);
}

// The product of two words: of floats, of two pairs, or of four bytes each.
double multiply_words(MatrixProducts products, uint32_t a, uint32_t b) {
    switch (products) {
        case MatrixProducts::Tf32:
            return tf32_of(a) * tf32_of(b);
        case MatrixProducts::F16:
            return tensor::from_f16(static_cast<uint16_t>(a)) *
                       tensor::from_f16(static_cast<uint16_t>(b)) +
                   tensor::from_f16(static_cast<uint16_t>(a >> 16)) *
                       tensor::from_f16(static_cast<uint16_t>(b >> 16));
        case MatrixProducts::U8:
            return static_cast<double>(dot_bytes(0, a, b, 0));
        case MatrixProducts::I8U8:
            return static_cast<double>(dot_bytes(0, a, b, 1));
        case MatrixProducts::U8I8:
            return static_cast<double>(dot_bytes(0, a, b, 2));
        case MatrixProducts::I8:
            return static_cast<double>(dot_bytes(0, a, b, 3));
        case MatrixProducts::Bf16:
            break;
    }
    return tensor::from_bf16(static_cast<uint16_t>(a)) *
               tensor::from_bf16(static_cast<uint16_t>(b)) +
           tensor::from_bf16(static_cast<uint16_t>(a >> 16)) *
               tensor::from_bf16(static_cast<uint16_t>(b >> 16));
}

}  // namespace

void multiply_matrices(MatrixProducts products, WarpMatrices& matrices) {
    const WarpMatrices from = matrices;
    for (size_t item = 0; item < kWarp; ++item) {
        for (size_t i = 0; i < 4; ++i) {
            const size_t row = item / 4;  // or eight rows below
            const size_t column = 2 * (item % 4) + i % 2;
            double sum = from.totals[item][i];
            for (size_t word = 0; word < 8; ++word) {
                const uint32_t a = from.a[4 * row + word % 4][i / 2 + 2 * (word / 4)];
                const uint32_t b = from.b[4 * column + word % 4][word / 4];
                sum += multiply_words(products, a, b);
            }
            matrices.totals[item][i] = of_bytes(products) ? sum : static_cast<float>(sum);
        }
    }
}

float dot_bf16(float total, uint32_t a, uint32_t b) {
    total = without_subnormals(total);
    for (const int half : {1, 0}) {
        total = without_subnormals(std::fma(bf16_of(a, half), bf16_of(b, half), total));
    }
    return total;
}

int64_t dot_bytes(int64_t total, int64_t a, int64_t b, int64_t signs) {
    for (int i = 0; i < 4; ++i) {
        total += byte_of(static_cast<uint32_t>(a), i, (signs & 1) != 0) *
                 byte_of(static_cast<uint32_t>(b), i, (signs & 2) != 0);
    }
    return static_cast<int32_t>(total);
}

float first_term(float value) {
    constexpr uint32_t kSign = 0x80000000U, kOne = 0x3F800000U, kUpper = 0xFFFF0000U;
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & ~kSign) >= kRoundsToInfinity) return std::bit_cast<float>((bits & kSign) | kOne);
    return std::bit_cast<float>((bits + 0x8000U) & kUpper);
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
