// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/checked.h"
#include "diag/utf8.h"

namespace lemma::tensor {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kShownBytes = 40;

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

std::string shown(std::string_view text) {
    return diag::shortened(diag::printable(text.substr(0, 2 * kShownBytes)), kShownBytes);
}

// ---- The type of elements -----------------------------------------------------------------------

std::unexpected<Error> unsupported(std::string_view descr) {
    return bad(fmt::format("its dtype `{}` is not supported", shown(descr)));
}

// `U5`, `S5`: text of 5 characters.
Result<void> parse_text_type(std::string_view descr, std::string_view code, NpyHeader& header) {
    const bool wide = code[0] == 'U';
    int64_t length = 0;
    const char* end = code.data() + code.size();
    const auto [next, trouble] = std::from_chars(code.data() + 1, end, length);
    const auto bytes = checked_mul(length, wide ? 4 : 1);
    if (trouble != std::errc() || next != end || length <= 0 || !bytes) return unsupported(descr);
    header.dtype = DType::Str;
    header.text = wide ? NpyText::Utf32 : NpyText::Bytes;
    header.item_bytes = *bytes;
    return {};
}

Result<void> parse_descr(std::string_view descr, NpyHeader& header) {
    const bool marked =
        !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
    const std::string_view code = descr.substr(marked ? 1 : 0);
    header.big_endian = marked && descr[0] == '>';
    if (code.starts_with('O')) {
        return bad("its elements are Python objects (dtype `O`), which only Python can read");
    }
    if (code.starts_with('U') || code.starts_with('S')) {
        return parse_text_type(descr, code, header);
    }
    const auto* const row =
        std::ranges::find_if(kCodes, [&](const Code& each) { return each.text == code; });
    if (row == kCodes.end()) return unsupported(descr);
    header.dtype = row->dtype;
    header.item_bytes = dtype_size(row->dtype);
    return {};
}

// ---- The dictionary -----------------------------------------------------------------------------

// { 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class Parser {
public:
    Parser(std::string_view text, NpyHeader& header) : text_(text), header_(header) {}

    Result<void> run() {
        if (!take('{')) return malformed();
        while (!take('}')) {
            LEMMA_TRY(entry());
            if (!take(',') && peek() != '}') return malformed();
        }
        if (peek() != '\0') return malformed();
        for (const std::string_view key : {"descr", "fortran_order", "shape"}) {
            if (!std::ranges::count(seen_, key)) {
                return bad(fmt::format("its header has no `{}`", key));
            }
        }
        return {};
    }

private:
    // The next character that is not a space; 0 at the end.
    char peek() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word) {
        peek();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    std::unexpected<Error> malformed() const {
        return bad(fmt::format("its header is malformed at `{}`", shown(text_.substr(at_))));
    }

    Result<std::string_view> string() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') return malformed();
        const size_t close = text_.find(quote, at_ + 1);
        if (close == std::string_view::npos) return malformed();
        const std::string_view content = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        return content;
    }
    Result<void> entry() {
        LEMMA_TRY(const std::string_view key, string());
        if (!take(':')) return malformed();
        if (std::ranges::count(seen_, key)) {
            return bad(fmt::format("its header has `{}` twice", shown(key)));
        }
        seen_.push_back(key);
        if (key == "descr") return descr();
        if (key == "fortran_order") return order();
        if (key == "shape") return shape();
        return bad(fmt::format("its header has the unknown key `{}`", shown(key)));
    }
    Result<void> descr() {
        if (peek() == '[') return bad("its elements have several fields, which is not supported");
        LEMMA_TRY(const std::string_view code, string());
        return parse_descr(code, header_);
    }
    Result<void> order() {
        header_.fortran = take_word("True");
        if (header_.fortran || take_word("False")) return {};
        return malformed();
    }
    Result<void> shape() {
        if (!take('(')) return malformed();
        while (!take(')')) {
            LEMMA_TRY(extent());
            if (!take(',') && peek() != ')') return malformed();
        }
        return {};
    }
    Result<void> extent() {
        peek();
        int64_t value = 0;
        const char* begin = text_.data() + at_;
        const auto [next, trouble] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (trouble != std::errc() || value < 0) return malformed();
        at_ += static_cast<size_t>(next - begin);
        take_word("L");  // written by Python 2
        header_.shape.push_back(value);
        if (header_.shape.size() <= kMaxRank) return {};
        return bad(fmt::format("it has a rank of more than {}", kMaxRank));
    }

    std::string_view text_;
    NpyHeader& header_;
    size_t at_ = 0;
    std::vector<std::string_view> seen_;  // keys
};

Result<void> check_length(const NpyHeader& header, size_t data_bytes) {
    const auto count = volume(header.shape);
    const auto wanted = count ? checked_mul(*count, header.item_bytes) : std::nullopt;
    if (wanted && *wanted == static_cast<int64_t>(data_bytes)) return {};
    return bad(fmt::format("it has {} bytes of data, but {} of shape {} {}",
                           data_bytes,
                           dtype_name(header.dtype),
                           shape_text(header.shape),
                           wanted ? fmt::format("needs {}", *wanted) : "is too large"));
}

std::string descr_text(const NpyHeader& header) {
    if (header.text == NpyText::Utf32) return fmt::format("<U{}", header.item_bytes / 4);
    if (header.text == NpyText::Bytes) return fmt::format("|S{}", header.item_bytes);
    for (const Code& row : kCodes) {
        if (row.dtype == header.dtype) {
            return fmt::format("{}{}", header.item_bytes == 1 ? '|' : '<', row.text);
        }
    }
    return "";
}

}  // namespace

Result<NpyHeader> decode_npy_header(std::string_view file) {
    const auto byte = [&](size_t at) {
        return static_cast<size_t>(static_cast<uint8_t>(file[at]));
    };
    if (!file.starts_with(kMagic)) return bad("it does not begin as an .npy file");
    if (file.size() < 12) return bad("its header is cut off");
    const size_t version = byte(6);
    if (version < 1 || version > 3) {
        return bad(fmt::format("it has version {} of the format, expected 1 to 3", version));
    }
    const size_t begin = version == 1 ? 10 : 12;
    size_t length = byte(8) | byte(9) << 8;
    if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (file.size() - begin < length) return bad("its header is cut off");
    NpyHeader header;
    header.data_begin = begin + length;
    LEMMA_TRY(Parser(file.substr(begin, length), header).run());
    LEMMA_TRY(check_length(header, file.size() - header.data_begin));
    return header;
}

std::string encode_npy_header(const NpyHeader& header) {
    const std::string shape = header.shape.size() == 1
                                  ? fmt::format("{},", header.shape[0])
                                  : fmt::format("{}", fmt::join(header.shape, ", "));
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}",
                                   descr_text(header),
                                   header.fortran ? "True" : "False",
                                   shape);
    // Rank 64 still fits version 1, whose header has at most 65535 bytes.
    text.append(63 - (10 + text.size()) % 64, ' ');
    text += '\n';
    std::string bytes(kMagic);
    bytes += '\x01';
    bytes += '\0';
    bytes += static_cast<char>(text.size() & 255);
    bytes += static_cast<char>(text.size() >> 8);
    return bytes + text;
}

}  // namespace lemma::tensor
