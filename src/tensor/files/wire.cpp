// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/wire.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace lemma::tensor {

namespace {

// Groups are two wire types that WireType omits.
constexpr uint64_t kGroupBegin = 3;
constexpr uint64_t kGroupEnd = 4;
constexpr uint64_t kMaxNumber = (uint64_t{1} << 29) - 1;
constexpr size_t kMaxVarintBytes = 10;

std::unexpected<Error> damaged_at(int64_t offset, std::string_view what) {
    return std::unexpected(Error{fmt::format("it is damaged at byte {}: {}", offset, what)});
}

std::string_view type_text(WireType type) {
    switch (type) {
        case WireType::Varint:
            return "a varint";
        case WireType::Fixed64:
            return "8 bytes";
        case WireType::Bytes:
            return "a string or message";
        case WireType::Fixed32:
            return "4 bytes";
    }
    return "";
}

std::unexpected<Error> unexpected_type(const WireField& field, WireType wanted) {
    return damaged_at(
        field.offset,
        fmt::format(
            "field {} is {}, expected {}", field.number, type_text(field.type), type_text(wanted)));
}

// Reads the number at `at` and moves `at` after it.
Result<uint64_t> read_varint(std::string_view bytes, size_t& at, int64_t offset) {
    const size_t begin = at;
    uint64_t value = 0;
    while (at < bytes.size()) {
        const size_t i = at - begin;
        const auto byte = static_cast<uint8_t>(bytes[at]);
        if (i == kMaxVarintBytes - 1 && byte > 1) break;
        ++at;
        value |= static_cast<uint64_t>(byte & 127) << (7 * i);
        if (byte < 128) return value;
    }
    const int64_t place = offset + static_cast<int64_t>(begin);
    if (at == bytes.size()) return damaged_at(place, "a number is cut off");
    return damaged_at(place, "a number has more than 64 bits");
}

Result<uint64_t> read_fixed(std::string_view bytes, size_t& at, size_t size, int64_t offset) {
    if (bytes.size() - at < size) {
        return damaged_at(offset + static_cast<int64_t>(at), "a number is cut off");
    }
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    at += size;
    return value;
}

template <class T, class Convert>
Result<void> append(const WireField& field, WireType item, std::vector<T>& values, Convert get) {
    LEMMA_TRY(WireValues numbers, WireValues::open(field, item));
    uint64_t bits = 0;
    while (true) {
        LEMMA_TRY(const bool more, numbers.next(bits));
        if (!more) return {};
        values.push_back(get(bits));
    }
}

}  // namespace

// ---- Fields -------------------------------------------------------------------------------------

std::unexpected<Error> WireReader::damaged(std::string_view what) const {
    return damaged_at(offset_ + static_cast<int64_t>(at_), what);
}

Result<WireReader> WireReader::open(const WireField& field) {
    if (field.type != WireType::Bytes) return unexpected_type(field, WireType::Bytes);
    if (field.depth + 1 >= kMaxWireDepth) {
        return damaged_at(field.offset,
                          fmt::format("messages are nested more than {} deep", kMaxWireDepth));
    }
    WireReader reader(field.bytes);
    reader.offset_ = field.offset;
    reader.depth_ = field.depth + 1;
    return reader;
}

Result<uint64_t> WireReader::varint() { return read_varint(bytes_, at_, offset_); }

Result<uint64_t> WireReader::fixed(size_t size) { return read_fixed(bytes_, at_, size, offset_); }

Result<std::string_view> WireReader::delimited() {
    LEMMA_TRY(const uint64_t length, varint());
    const size_t left = bytes_.size() - at_;
    if (length > left) {
        return damaged(fmt::format("{} bytes are announced, but {} are left", length, left));
    }
    const std::string_view bytes = bytes_.substr(at_, static_cast<size_t>(length));
    at_ += bytes.size();
    return bytes;
}

Result<WireField> WireReader::header(bool& group_begins, bool& group_ends) {
    const size_t begin = at_;
    LEMMA_TRY(const uint64_t key, varint());
    const uint64_t number = key >> 3;
    const uint64_t code = key & 7;
    group_begins = code == kGroupBegin;
    group_ends = code == kGroupEnd;
    const int64_t place = offset_ + static_cast<int64_t>(begin);
    if (number == 0 || number > kMaxNumber) {
        return damaged_at(place, fmt::format("there is no field {}", number));
    }
    if (code > 5) return damaged_at(place, fmt::format("there is no wire type {}", code));
    WireField field;
    field.number = static_cast<uint32_t>(number);
    if (!group_begins && !group_ends) field.type = static_cast<WireType>(code);
    field.depth = depth_;
    return field;
}

Result<void> WireReader::value(WireField& field) {
    field.offset = offset_ + static_cast<int64_t>(at_);
    if (field.type == WireType::Bytes) {
        LEMMA_TRY(field.bytes, delimited());
        field.offset = offset_ + (field.bytes.data() - bytes_.data());
        return {};
    }
    const size_t size = field.type == WireType::Fixed64 ? 8 : 4;
    LEMMA_TRY(field.value, field.type == WireType::Varint ? varint() : fixed(size));
    return {};
}

// Groups nest; begin and end must match.
Result<void> WireReader::skip_group(uint32_t number) {
    std::vector<uint32_t> open = {number};
    while (!open.empty()) {
        if (at_ == bytes_.size()) return damaged("a group is cut off");
        bool begins = false;
        bool ends = false;
        LEMMA_TRY(WireField field, header(begins, ends));
        if (begins) {
            if (open.size() >= static_cast<size_t>(kMaxWireDepth)) {
                return damaged(fmt::format("groups are nested more than {} deep", kMaxWireDepth));
            }
            open.push_back(field.number);
        } else if (ends) {
            if (field.number != open.back()) return damaged("a group has the end of another");
            open.pop_back();
        } else {
            LEMMA_TRY(value(field));
        }
    }
    return {};
}

Result<bool> WireReader::next(WireField& field) {
    while (at_ < bytes_.size()) {
        bool begins = false;
        bool ends = false;
        LEMMA_TRY(field, header(begins, ends));
        if (ends) return damaged("a group ends that has not begun");
        LEMMA_TRY(begins ? skip_group(field.number) : value(field));
        if (!begins) return true;
    }
    return false;
}

// ---- Values -------------------------------------------------------------------------------------

Result<int64_t> wire_int(const WireField& field) {
    if (field.type != WireType::Varint) return unexpected_type(field, WireType::Varint);
    return static_cast<int64_t>(field.value);
}

Result<float> wire_float(const WireField& field) {
    if (field.type != WireType::Fixed32) return unexpected_type(field, WireType::Fixed32);
    return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

Result<double> wire_double(const WireField& field) {
    if (field.type != WireType::Fixed64) return unexpected_type(field, WireType::Fixed64);
    return std::bit_cast<double>(field.value);
}

Result<std::string_view> wire_bytes(const WireField& field) {
    if (field.type != WireType::Bytes) return unexpected_type(field, WireType::Bytes);
    return field.bytes;
}

Result<WireValues> WireValues::open(const WireField& field, WireType item) {
    if (field.type != item && field.type != WireType::Bytes) return unexpected_type(field, item);
    WireValues values;
    values.field_ = field;
    values.item_ = item;
    return values;
}

Result<bool> WireValues::next(uint64_t& value) {
    if (field_.type != WireType::Bytes) {
        value = field_.value;
        return at_++ == 0;
    }
    if (at_ == field_.bytes.size()) return false;
    if (item_ == WireType::Varint) {
        LEMMA_TRY(value, read_varint(field_.bytes, at_, field_.offset));
    } else {
        const size_t size = item_ == WireType::Fixed64 ? 8 : 4;
        LEMMA_TRY(value, read_fixed(field_.bytes, at_, size, field_.offset));
    }
    return true;
}

Result<void> append_ints(const WireField& field, std::vector<int64_t>& values) {
    return append(
        field, WireType::Varint, values, [](uint64_t bits) { return static_cast<int64_t>(bits); });
}

Result<void> append_floats(const WireField& field, std::vector<float>& values) {
    return append(field, WireType::Fixed32, values, [](uint64_t bits) {
        return std::bit_cast<float>(static_cast<uint32_t>(bits));
    });
}

Result<void> append_doubles(const WireField& field, std::vector<double>& values) {
    return append(field, WireType::Fixed64, values, [](uint64_t bits) {
        return std::bit_cast<double>(bits);
    });
}

// ---- Writing ------------------------------------------------------------------------------------

void WireWriter::varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
}

void WireWriter::fixed(uint64_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 255);
}

void WireWriter::header(uint32_t number, WireType type) {
    varint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
}

void WireWriter::put_int(uint32_t number, int64_t value) {
    header(number, WireType::Varint);
    varint(static_cast<uint64_t>(value));
}

void WireWriter::put_float(uint32_t number, float value) {
    header(number, WireType::Fixed32);
    fixed(std::bit_cast<uint32_t>(value), 4);
}

void WireWriter::put_double(uint32_t number, double value) {
    header(number, WireType::Fixed64);
    fixed(std::bit_cast<uint64_t>(value), 8);
}

void WireWriter::put_bytes(uint32_t number, std::string_view bytes) {
    header(number, WireType::Bytes);
    varint(bytes.size());
    bytes_ += bytes;
}

void WireWriter::put_ints(uint32_t number, std::span<const int64_t> values) {
    WireWriter packed;
    for (const int64_t value : values) packed.varint(static_cast<uint64_t>(value));
    put_bytes(number, packed.bytes_);
}

void WireWriter::put_floats(uint32_t number, std::span<const float> values) {
    WireWriter packed;
    for (const float value : values) packed.fixed(std::bit_cast<uint32_t>(value), 4);
    put_bytes(number, packed.bytes_);
}

void WireWriter::put_field(const WireField& field) {
    if (field.type == WireType::Bytes) return put_bytes(field.number, field.bytes);
    header(field.number, field.type);
    if (field.type == WireType::Varint) return varint(field.value);
    fixed(field.value, field.type == WireType::Fixed64 ? 8 : 4);
}

}  // namespace lemma::tensor
