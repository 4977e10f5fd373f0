// SPDX-License-Identifier: Apache-2.0
// tensor/files/nnef_file.h — tensors in NNEF's .dat format: a header of 128 bytes, then the
// elements as one stream of bits in row-major order (NNEF 1.0.4, chapter 5.2; little endian).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace lemma::tensor {

inline constexpr int64_t kNnefHeaderBytes = 128;
inline constexpr size_t kMaxNnefRank = 8;

// The values are the codes in the file.
enum class ItemType : uint8_t {
    Float = 0,      // IEEE, 16, 32 or 64 bits
    Uint = 1,       // up to 64 bits, like all integers
    QuantUint = 2,  // reals, quantised as the graph or graph.quant specifies
    QuantInt = 3,
    Int = 4,
    Bool = 5,  // 1 or 8 bits
};

// Deprecated: quantisation described in the file.
struct StoredRange {
    bool logarithmic = false;  // otherwise linear
    float min = 0;             // the value of code 0; logarithmic: 0, or -max for signed items
    float max = 0;             // the value of the largest code
    friend bool operator==(const StoredRange&, const StoredRange&) = default;
};

// An oddity: the format requires zeros there.
inline constexpr std::string_view kExtentsBeyondRank = "extents beyond the rank are not 0";

struct NnefHeader {
    Shape shape;
    ItemType type = ItemType::Float;  // Int also if a deprecated parameter makes a Uint signed
    uint32_t bits = 32;               // bits of an item
    std::optional<StoredRange> range;
    int64_t volume = 1;                     // number of items
    int64_t data_begin = kNnefHeaderBytes;  // offset in the file; some old writers made it 132
    int64_t data_bytes = 4;
    std::vector<std::string> oddities;  // deviations that a strict reader refuses, for warnings
};

// "32-bit float", "1-bit bool"
std::string item_text(const NnefHeader& header);
// Whether items of this type can be data of a variable of the dtype (chapter 5.2.1).
bool can_store(ItemType type, DType dtype);

// Reads and checks a header: magic number, version, rank, item type and bits; shape, data length
// and file size must agree. `first_bytes` is the beginning of the file, at least 128 bytes unless
// it is shorter. The claimed size costs no memory.
Result<NnefHeader> decode_nnef_header(std::string_view first_bytes, int64_t file_bytes);
// The 128 bytes for shape, type, bits and range; the data length follows from them. An error if the
// format cannot represent it.
Result<std::string> encode_nnef_header(const NnefHeader& header);

}  // namespace lemma::tensor
