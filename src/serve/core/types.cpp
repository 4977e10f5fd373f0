// SPDX-License-Identifier: Apache-2.0
#include "serve/core/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>

#include "base/checked.h"

namespace lemma::serve {

namespace {

struct CodeInfo {
    std::string_view name;
    int http;
};

// In the order of `Code`. 499 is what proxies log for a client that went away.
constexpr std::array<CodeInfo, kCodes> kInfos = {{{"good", 200},
                                                  {"invalid", 400},
                                                  {"unauthenticated", 401},
                                                  {"not_found", 404},
                                                  {"too_large", 413},
                                                  {"exhausted", 429},
                                                  {"deadline", 504},
                                                  {"cancelled", 499},
                                                  {"unavailable", 503},
                                                  {"internal", 500}}};

struct Datatype {
    int type;
    std::string_view name;
    int64_t size;
};

constexpr std::array<Datatype, 14> kDatatypes = {{{LEMMA_F32, "FP32", 4},
                                                  {LEMMA_F64, "FP64", 8},
                                                  {LEMMA_F16, "FP16", 2},
                                                  {LEMMA_BF16, "BF16", 2},
                                                  {LEMMA_I8, "INT8", 1},
                                                  {LEMMA_I16, "INT16", 2},
                                                  {LEMMA_I32, "INT32", 4},
                                                  {LEMMA_I64, "INT64", 8},
                                                  {LEMMA_U8, "UINT8", 1},
                                                  {LEMMA_U16, "UINT16", 2},
                                                  {LEMMA_U32, "UINT32", 4},
                                                  {LEMMA_U64, "UINT64", 8},
                                                  {LEMMA_BOOL, "BOOL", 1},
                                                  {LEMMA_STR, "BYTES", 0}}};

}  // namespace

std::string_view code_name(Code code) { return kInfos.at(static_cast<size_t>(code)).name; }
int http_status(Code code) { return kInfos.at(static_cast<size_t>(code)).http; }

std::string_view datatype_name(int type) {
    for (const Datatype& known : kDatatypes) {
        if (known.type == type) return known.name;
    }
    return {};
}

int datatype_from_name(std::string_view name) {
    for (const Datatype& known : kDatatypes) {
        if (known.name == name) return known.type;
    }
    return LEMMA_NO_TYPE;
}

int64_t element_size(int type) {
    for (const Datatype& known : kDatatypes) {
        if (known.type == type) return known.size;
    }
    return 0;
}

std::optional<int64_t> volume(const Shape& shape) {
    std::optional<int64_t> count = 1;
    bool empty = false;
    for (const int64_t extent : shape) {
        if (extent < 0) return std::nullopt;
        if (extent == 0) empty = true;
        if (extent > 0 && count) count = checked_mul(*count, extent);
    }
    return empty ? 0 : count;
}

std::optional<int64_t> byte_size(int type, const Shape& shape) {
    const auto count = volume(shape);
    if (!count) return std::nullopt;
    return checked_mul(*count, element_size(type));
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string strings_as_bytes(const std::vector<std::string>& strings) {
    std::string bytes;
    for (const std::string& text : strings) {
        const auto length = static_cast<uint32_t>(text.size());
        bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
        bytes += text;
    }
    return bytes;
}

Answer<std::vector<std::string>> bytes_as_strings(std::string_view bytes) {
    std::vector<std::string> strings;
    while (!bytes.empty()) {
        uint32_t length = 0;
        if (bytes.size() < sizeof length) {
            return fails(Code::Invalid, "the length of the last string is cut off");
        }
        std::memcpy(&length, bytes.data(), sizeof length);
        bytes.remove_prefix(sizeof length);
        if (length > bytes.size()) {
            return fails(
                Code::Invalid,
                fmt::format(
                    "a string of {} bytes has only {} bytes of data", length, bytes.size()));
        }
        strings.emplace_back(bytes.substr(0, length));
        bytes.remove_prefix(length);
    }
    return strings;
}

}  // namespace lemma::serve
