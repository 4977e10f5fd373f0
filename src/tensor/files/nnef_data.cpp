// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/nnef_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "tensor/convert.h"
#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// ---- Items --------------------------------------------------------------------------------------

uint64_t all_ones(uint32_t bits) { return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits); }

// Reads items from the bit stream in order.
class ItemReader {
public:
    ItemReader(std::string_view data, uint32_t bits) : data_(data), bits_(bits) {}

    uint64_t next() { return bits_ % 8 == 0 ? next_bytes() : next_bits(); }

private:
    uint64_t next_bytes() {
        uint64_t item = 0;
        for (uint32_t shift = 0; shift < bits_; shift += 8) {
            item |= static_cast<uint64_t>(static_cast<uint8_t>(data_[at_++])) << shift;
        }
        return item;
    }
    uint64_t next_bits() {
        uint64_t item = 0;
        for (uint32_t wanted = bits_; wanted > 0;) {
            const uint32_t left = 8 - used_;
            const uint32_t take = std::min(wanted, left);
            const auto byte = static_cast<uint8_t>(data_[at_]);
            item = item << take | (byte >> (left - take) & all_ones(take));
            wanted -= take;
            used_ = (used_ + take) % 8;
            if (used_ == 0) ++at_;
        }
        return item;
    }

    std::string_view data_;
    uint32_t bits_;
    size_t at_ = 0;
    uint32_t used_ = 0;  // bits of the byte at `at_`
};

class ItemWriter {
public:
    ItemWriter(std::string& data, uint32_t bits) : data_(data), bits_(bits) {}

    void put(uint64_t item) { bits_ % 8 == 0 ? put_bytes(item) : put_bits(item); }

private:
    void put_bytes(uint64_t item) {
        for (uint32_t shift = 0; shift < bits_; shift += 8) {
            data_ += static_cast<char>(item >> shift & 255);
        }
    }
    void put_bits(uint64_t item) {
        for (uint32_t left = bits_; left > 0;) {
            if (used_ == 0) data_ += '\0';
            const uint32_t take = std::min(left, 8 - used_);
            const uint64_t part = item >> (left - take) & all_ones(take);
            data_.back() |= static_cast<char>(part << (8 - used_ - take));
            left -= take;
            used_ = (used_ + take) % 8;
        }
    }

    std::string& data_;
    uint32_t bits_;
    uint32_t used_ = 0;  // bits of the last byte
};

bool is_signed_item(ItemType type) { return type == ItemType::Int || type == ItemType::QuantInt; }

int64_t sign_extended(int64_t item, uint32_t bits) {
    const uint32_t unused = 64 - bits;
    return static_cast<int64_t>(static_cast<uint64_t>(item) << unused) >> unused;
}

// Whether items have the same representation in the file and in memory.
bool is_plain(const NnefHeader& header) {
    return !header.range && header.type != ItemType::Bool &&
           header.bits == 8 * dtype_size(dtype_of_items(header));
}

// ---- Deprecated quantisation --------------------------------------------------------------------

// The formulas of chapter 5.2. Codes range from 0 to r = 2^b - 1. The highest bit of a signed
// logarithmic code is the sign and does not count for b.
class Quantiser {
public:
    explicit Quantiser(const NnefHeader& header)
        : range_(*header.range),
          sign_bit_(range_.logarithmic && range_.min < 0 ? uint64_t{1} << (header.bits - 1) : 0),
          max_code_(all_ones(sign_bit_ ? header.bits - 1 : header.bits)),
          top_exponent_(range_.logarithmic ? std::ceil(std::log2(double{range_.max})) : 0) {}

    double decode(uint64_t code) const {
        const double min = range_.min;
        if (!range_.logarithmic) {
            const double part = static_cast<double>(code) / static_cast<double>(max_code_);
            return part * (range_.max - min) + min;
        }
        const uint64_t below = max_code_ - (code & max_code_);
        const double magnitude = std::exp2(top_exponent_ - static_cast<double>(below));
        return code & sign_bit_ ? -magnitude : magnitude;
    }

    uint64_t encode(double value) const {
        if (!range_.logarithmic) {
            const double min = range_.min;
            const double part = std::clamp((value - min) / (range_.max - min), 0.0, 1.0);
            return rounded(part * static_cast<double>(max_code_));
        }
        // log2(0) is minus infinity, which is clamped as well.
        const double below = top_exponent_ - std::log2(std::fabs(value));
        const uint64_t code = max_code_ - rounded(std::max(below, 0.0));
        return std::signbit(value) ? code | sign_bit_ : code;
    }

private:
    // Rounds to a code, clamped to the range of codes; NaN gives 0.
    uint64_t rounded(double value) const {
        const double whole = std::nearbyint(value);
        if (!(whole > 0)) return 0;
        return whole < static_cast<double>(max_code_) ? static_cast<uint64_t>(whole) : max_code_;
    }

    StoredRange range_;
    uint64_t sign_bit_;
    uint64_t max_code_;
    double top_exponent_;
};

// ---- All items ----------------------------------------------------------------------------------

void decode_items(const NnefHeader& header, std::string_view data, Tensor& tensor) {
    ItemReader items(data, header.bits);
    if (header.range) {
        const Quantiser quantiser(header);
        for (int64_t i = 0; i < tensor.size(); ++i) {
            tensor.set_real(i, quantiser.decode(items.next()));
        }
    } else if (is_signed_item(header.type)) {
        for (int64_t i = 0; i < tensor.size(); ++i) {
            tensor.set_integer(i, sign_extended(static_cast<int64_t>(items.next()), header.bits));
        }
    } else {
        for (int64_t i = 0; i < tensor.size(); ++i) {
            tensor.set_integer(i, static_cast<int64_t>(items.next()));
        }
    }
}

// Whether an integer or bool element fits the bits of an item.
bool fits(const NnefHeader& header, const Tensor& tensor, int64_t element) {
    const int64_t value = tensor.integer(element);
    const bool huge = value < 0 && tensor.dtype() == DType::U64;
    if (is_signed_item(header.type)) return !huge && sign_extended(value, header.bits) == value;
    return (value >= 0 || huge) && static_cast<uint64_t>(value) <= all_ones(header.bits);
}

Result<std::string> encode_items(const NnefHeader& header, const Tensor& tensor) {
    std::string data;
    ItemWriter items(data, header.bits);
    if (header.range) {
        const Quantiser quantiser(header);
        for (int64_t i = 0; i < tensor.size(); ++i) items.put(quantiser.encode(tensor.real(i)));
        return data;
    }
    for (int64_t i = 0; i < tensor.size(); ++i) {
        if (!fits(header, tensor, i)) return does_not_fit(tensor, i, item_text(header));
        items.put(static_cast<uint64_t>(tensor.integer(i)));
    }
    return data;
}

bool same_kind(DType a, DType b) {
    return is_real(a) == is_real(b) && is_integer(a) == is_integer(b) &&
           (a == DType::Bool) == (b == DType::Bool);
}

void copy_plain(std::string_view data, Tensor& tensor) {
    if (!data.empty()) std::memcpy(tensor.bytes().data(), data.data(), data.size());
}

std::string plain_bytes(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

}  // namespace

DType dtype_of_items(const NnefHeader& header) {
    const uint32_t bits = header.bits;
    if (header.range) return DType::F32;
    if (header.type == ItemType::Bool) return DType::Bool;
    if (header.type == ItemType::Float) {
        return bits == 16 ? DType::F16 : bits == 32 ? DType::F32 : DType::F64;
    }
    if (is_signed_item(header.type)) {
        return bits <= 8    ? DType::I8
               : bits <= 16 ? DType::I16
               : bits <= 32 ? DType::I32
                            : DType::I64;
    }
    return bits <= 8 ? DType::U8 : bits <= 16 ? DType::U16 : bits <= 32 ? DType::U32 : DType::U64;
}

NnefHeader nnef_header_for(const Tensor& tensor) {
    const DType dtype = tensor.dtype() == DType::BF16 ? DType::F32 : tensor.dtype();
    NnefHeader header;
    header.shape = tensor.shape();
    header.volume = tensor.size();
    header.bits = dtype == DType::Bool ? 1 : static_cast<uint32_t>(8 * dtype_size(dtype));
    header.type = is_real(dtype)         ? ItemType::Float
                  : dtype == DType::Bool ? ItemType::Bool
                  : is_signed(dtype)     ? ItemType::Int
                                         : ItemType::Uint;
    header.data_bytes = (tensor.size() * header.bits + 7) / 8;
    return header;
}

Result<Tensor> decode_nnef_data(const NnefHeader& header, std::string_view data) {
    if (static_cast<int64_t>(data.size()) != header.data_bytes) {
        return bad(
            fmt::format("it has {} bytes of data, expected {}", data.size(), header.data_bytes));
    }
    LEMMA_TRY(Tensor tensor, Tensor::zeros(dtype_of_items(header), header.shape));
    if (is_plain(header)) {
        copy_plain(data, tensor);
    } else {
        decode_items(header, data, tensor);
    }
    return tensor;
}

Result<std::string> encode_nnef_data(const NnefHeader& header, const Tensor& tensor) {
    LEMMA_CHECK(header.shape == tensor.shape());
    const DType dtype = dtype_of_items(header);
    if (!same_kind(tensor.dtype(), dtype)) {
        return bad(fmt::format("a tensor of {} cannot be stored as {}",
                               dtype_name(tensor.dtype()),
                               item_text(header)));
    }
    if (!is_plain(header)) return encode_items(header, tensor);
    if (tensor.dtype() == dtype) return plain_bytes(tensor);
    if (is_integer(dtype)) return encode_items(header, tensor);  // its errors name the item
    LEMMA_TRY(const Tensor items, convert(tensor, dtype));
    return plain_bytes(items);
}

Result<Tensor> decode_nnef(std::string_view file) {
    LEMMA_TRY(const NnefHeader header, decode_nnef_header(file, static_cast<int64_t>(file.size())));
    return decode_nnef_data(header,
                            file.substr(static_cast<size_t>(header.data_begin),
                                        static_cast<size_t>(header.data_bytes)));
}

Result<std::string> encode_nnef(const Tensor& tensor) {
    if (tensor.dtype() == DType::Str) return bad("str cannot be stored in a .dat file");
    const NnefHeader header = nnef_header_for(tensor);
    LEMMA_TRY(std::string bytes, encode_nnef_header(header));
    LEMMA_TRY(const std::string data, encode_nnef_data(header, tensor));
    return bytes + data;
}

Result<Tensor> read_nnef(const std::string& path) {
    LEMMA_TRY(const InputFile file, InputFile::open(path));
    LEMMA_TRY(const std::string begin, file.read(0, kNnefHeaderBytes));
    const auto header = decode_nnef_header(begin, file.size());
    if (!header) return cannot_read(path, header.error().message);
    if (!is_plain(*header)) {
        LEMMA_TRY(const std::string data, file.read(header->data_begin, header->data_bytes));
        auto tensor = decode_nnef_data(*header, data);
        if (!tensor) return cannot_read(path, tensor.error().message);
        return tensor;
    }
    // Reads into the tensor without a copy.
    auto tensor = Tensor::zeros(dtype_of_items(*header), header->shape);
    if (!tensor) return cannot_read(path, tensor.error().message);
    LEMMA_TRY(file.read_into(header->data_begin, tensor->bytes()));
    return tensor;
}

Result<void> write_nnef(const std::string& path, const Tensor& tensor) {
    const auto bytes = encode_nnef(tensor);
    if (!bytes) return cannot_write(path, bytes.error().message);
    return write_file(path, *bytes);
}

}  // namespace lemma::tensor
