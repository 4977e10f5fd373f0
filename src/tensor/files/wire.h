// SPDX-License-Identifier: Apache-2.0
// tensor/files/wire.h — the wire format of protocol buffers: a message is a sequence of numbered
// fields. Reading copies nothing, and a false length claims no memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::tensor {

// The values are the codes in the format.
enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
    uint32_t number = 0;
    WireType type = WireType::Varint;
    uint64_t value = 0;      // any type except Bytes
    std::string_view bytes;  // a string, a message or packed numbers
    int64_t offset = 0;      // offset of the value in the file, for messages
    int depth = 0;           // depth of the message that has the field
};

// Nesting of messages, counted from the outermost.
inline constexpr int kMaxWireDepth = 100;

class WireReader {
public:
    // A message that is a whole file.
    explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
    // The message in a field. An error if the field has another type or is nested too deep.
    static Result<WireReader> open(const WireField& field);

    // Reads the next field; false at the end. Skips groups, which are obsolete.
    Result<bool> next(WireField& field);

    std::string_view bytes() const { return bytes_; }

private:
    Result<uint64_t> varint();
    Result<uint64_t> fixed(size_t size);
    Result<std::string_view> delimited();
    Result<WireField> header(bool& group_begins, bool& group_ends);
    Result<void> value(WireField& field);
    Result<void> skip_group(uint32_t number);
    std::unexpected<Error> damaged(std::string_view what) const;

    std::string_view bytes_;
    size_t at_ = 0;
    int64_t offset_ = 0;  // offset of bytes_ in the file
    int depth_ = 0;
};

// The value of a field of that type; the error names the field by its number.
Result<int64_t> wire_int(const WireField& field);  // int32, int64, uint64, bool or an enumeration
Result<float> wire_float(const WireField& field);
Result<double> wire_double(const WireField& field);
Result<std::string_view> wire_bytes(const WireField& field);

// The numbers of a repeated field, packed or one by one.
class WireValues {
public:
    // `item` is the wire type of one number. An error if the field cannot hold it.
    static Result<WireValues> open(const WireField& field, WireType item);
    // False at the end.
    Result<bool> next(uint64_t& value);

private:
    WireField field_;
    WireType item_ = WireType::Varint;
    size_t at_ = 0;
};

// Appends the numbers of a repeated field.
Result<void> append_ints(const WireField& field, std::vector<int64_t>& values);
Result<void> append_floats(const WireField& field, std::vector<float>& values);
Result<void> append_doubles(const WireField& field, std::vector<double>& values);

// Builds a message field by field.
class WireWriter {
public:
    void put_int(uint32_t number, int64_t value);
    void put_float(uint32_t number, float value);
    void put_double(uint32_t number, double value);
    // A string, or a message from another writer.
    void put_bytes(uint32_t number, std::string_view bytes);
    // Packed.
    void put_ints(uint32_t number, std::span<const int64_t> values);
    void put_floats(uint32_t number, std::span<const float> values);
    // A field as read.
    void put_field(const WireField& field);

    const std::string& bytes() const { return bytes_; }
    std::string take() { return std::move(bytes_); }

private:
    void varint(uint64_t value);
    void fixed(uint64_t value, size_t size);
    void header(uint32_t number, WireType type);

    std::string bytes_;
};

}  // namespace lemma::tensor
