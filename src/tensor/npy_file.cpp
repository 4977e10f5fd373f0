#include "tensor/npy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

namespace lemma::tensor {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Code {
    std::string_view text;  // kind and bytes
    DType dtype;
};
constexpr std::array<Code, 12> kCodes = {{{"f2", DType::F16},
                                          {"f4", DType::F32},
                                          {"f8", DType::F64},
                                          {"i1", DType::I8},
                                          {"i2", DType::I16},
                                          {"i4", DType::I32},
                                          {"i8", DType::I64},
                                          {"u1", DType::U8},
                                          {"u2", DType::U16},
                                          {"u4", DType::U32},
                                          {"u8", DType::U64},
                                          {"b1", DType::Bool}}};

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

struct Header {
    DType dtype{};
    bool swapped = false;
    bool fortran = false;
    Shape shape;
};

// The text behind `'key':` in the header's dictionary.
Result<std::string_view> entry(std::string_view header, std::string_view key) {
    const std::string quoted = fmt::format("'{}'", key);
    size_t at = header.find(quoted);
    if (at == std::string_view::npos) return bad(fmt::format("the .npy header has no {}", quoted));
    at = header.find(':', at + quoted.size());
    if (at == std::string_view::npos) return bad("the .npy header is malformed");
    at = header.find_first_not_of(' ', at + 1);
    if (at == std::string_view::npos) return bad("the .npy header is malformed");
    return header.substr(at);
}

Result<void> parse_descr(std::string_view text, Header& header) {
    if (text.size() < 2 || (text[0] != '\'' && text[0] != '"'))
        return bad("the .npy dtype is malformed");
    const size_t close = text.find(text[0], 1);
    if (close == std::string_view::npos) return bad("the .npy dtype is malformed");
    const std::string_view descr = text.substr(1, close - 1);
    const bool marked =
        !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    header.swapped = marked && descr[0] == '>';
    const std::string_view code = descr.substr(marked ? 1 : 0);
    for (const Code& row : kCodes) {
        if (row.text != code) continue;
        header.dtype = row.dtype;
        return {};
    }
    return bad(fmt::format("the .npy dtype `{}` is not supported", descr));
}

Result<void> parse_shape(std::string_view text, Header& header) {
    if (text.empty() || text[0] != '(') return bad("the .npy shape is malformed");
    const size_t close = text.find(')');
    if (close == std::string_view::npos) return bad("the .npy shape is malformed");
    const char* at = text.data() + 1;
    const char* end = text.data() + close;
    while (at < end) {
        if (*at == ' ' || *at == ',') {
            ++at;
            continue;
        }
        int64_t extent = 0;
        const auto [next, trouble] = std::from_chars(at, end, extent);
        if (trouble != std::errc() || extent < 0) return bad("the .npy shape is malformed");
        header.shape.push_back(extent);
        at = next;
        if (at < end && *at == 'L') ++at;  // written by Python 2
    }
    return {};
}

Result<Header> parse_header(std::string_view text) {
    Header header;
    LEMMA_TRY(const std::string_view descr, entry(text, "descr"));
    LEMMA_TRY(const std::string_view order, entry(text, "fortran_order"));
    LEMMA_TRY(const std::string_view shape, entry(text, "shape"));
    if (auto done = parse_descr(descr, header); !done) return std::unexpected(done.error());
    header.fortran = order.starts_with("True");
    if (auto done = parse_shape(shape, header); !done) return std::unexpected(done.error());
    return header;
}

void swap_bytes(std::span<std::byte> bytes, size_t size) {
    for (size_t at = 0; at + size <= bytes.size(); at += size) {
        std::reverse(bytes.begin() + static_cast<int64_t>(at),
                     bytes.begin() + static_cast<int64_t>(at + size));
    }
}

// Column-major to row-major.
Tensor transpose(const Tensor& source) {
    Tensor result = source;
    const Shape& shape = source.shape();
    const auto size = static_cast<size_t>(dtype_size(source.dtype()));
    Shape index(shape.size(), 0);
    for (int64_t from = 0; from < source.size(); ++from) {
        int64_t to = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) to = to * shape[axis] + index[axis];
        std::memcpy(result.bytes().data() + static_cast<size_t>(to) * size,
                    source.bytes().data() + static_cast<size_t>(from) * size,
                    size);
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return result;
}

}  // namespace

Result<Tensor> decode_npy(std::string_view bytes) {
    if (!bytes.starts_with(kMagic) || bytes.size() < 10) return bad("not an .npy file");
    const auto byte = [&](size_t at) {
        return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
    };
    const size_t version = byte(6);
    if (version < 1 || version > 3)
        return bad(fmt::format(".npy version {} is not supported", version));
    const size_t begin = version == 1 ? 10 : 12;
    if (bytes.size() < begin) return bad("the .npy header is cut off");
    size_t length = byte(8) | byte(9) << 8;
    if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (bytes.size() - begin < length) return bad("the .npy header is cut off");
    LEMMA_TRY(Header header, parse_header(bytes.substr(begin, length)));
    const std::string_view data = bytes.substr(begin + length);
    const auto count = volume(header.shape);
    const int64_t size = dtype_size(header.dtype);
    if (!count || *count > static_cast<int64_t>(data.size()) / size ||
        static_cast<int64_t>(data.size()) != *count * size) {
        return bad(fmt::format(
            "the .npy file has {} bytes of data, its shape {} of {} needs another number",
            data.size(),
            shape_text(header.shape),
            dtype_name(header.dtype)));
    }
    LEMMA_TRY(Tensor tensor, Tensor::zeros(header.dtype, header.shape));
    if (!data.empty()) std::memcpy(tensor.bytes().data(), data.data(), data.size());
    if (header.swapped) swap_bytes(tensor.bytes(), static_cast<size_t>(size));
    return header.fortran && header.shape.size() > 1 ? transpose(tensor) : tensor;
}

Result<std::string> encode_npy(const Tensor& tensor) {
    std::string_view code;
    for (const Code& row : kCodes) {
        if (row.dtype == tensor.dtype()) code = row.text;
    }
    if (code.empty()) {
        return bad(fmt::format("{} cannot be stored in an .npy file", dtype_name(tensor.dtype())));
    }
    std::string shape;
    for (const int64_t extent : tensor.shape()) shape += fmt::format("{}, ", extent);
    if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
    if (tensor.shape().size() == 1) shape.resize(shape.size() - 1);
    std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                     dtype_size(tensor.dtype()) == 1 ? '|' : '<',
                                     code,
                                     shape);
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes(kMagic);
    bytes += '\x01';
    bytes += '\0';
    bytes += static_cast<char>(header.size() & 255);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    return bytes;
}

Result<Tensor> read_npy(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return bad(fmt::format("cannot read `{}`", path));
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    auto tensor = decode_npy(bytes);
    if (!tensor) return bad(fmt::format("`{}`: {}", path, tensor.error().message));
    return tensor;
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
    LEMMA_TRY(const std::string bytes, encode_npy(tensor));
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) return bad(fmt::format("cannot write `{}`", path));
    return {};
}

}  // namespace lemma::tensor
