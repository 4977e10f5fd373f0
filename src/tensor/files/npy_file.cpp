// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/npy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "diag/utf8.h"
#include "tensor/convert.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_header.h"

namespace lemma::tensor {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

// ---- Reading ------------------------------------------------------------------------------------

void swap_bytes(std::span<std::byte> bytes, size_t size) {
    for (size_t at = 0; at + size <= bytes.size(); at += size) {
        std::ranges::reverse(bytes.subspan(at, size));
    }
}

void make_bools(std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = byte == std::byte{0} ? byte : std::byte{1};
}

void append_utf8(std::string& text, uint32_t code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int parts = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // continuation bytes
    const uint32_t mark = 0xFF00u >> (parts + 1) & 0xFF;          // one leading bit per byte
    text += static_cast<char>(mark | code >> (6 * parts));
    for (int part = parts; part-- > 0;) {
        text += static_cast<char>(0x80 | (code >> (6 * part) & 0x3F));
    }
}

bool is_character(uint32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

// Empty if a code is not a character.
std::optional<std::string> from_utf32(std::string_view item, bool big_endian) {
    std::string text;
    size_t end = item.size();
    while (end >= 4 && item.substr(end - 4, 4) == std::string_view("\0\0\0\0", 4)) end -= 4;
    for (size_t at = 0; at < end; at += 4) {
        uint32_t code = 0;
        for (size_t i = 0; i < 4; ++i) {
            code = code << 8 | static_cast<uint8_t>(item[at + (big_endian ? i : 3 - i)]);
        }
        if (!is_character(code)) return std::nullopt;
        append_utf8(text, code);
    }
    return text;
}

std::string from_bytes(std::string_view item) {
    return std::string(item.substr(0, item.find_last_not_of('\0') + 1));
}

Result<void> read_text(const NpyHeader& header, std::string_view data, Tensor& tensor) {
    const auto size = static_cast<size_t>(header.item_bytes);
    for (size_t i = 0; i < tensor.strings().size(); ++i) {
        const std::string_view item = data.substr(i * size, size);
        const auto text =
            header.text == NpyText::Bytes ? from_bytes(item) : from_utf32(item, header.big_endian);
        if (!text) {
            return bad(fmt::format("{} is not Unicode text",
                                   element_text(header.shape, static_cast<int64_t>(i))));
        }
        tensor.strings()[i] = *text;
    }
    return {};
}

void read_numbers(const NpyHeader& header, std::string_view data, Tensor& tensor) {
    if (!data.empty()) std::memcpy(tensor.bytes().data(), data.data(), data.size());
    if (header.big_endian) swap_bytes(tensor.bytes(), static_cast<size_t>(header.item_bytes));
    if (header.dtype == DType::Bool) make_bools(tensor.bytes());
}

void copy_element(const Tensor& source, int64_t from, Tensor& target, int64_t to) {
    if (source.dtype() == DType::Str) {
        target.strings()[static_cast<size_t>(to)] = source.strings()[static_cast<size_t>(from)];
        return;
    }
    const int64_t size = dtype_size(source.dtype());
    std::memcpy(target.bytes().data() + to * size,
                source.bytes().data() + from * size,
                static_cast<size_t>(size));
}

// Column-major to row-major.
Tensor transpose(const Tensor& source) {
    Tensor result = source;
    const Shape& shape = source.shape();
    Shape index(shape.size(), 0);
    for (int64_t from = 0; from < source.size(); ++from) {
        int64_t to = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) to = to * shape[axis] + index[axis];
        copy_element(source, from, result, to);
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return result;
}

// ---- Writing ------------------------------------------------------------------------------------

// The characters of the element; an error if it is not UTF-8.
Result<std::vector<uint32_t>> characters(const Tensor& tensor, size_t element) {
    const std::string& text = tensor.strings()[element];
    std::vector<uint32_t> codes;
    for (size_t at = 0; at < text.size();) {
        const diag::Character character = diag::character_at(text, at);
        if (!character.valid) {
            return bad(fmt::format("{} is not UTF-8 text",
                                   element_text(tensor.shape(), static_cast<int64_t>(element))));
        }
        codes.push_back(character.code);
        at += character.size;
    }
    return codes;
}

Result<std::string> encode_text(const Tensor& tensor) {
    size_t longest = 1;
    for (size_t i = 0; i < tensor.strings().size(); ++i) {
        LEMMA_TRY(const std::vector<uint32_t> codes, characters(tensor, i));
        longest = std::max(longest, codes.size());
    }
    const NpyHeader header = {.dtype = DType::Str,
                              .text = NpyText::Utf32,
                              .item_bytes = static_cast<int64_t>(4 * longest),
                              .shape = tensor.shape()};
    const auto size = checked_mul(tensor.size(), header.item_bytes);
    if (!size || *size > kMaxTensorBytes) return bad("its strings are too long for an .npy file");
    std::string bytes = encode_npy_header(header);
    bytes.reserve(bytes.size() + static_cast<size_t>(*size));
    for (size_t i = 0; i < tensor.strings().size(); ++i) {
        LEMMA_TRY(std::vector<uint32_t> codes, characters(tensor, i));
        codes.resize(longest, 0);
        bytes.append(reinterpret_cast<const char*>(codes.data()), 4 * codes.size());
    }
    return bytes;
}

}  // namespace

Result<Tensor> decode_npy(std::string_view bytes) {
    LEMMA_TRY(const NpyHeader header, decode_npy_header(bytes));
    const std::string_view data = bytes.substr(header.data_begin);
    LEMMA_TRY(Tensor tensor, Tensor::zeros(header.dtype, header.shape));
    if (header.text == NpyText::None) {
        read_numbers(header, data, tensor);
    } else {
        LEMMA_TRY(read_text(header, data, tensor));
    }
    return header.fortran && header.shape.size() > 1 ? transpose(tensor) : std::move(tensor);
}

Result<std::string> encode_npy(const Tensor& tensor) {
    if (tensor.shape().size() > kMaxRank) {
        return bad(
            fmt::format("a rank of more than {} cannot be stored in an .npy file", kMaxRank));
    }
    if (tensor.dtype() == DType::Str) return encode_text(tensor);
    if (tensor.dtype() == DType::BF16) {
        LEMMA_TRY(const Tensor wider, convert(tensor, DType::F32));
        return encode_npy(wider);
    }
    std::string bytes = encode_npy_header({.dtype = tensor.dtype(),
                                           .item_bytes = dtype_size(tensor.dtype()),
                                           .shape = tensor.shape()});
    bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    return bytes;
}

Result<Tensor> read_npy(const std::string& path) {
    LEMMA_TRY(const std::string bytes, read_file(path));
    auto tensor = decode_npy(bytes);
    if (!tensor) return cannot_read(path, tensor.error().message);
    return tensor;
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
    const auto bytes = encode_npy(tensor);
    if (!bytes) return cannot_write(path, bytes.error().message);
    return write_file(path, *bytes);
}

}  // namespace lemma::tensor
