// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/nnef_file.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/checked.h"

namespace lemma::tensor {

namespace {

// Offsets in the header.
constexpr size_t kDataLengthAt = 4;
constexpr size_t kRankAt = 8;
constexpr size_t kExtentsAt = 12;
constexpr size_t kBitsAt = kExtentsAt + 4 * kMaxNnefRank;
constexpr size_t kTypeAt = kBitsAt + 4;
constexpr size_t kParametersAt = kTypeAt + 4;

// Old files whose header has one word too many.
constexpr int64_t kOldHeaderBytes = 132;

constexpr std::string_view kMagic = "N\xEF";
constexpr std::array<std::string_view, 6> kTypeNames = {
    "float", "unsigned int", "quantised unsigned int", "quantised int", "int", "bool"};

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

uint32_t word_at(std::string_view bytes, size_t at) {
    uint32_t word = 0;
    for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<uint8_t>(bytes[at + i]);
    return word;
}

void put_word(std::string& bytes, size_t at, uint32_t word) {
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(word >> (8 * i) & 255);
}

Result<void> check_begin(std::string_view bytes, int64_t file_bytes) {
    if (static_cast<int64_t>(bytes.size()) < kNnefHeaderBytes) {
        return bad(
            fmt::format("it has {} bytes, but a header has {}", file_bytes, kNnefHeaderBytes));
    }
    if (!bytes.starts_with(kMagic)) {
        return bad("it does not begin with the bytes 4E EF of a tensor file");
    }
    const auto major = static_cast<uint8_t>(bytes[2]);
    const auto minor = static_cast<uint8_t>(bytes[3]);
    if (major == 1 && minor == 0) return {};
    return bad(fmt::format("it has version {}.{} of the format, expected 1.0", major, minor));
}

Result<void> read_shape(std::string_view bytes, NnefHeader& header) {
    const uint32_t rank = word_at(bytes, kRankAt);
    if (rank > kMaxNnefRank) {
        return bad(
            fmt::format("it has rank {}, but the format has at most {}", rank, kMaxNnefRank));
    }
    bool clean = true;
    for (size_t i = 0; i < kMaxNnefRank; ++i) {
        const uint32_t extent = word_at(bytes, kExtentsAt + 4 * i);
        if (i < rank) {
            header.shape.push_back(extent);
        } else {
            clean = clean && extent == 0;
        }
    }
    if (!clean) header.oddities.emplace_back(kExtentsBeyondRank);
    const auto count = volume(header.shape);
    if (!count) return bad(fmt::format("its shape {} is too large", shape_text(header.shape)));
    header.volume = *count;
    return {};
}

bool bits_fit(ItemType type, uint32_t bits) {
    switch (type) {
        case ItemType::Float:
            return bits == 16 || bits == 32 || bits == 64;
        case ItemType::Bool:
            return bits == 1 || bits == 8;
        case ItemType::Uint:
        case ItemType::QuantUint:
        case ItemType::QuantInt:
        case ItemType::Int:
            return bits >= 1 && bits <= 64;
    }
    return false;
}

// The upper half of the code is a vendor, the lower half the vendor's own code.
Result<void> read_item_type(std::string_view bytes, NnefHeader& header) {
    const uint32_t code = word_at(bytes, kTypeAt);
    if (code >> 16 != 0) {
        return bad(fmt::format("its item type {} is one of vendor {}", code & 0xFFFF, code >> 16));
    }
    if (code >= kTypeNames.size()) return bad(fmt::format("it has the unknown item type {}", code));
    header.type = static_cast<ItemType>(code);
    header.bits = word_at(bytes, kBitsAt);
    if (bits_fit(header.type, header.bits)) return {};
    return bad(fmt::format("its items are {}, which the format does not have", item_text(header)));
}

bool is_range(const StoredRange& range) {
    if (!std::isfinite(range.min) || !std::isfinite(range.max)) return false;
    if (!range.logarithmic) return range.min < range.max;
    return range.max > 0 && (range.min == 0 || range.min == -range.max);
}

Result<void> read_parameters(std::string_view bytes, NnefHeader& header) {
    const uint32_t first = word_at(bytes, kParametersAt);
    const uint32_t second = word_at(bytes, kParametersAt + 4);
    if (header.type == ItemType::Uint && first != 0) {
        header.type = ItemType::Int;
        header.oddities.push_back("a deprecated parameter makes its unsigned items signed");
    }
    const bool quantised = header.type == ItemType::QuantUint || header.type == ItemType::QuantInt;
    if (!quantised || (first == 0 && second == 0)) return {};
    header.range = StoredRange{.logarithmic = header.type == ItemType::QuantInt,
                               .min = std::bit_cast<float>(first),
                               .max = std::bit_cast<float>(second)};
    if (!is_range(*header.range)) {
        return bad(fmt::format(
            "its quantisation range {} to {} is none", header.range->min, header.range->max));
    }
    header.oddities.push_back("deprecated parameters say how its items are quantised");
    return {};
}

// Bytes of the packed items; empty on overflow.
std::optional<int64_t> packed_bytes(int64_t volume, uint32_t bits) {
    // 8 items take `bits` bytes; the total number of bits could overflow.
    const auto whole = checked_mul(volume / 8, bits);
    if (!whole) return std::nullopt;
    return checked_add(*whole, (volume % 8 * bits + 7) / 8);
}

Result<void> check_lengths(std::string_view bytes, int64_t file_bytes, NnefHeader& header) {
    header.data_bytes = word_at(bytes, kDataLengthAt);
    const auto wanted = packed_bytes(header.volume, header.bits);
    if (!wanted || *wanted != header.data_bytes) {
        return bad(fmt::format("it claims {} bytes of data, but {} of shape {} {}",
                               header.data_bytes,
                               item_text(header),
                               shape_text(header.shape),
                               wanted ? fmt::format("needs {}", *wanted) : "is too large"));
    }
    if (file_bytes == kOldHeaderBytes + header.data_bytes) {
        header.data_begin = kOldHeaderBytes;
        header.oddities.push_back("its header has 132 bytes, as old writers made it");
        return {};
    }
    const int64_t end = kNnefHeaderBytes + header.data_bytes;
    if (file_bytes < end) {
        return bad(fmt::format("it has {} bytes, but header and data need {}", file_bytes, end));
    }
    if (file_bytes > end) {
        header.oddities.push_back(fmt::format("{} bytes follow its data", file_bytes - end));
    }
    return {};
}

}  // namespace

std::string item_text(const NnefHeader& header) {
    return fmt::format("{}-bit {}", header.bits, kTypeNames[static_cast<size_t>(header.type)]);
}

bool can_store(ItemType type, DType dtype) {
    switch (type) {
        case ItemType::Float:
        case ItemType::QuantUint:
        case ItemType::QuantInt:
            return is_real(dtype);
        case ItemType::Uint:
        case ItemType::Int:
            return is_integer(dtype);
        case ItemType::Bool:
            return dtype == DType::Bool;
    }
    return false;
}

Result<NnefHeader> decode_nnef_header(std::string_view first_bytes, int64_t file_bytes) {
    NnefHeader header;
    LEMMA_TRY(check_begin(first_bytes, file_bytes));
    using Step = Result<void> (*)(std::string_view, NnefHeader&);
    for (const Step step : {&read_shape, &read_item_type, &read_parameters}) {
        LEMMA_TRY(step(first_bytes, header));
    }
    LEMMA_TRY(check_lengths(first_bytes, file_bytes, header));
    return header;
}

Result<std::string> encode_nnef_header(const NnefHeader& header) {
    constexpr int64_t kMaxWord = std::numeric_limits<uint32_t>::max();
    const auto count = volume(header.shape);
    const auto length = count ? packed_bytes(*count, header.bits) : std::nullopt;
    if (header.shape.size() > kMaxNnefRank || !bits_fit(header.type, header.bits) || !length ||
        *length > kMaxWord) {
        return bad(fmt::format("{} of shape {} cannot be stored in a .dat file",
                               item_text(header),
                               shape_text(header.shape)));
    }
    std::string bytes(static_cast<size_t>(kNnefHeaderBytes), '\0');
    bytes.replace(0, kMagic.size(), kMagic);
    bytes[2] = 1;
    put_word(bytes, kDataLengthAt, static_cast<uint32_t>(*length));
    put_word(bytes, kRankAt, static_cast<uint32_t>(header.shape.size()));
    for (size_t i = 0; i < header.shape.size(); ++i) {
        if (header.shape[i] > kMaxWord) {
            return bad(
                fmt::format("an extent of {} cannot be stored in a .dat file", header.shape[i]));
        }
        put_word(bytes, kExtentsAt + 4 * i, static_cast<uint32_t>(header.shape[i]));
    }
    put_word(bytes, kBitsAt, header.bits);
    put_word(bytes, kTypeAt, static_cast<uint32_t>(header.type));
    if (header.range) {
        put_word(bytes, kParametersAt, std::bit_cast<uint32_t>(header.range->min));
        put_word(bytes, kParametersAt + 4, std::bit_cast<uint32_t>(header.range->max));
    }
    return bytes;
}

}  // namespace lemma::tensor
