// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/safetensors_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "diag/utf8.h"
#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

using nlohmann::json;

constexpr int64_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kShownBytes = 80;

struct TypeRow {
    std::string_view name;
    DType dtype;
};
constexpr std::array<TypeRow, 13> kTypes = {{{"F64", DType::F64},
                                             {"F32", DType::F32},
                                             {"F16", DType::F16},
                                             {"BF16", DType::BF16},
                                             {"I64", DType::I64},
                                             {"I32", DType::I32},
                                             {"I16", DType::I16},
                                             {"I8", DType::I8},
                                             {"U64", DType::U64},
                                             {"U32", DType::U32},
                                             {"U16", DType::U16},
                                             {"U8", DType::U8},
                                             {"BOOL", DType::Bool}}};

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

std::string shown(std::string_view text) {
    return diag::shortened(diag::printable(text.substr(0, 2 * kShownBytes)), kShownBytes);
}

// ---- JSON ---------------------------------------------------------------------------------------

// Objects in objects, with lists inside; a header is never deeper.
constexpr size_t kMaxJsonDepth = 3;

// A parsed document loses duplicate keys, so a walk over the text finds them first.
class Watch final : public nlohmann::json_sax<json> {
public:
    const std::string& fault() const { return fault_; }

    bool start_object(size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (!keys_.back().insert(name).second) fault_ = fmt::format("has `{}` twice", shown(name));
        return fault_.empty();
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool parse_error(size_t, const std::string&, const json::exception&) override { return false; }

private:
    bool open() {
        keys_.emplace_back();
        if (keys_.size() > kMaxJsonDepth) fault_ = "is nested too deeply";
        return fault_.empty();
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    std::vector<std::unordered_set<std::string>> keys_;  // keys of the open objects and lists
    std::string fault_;
};

Result<json> parse_json(std::string_view text) {
    Watch watch;
    json::sax_parse(text, &watch);
    if (!watch.fault().empty()) return bad(fmt::format("its header {}", watch.fault()));
    json result = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!result.is_object()) return bad("its header is not a JSON object");
    return result;
}

// A non-negative integer.
std::optional<int64_t> count_of(const json& value) {
    const auto* const number = value.get_ptr<const json::number_unsigned_t*>();
    if (!number || !std::in_range<int64_t>(*number)) return std::nullopt;
    return static_cast<int64_t>(*number);
}

std::optional<std::vector<int64_t>> counts_of(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) return std::nullopt;
    std::vector<int64_t> counts;
    for (const json& item : *found) {
        const auto count = count_of(item);
        if (!count) return std::nullopt;
        counts.push_back(*count);
    }
    return counts;
}

std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    const auto* const text = found == object.end() ? nullptr : found->get_ptr<const std::string*>();
    return text ? *text : "";
}

// ---- Entries ------------------------------------------------------------------------------------

std::unexpected<Error> bad_entry(std::string_view name, std::string_view what) {
    return bad(fmt::format("its tensor `{}` {}", shown(name), what));
}

Result<SafetensorsEntry> read_entry(const std::string& name,
                                    const json& value,
                                    int64_t data_begin) {
    if (!value.is_object()) return bad_entry(name, "is not described by a JSON object");
    const std::string type = text_of(value, "dtype");
    const auto* const row =
        std::ranges::find_if(kTypes, [&](const TypeRow& each) { return each.name == type; });
    if (row == kTypes.end()) {
        return bad_entry(name,
                         fmt::format("has the dtype `{}`, which is not supported", shown(type)));
    }
    const auto shape = counts_of(value, "shape");
    if (!shape || shape->size() > kMaxRank) return bad_entry(name, "has no proper `shape`");
    const auto offsets = counts_of(value, "data_offsets");
    if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
        return bad_entry(name, "has no proper `data_offsets`");
    }
    SafetensorsEntry entry{.name = name, .dtype = row->dtype, .shape = *shape};
    entry.bytes = (*offsets)[1] - (*offsets)[0];
    const auto begin = checked_add(data_begin, (*offsets)[0]);
    if (!begin) return bad_entry(name, "lies outside of the file");
    entry.begin = *begin;
    const auto count = volume(entry.shape);
    const auto wanted = count ? checked_mul(*count, dtype_size(entry.dtype)) : std::nullopt;
    if (wanted && *wanted == entry.bytes) return entry;
    return bad_entry(name,
                     fmt::format("has {} bytes, but {} of shape {} {}",
                                 entry.bytes,
                                 dtype_name(entry.dtype),
                                 shape_text(entry.shape),
                                 wanted ? fmt::format("needs {}", *wanted) : "is too large"));
}

Result<std::map<std::string, std::string>> read_metadata(const json& value) {
    std::map<std::string, std::string> metadata;
    if (!value.is_object()) return bad("its metadata is not a JSON object");
    for (const auto& [key, item] : value.items()) {
        const auto* const text = item.get_ptr<const std::string*>();
        if (!text) return bad(fmt::format("its metadata `{}` is not a text", shown(key)));
        metadata[key] = *text;
    }
    return metadata;
}

// The entries must be contiguous and fill the file.
Result<void> check_places(const std::vector<SafetensorsEntry>& entries,
                          int64_t data_begin,
                          int64_t file_bytes) {
    int64_t end = data_begin;
    for (const SafetensorsEntry& entry : entries) {
        if (entry.begin < end) return bad_entry(entry.name, "overlaps the one before it");
        if (entry.begin > end) {
            return bad_entry(entry.name,
                             fmt::format("leaves {} bytes before it unused", entry.begin - end));
        }
        if (entry.bytes > file_bytes - entry.begin) {
            return bad_entry(entry.name, "lies outside of the file");
        }
        end = entry.begin + entry.bytes;
    }
    if (end == file_bytes) return {};
    return bad(fmt::format("it has {} bytes, but header and tensors need {}", file_bytes, end));
}

// ---- Elements -----------------------------------------------------------------------------------

void make_bools(Tensor& tensor) {
    if (tensor.dtype() != DType::Bool) return;
    for (std::byte& byte : tensor.bytes()) byte = byte == std::byte{0} ? byte : std::byte{1};
}

// `fill` reads the elements of an entry into a tensor.
template <class Fill>
Result<SafetensorsFile> read_tensors(SafetensorsHeader header, Fill fill) {
    SafetensorsFile file;
    file.metadata = std::move(header.metadata);
    for (SafetensorsEntry& entry : header.entries) {
        LEMMA_TRY(Tensor tensor, Tensor::zeros(entry.dtype, entry.shape));
        LEMMA_TRY(fill(entry, tensor));
        make_bools(tensor);
        file.tensors.push_back({.name = std::move(entry.name), .tensor = std::move(tensor)});
    }
    return file;
}

// ---- Writing ------------------------------------------------------------------------------------

std::string_view type_name(DType dtype) {
    const auto* const row =
        std::ranges::find_if(kTypes, [&](const TypeRow& each) { return each.dtype == dtype; });
    return row == kTypes.end() ? "" : row->name;
}

// The format pads the header with spaces to a multiple of 8.
Result<std::string> header_text(const json& header) {
    // The dump replaces invalid UTF-8 in names; such names are refused.
    std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
    if (json::parse(text, nullptr, /*allow_exceptions=*/false) != header) {
        return bad("a name is not UTF-8 text");
    }
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

Result<std::string> encode_header(const SafetensorsFile& file) {
    json header = json::object();
    if (!file.metadata.empty()) header[std::string(kMetadata)] = file.metadata;
    int64_t end = 0;
    for (const NamedTensor& named : file.tensors) {
        const std::string_view type = type_name(named.tensor.dtype());
        if (type.empty()) return bad_entry(named.name, "has strings, which the format has not");
        if (named.name == kMetadata || header.contains(named.name)) {
            return bad_entry(named.name, "has a name that is taken");
        }
        const int64_t begin = end;
        end += static_cast<int64_t>(named.tensor.bytes().size());
        header[named.name] = {
            {"dtype", type}, {"shape", named.tensor.shape()}, {"data_offsets", {begin, end}}};
    }
    LEMMA_TRY(const std::string text, header_text(header));
    std::string bytes;
    for (int i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 255);
    return bytes + text;
}

// Fills a tensor from the bytes of a file.
auto copy_from(std::string_view bytes) {
    return [bytes](const SafetensorsEntry& entry, Tensor& tensor) -> Result<void> {
        const std::string_view data = bytes.substr(static_cast<size_t>(entry.begin));
        if (entry.bytes > 0) {
            std::memcpy(tensor.bytes().data(), data.data(), static_cast<size_t>(entry.bytes));
        }
        return {};
    };
}

}  // namespace

Result<int64_t> safetensors_header_end(std::string_view first_bytes, int64_t file_bytes) {
    if (static_cast<int64_t>(first_bytes.size()) < kLengthBytes) {
        return bad(fmt::format("it has {} bytes, too few for a header", file_bytes));
    }
    uint64_t length = 0;
    for (size_t i = kLengthBytes; i-- > 0;) {
        length = length << 8 | static_cast<uint8_t>(first_bytes[i]);
    }
    if (length > kMaxSafetensorsHeader) {
        return bad(fmt::format("its header is said to have {} bytes, more than the {} allowed",
                               length,
                               kMaxSafetensorsHeader));
    }
    const int64_t end = kLengthBytes + static_cast<int64_t>(length);
    if (end <= file_bytes) return end;
    return bad(fmt::format("it has {} bytes, but its header needs {}", file_bytes, end));
}

Result<SafetensorsHeader> decode_safetensors_header(std::string_view header, int64_t file_bytes) {
    LEMMA_TRY(const int64_t end, safetensors_header_end(header, file_bytes));
    const auto length = static_cast<size_t>(end - kLengthBytes);
    LEMMA_TRY(const json object, parse_json(header.substr(kLengthBytes, length)));
    SafetensorsHeader result;
    for (const auto& [name, value] : object.items()) {
        if (name == kMetadata) {
            LEMMA_TRY(result.metadata, read_metadata(value));
            continue;
        }
        LEMMA_TRY(SafetensorsEntry entry, read_entry(name, value, end));
        result.entries.push_back(std::move(entry));
    }
    // Empty tensors come before the one at the same offset.
    std::ranges::sort(result.entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return std::tie(a.begin, a.bytes, a.name) < std::tie(b.begin, b.bytes, b.name);
    });
    LEMMA_TRY(check_places(result.entries, end, file_bytes));
    return result;
}

Result<SafetensorsFile> decode_safetensors(std::string_view bytes) {
    LEMMA_TRY(SafetensorsHeader header,
              decode_safetensors_header(bytes, static_cast<int64_t>(bytes.size())));
    return read_tensors(std::move(header), copy_from(bytes));
}

Result<Tensor> decode_safetensors_entry(std::string_view bytes, const SafetensorsEntry& entry) {
    SafetensorsHeader header;
    header.entries.push_back(entry);
    LEMMA_TRY(SafetensorsFile file, read_tensors(std::move(header), copy_from(bytes)));
    return std::move(file.tensors[0].tensor);
}

Result<std::string> encode_safetensors(const SafetensorsFile& file) {
    LEMMA_TRY(std::string bytes, encode_header(file));
    for (const NamedTensor& named : file.tensors) {
        const std::span<const std::byte> data = named.tensor.bytes();
        bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
    }
    return bytes;
}

Result<SafetensorsFile> read_safetensors(const std::string& path) {
    LEMMA_TRY(const InputFile input, InputFile::open(path));
    LEMMA_TRY(const std::string begin, input.read(0, kLengthBytes));
    const auto end = safetensors_header_end(begin, input.size());
    if (!end) return cannot_read(path, end.error().message);
    LEMMA_TRY(const std::string text, input.read(0, *end));
    auto header = decode_safetensors_header(text, input.size());
    if (!header) return cannot_read(path, header.error().message);
    const auto fill = [&](const SafetensorsEntry& entry, Tensor& tensor) {
        return input.read_into(entry.begin, tensor.bytes());
    };
    return read_tensors(std::move(*header), fill);
}

Result<void> write_safetensors(const std::string& path, const SafetensorsFile& file) {
    const auto bytes = encode_safetensors(file);
    if (!bytes) return cannot_write(path, bytes.error().message);
    return write_file(path, *bytes);
}

}  // namespace lemma::tensor
