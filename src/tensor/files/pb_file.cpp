// SPDX-License-Identifier: Apache-2.0
#include "tensor/files/pb_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "diag/utf8.h"
#include "tensor/convert.h"
#include "tensor/files/file_io.h"

namespace lemma::tensor {

namespace {

// Field numbers of TensorProto and of the pairs in `external_data`.
enum Field : uint32_t {
    Dims = 1,
    DataType = 2,
    Segment = 3,
    FloatData = 4,
    Int32Data = 5,
    StringData = 6,
    Int64Data = 7,
    Name = 8,
    RawData = 9,
    DoubleData = 10,
    Uint64Data = 11,
    ExternalEntry = 13,
    DataLocation = 14,
};
enum EntryField : uint32_t { Key = 1, Value = 2 };
constexpr int64_t kExternalLocation = 1;  // DataLocation::EXTERNAL

struct TypeRow {
    std::string_view name;
    std::optional<DType> dtype;
    Field field = RawData;  // the field for elements that are not raw
};
// Indexed by ONNX's codes.
constexpr std::array<TypeRow, 27> kTypes = {{{"UNDEFINED", {}},
                                             {"FLOAT", DType::F32, FloatData},
                                             {"UINT8", DType::U8, Int32Data},
                                             {"INT8", DType::I8, Int32Data},
                                             {"UINT16", DType::U16, Int32Data},
                                             {"INT16", DType::I16, Int32Data},
                                             {"INT32", DType::I32, Int32Data},
                                             {"INT64", DType::I64, Int64Data},
                                             {"STRING", DType::Str, StringData},
                                             {"BOOL", DType::Bool, Int32Data},
                                             {"FLOAT16", DType::F16, Int32Data},
                                             {"DOUBLE", DType::F64, DoubleData},
                                             {"UINT32", DType::U32, Uint64Data},
                                             {"UINT64", DType::U64, Uint64Data},
                                             {"COMPLEX64", {}},
                                             {"COMPLEX128", {}},
                                             {"BFLOAT16", DType::BF16, Int32Data},
                                             {"FLOAT8E4M3FN", {}},
                                             {"FLOAT8E4M3FNUZ", {}},
                                             {"FLOAT8E5M2", {}},
                                             {"FLOAT8E5M2FNUZ", {}},
                                             {"UINT4", {}},
                                             {"INT4", {}},
                                             {"FLOAT4E2M1", {}},
                                             {"FLOAT8E8M0", {}},
                                             {"UINT2", {}},
                                             {"INT2", {}}}};

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

const TypeRow* type_row(int64_t data_type) {
    if (data_type < 0 || data_type >= static_cast<int64_t>(kTypes.size())) return nullptr;
    return &kTypes[static_cast<size_t>(data_type)];
}

// ---- The fields around the elements -------------------------------------------------------------

Result<int64_t> parse_count(std::string_view key, std::string_view text) {
    int64_t count = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (trouble == std::errc() && end == text.data() + text.size() && count >= 0) return count;
    return bad(fmt::format(
        "its external data has the {} `{}`, which is no number", key, diag::printable(text)));
}

// `external_data` counts only if `data_location` refers to it.
struct Reading {
    TensorProto proto;
    ExternalData external;
    bool is_external = false;
};

Result<void> read_external_entry(const WireField& field, ExternalData& external) {
    LEMMA_TRY(WireReader entry, WireReader::open(field));
    std::string_view key;
    std::string_view value;
    WireField part;
    while (true) {
        LEMMA_TRY(const bool more, entry.next(part));
        if (!more) break;
        if (part.number != Key && part.number != Value) continue;
        LEMMA_TRY((part.number == Key ? key : value), wire_bytes(part));
    }
    if (key == "location") {
        external.location = value;
    } else if (key == "offset") {
        LEMMA_TRY(external.offset, parse_count(key, value));
    } else if (key == "length") {
        LEMMA_TRY(external.length, parse_count(key, value));
    }
    return {};
}

Result<void> read_field(const WireField& field, Reading& reading) {
    switch (field.number) {
        case Dims:
            return append_ints(field, reading.proto.shape);
        case DataType: {
            LEMMA_TRY(reading.proto.data_type, wire_int(field));
            return {};
        }
        case Segment:
            return bad(
                "it is not one tensor: sequences, optional values and segments cannot be read");
        case Name: {
            LEMMA_TRY(reading.proto.name, wire_bytes(field));
            return {};
        }
        case ExternalEntry:
            return read_external_entry(field, reading.external);
        case DataLocation: {
            LEMMA_TRY(const int64_t location, wire_int(field));
            reading.is_external = location == kExternalLocation;
            return {};
        }
        default:
            return {};
    }
}

Result<void> check_shape(const Shape& shape) {
    if (shape.size() > kMaxRank) return bad(fmt::format("it has a rank of more than {}", kMaxRank));
    const auto negative = std::ranges::find_if(shape, [](int64_t extent) { return extent < 0; });
    if (negative != shape.end())
        return bad(fmt::format("it has the negative extent {}", *negative));
    if (!volume(shape)) return bad(fmt::format("its shape {} is too large", shape_text(shape)));
    return {};
}

// ---- Elements -----------------------------------------------------------------------------------

// The fields with elements; raw bytes are separate, as they are one piece.
struct Elements {
    std::optional<std::string_view> raw;
    std::vector<uint32_t> fields;  // the fields that are not empty
};

Result<Elements> find_elements(WireReader message) {
    Elements elements;
    WireField field;
    while (true) {
        LEMMA_TRY(const bool more, message.next(field));
        if (!more) return elements;
        switch (field.number) {
            case RawData: {
                LEMMA_TRY(elements.raw, wire_bytes(field));
                break;
            }
            case FloatData:
            case Int32Data:
            case StringData:
            case Int64Data:
            case DoubleData:
            case Uint64Data: {
                const bool empty = field.type == WireType::Bytes && field.bytes.empty() &&
                                   field.number != StringData;
                const bool known = std::ranges::count(elements.fields, field.number) > 0;
                if (!empty && !known) elements.fields.push_back(field.number);
                break;
            }
            default:
                break;
        }
    }
}

Result<void> check_raw(DType dtype, const Shape& shape, std::string_view raw) {
    const auto wanted = checked_mul(*volume(shape), dtype_size(dtype));
    if (!wanted || *wanted != static_cast<int64_t>(raw.size())) {
        return bad(fmt::format("it has {} bytes of data, but {} of shape {} {}",
                               raw.size(),
                               dtype_name(dtype),
                               shape_text(shape),
                               wanted ? fmt::format("needs {}", *wanted) : "is too large"));
    }
    return {};
}

// Raw bytes have the representation of memory, except that a true bool becomes 1.
Result<Tensor> from_raw(DType dtype, const Shape& shape, std::string_view raw) {
    LEMMA_TRY(check_raw(dtype, shape, raw));
    LEMMA_TRY(Tensor tensor, Tensor::zeros(dtype, shape));
    if (!raw.empty()) std::memcpy(tensor.bytes().data(), raw.data(), raw.size());
    if (dtype == DType::Bool) {
        for (std::byte& byte : tensor.bytes()) byte = byte == std::byte{0} ? byte : std::byte{1};
    }
    return tensor;
}

// Stores the numbers of data fields into a tensor one by one.
class Filler {
public:
    Filler(Tensor& tensor, uint32_t number) : tensor_(tensor), number_(number) {}

    Result<void> add(const WireField& field) {
        if (number_ == StringData) return add_string(field);
        LEMMA_TRY(WireValues values, WireValues::open(field, item_type()));
        uint64_t bits = 0;
        while (true) {
            LEMMA_TRY(const bool more, values.next(bits));
            if (!more) return {};
            if (count_ < tensor_.size() && !store(bits)) return misfit(bits);
            ++count_;
        }
    }
    int64_t count() const { return count_; }

private:
    WireType item_type() const {
        if (number_ == FloatData) return WireType::Fixed32;
        return number_ == DoubleData ? WireType::Fixed64 : WireType::Varint;
    }
    Result<void> add_string(const WireField& field) {
        LEMMA_TRY(const std::string_view text, wire_bytes(field));
        if (count_ < tensor_.size()) tensor_.strings()[static_cast<size_t>(count_)] = text;
        ++count_;
        return {};
    }
    // False if the number does not fit the dtype.
    bool store(uint64_t bits) {
        const auto size = static_cast<size_t>(dtype_size(tensor_.dtype()));
        std::byte* at = tensor_.bytes().data() + static_cast<size_t>(count_) * size;
        if (tensor_.dtype() == DType::Bool) bits = bits != 0;
        std::memcpy(at, &bits, size);  // the low bytes
        if (size == 8) return true;
        const uint64_t kept = bits & (~uint64_t{0} >> (64 - 8 * size));
        const bool is_int = is_signed(tensor_.dtype());
        return is_int ? static_cast<uint64_t>(tensor_.integer(count_)) == bits : kept == bits;
    }
    std::unexpected<Error> misfit(uint64_t bits) const {
        return bad(fmt::format("{} is {}, which {} cannot hold",
                               element_text(tensor_.shape(), count_),
                               static_cast<int64_t>(bits),
                               dtype_name(tensor_.dtype())));
    }

    Tensor& tensor_;
    uint32_t number_;
    int64_t count_ = 0;
};

Result<Tensor> from_fields(DType dtype, const TensorProto& proto, uint32_t number) {
    const int64_t wanted = *volume(proto.shape);
    // A number takes at least a byte, so a false claim costs no memory.
    if (wanted > static_cast<int64_t>(proto.message.bytes().size())) {
        return bad(fmt::format("it has too little data for its shape {}", shape_text(proto.shape)));
    }
    LEMMA_TRY(Tensor tensor, Tensor::zeros(dtype, proto.shape));
    Filler filler(tensor, number);
    WireReader message = proto.message;
    WireField field;
    while (true) {
        LEMMA_TRY(const bool more, message.next(field));
        if (!more) break;
        if (field.number != number) continue;
        LEMMA_TRY(filler.add(field));
    }
    if (filler.count() == wanted) return tensor;
    return bad(fmt::format("it has {} elements, but its shape {} needs {}",
                           filler.count(),
                           shape_text(proto.shape),
                           wanted));
}

Result<SharedBytes> external_bytes(DType dtype,
                                   const TensorProto& proto,
                                   const ReadExternal& read) {
    const ExternalData& external = *proto.external;
    if (!read) {
        return bad(fmt::format("its data is in another file, `{}`, which is not read here",
                               diag::printable(external.location)));
    }
    if (dtype == DType::Str) return bad("strings cannot be in another file");
    return read(external);
}

// The elements and their location.
struct Located {
    DType dtype = DType::F32;
    std::optional<std::string_view> raw;
    SharedBytes keeper;  // keeps raw bytes of another file alive
    Field field = RawData;
};

Result<Located> locate(const TensorProto& proto, const ReadExternal& read_external) {
    const auto dtype = dtype_of_onnx(proto.data_type);
    if (!dtype) {
        return bad(fmt::format("its elements have the type {}, which is not supported",
                               onnx_type_name(proto.data_type)));
    }
    Located located{.dtype = *dtype, .raw = {}, .keeper = {}};
    if (proto.external) {
        LEMMA_TRY(located.keeper, external_bytes(*dtype, proto, read_external));
        located.raw = *located.keeper;
        return located;
    }
    LEMMA_TRY(const Elements elements, find_elements(proto.message));
    const bool raw = elements.raw && (!elements.raw->empty() || elements.fields.empty());
    if (elements.fields.size() + (raw ? 1 : 0) > 1) return bad("it has its elements twice");
    if (raw && *dtype == DType::Str) return bad("it has raw data, which strings cannot be");
    if (raw) located.raw = elements.raw;
    located.field = type_row(proto.data_type)->field;
    if (!elements.fields.empty() && elements.fields[0] != located.field) {
        return bad(fmt::format("its elements are in field {}, but those of {} belong in field {}",
                               elements.fields[0],
                               onnx_type_name(proto.data_type),
                               static_cast<uint32_t>(located.field)));
    }
    return located;
}

}  // namespace

std::string onnx_type_name(int64_t data_type) {
    const TypeRow* row = type_row(data_type);
    return row ? std::string(row->name) : fmt::format("{}", data_type);
}

std::optional<DType> dtype_of_onnx(int64_t data_type) {
    const TypeRow* row = type_row(data_type);
    return row ? row->dtype : std::nullopt;
}

int64_t onnx_type_of(DType dtype) {
    const auto* const row =
        std::ranges::find_if(kTypes, [&](const TypeRow& each) { return each.dtype == dtype; });
    return row - kTypes.begin();
}

Result<TensorProto> read_tensor_proto(const WireReader& message) {
    Reading reading{.proto = {.message = message}};
    WireReader reader = message;
    WireField field;
    while (true) {
        LEMMA_TRY(const bool more, reader.next(field));
        if (!more) break;
        LEMMA_TRY(read_field(field, reading));
    }
    TensorProto& proto = reading.proto;
    if (reading.is_external) proto.external = std::move(reading.external);
    if (proto.data_type == 0) return bad("it does not say which type its elements have");
    LEMMA_TRY(check_shape(proto.shape));
    return std::move(proto);
}

std::string tensor_proto_name(WireReader message) {
    WireField field;
    while (true) {
        const auto more = message.next(field);
        if (!more || !*more) return "";
        if (field.number == Name && field.type == WireType::Bytes) return std::string(field.bytes);
    }
}

namespace {

struct KeptView {
    SharedBytes keeper;
    std::string_view view;
};

}  // namespace

Result<Tensor> decode_elements(const TensorProto& proto,
                               const ReadExternal& read_external,
                               const SharedBytes& keeper) {
    LEMMA_TRY(const Located located, locate(proto, read_external));
    const bool as_it_is = located.raw && located.dtype != DType::Bool && keeper &&
                          std::endian::native == std::endian::little;
    if (located.raw) {
        LEMMA_TRY(hold_bytes(*located.raw));
    }
    if (as_it_is) {
        LEMMA_TRY(check_raw(located.dtype, proto.shape, *located.raw));
        const auto kept = std::make_shared<const KeptView>(
            KeptView{located.keeper ? located.keeper : keeper, *located.raw});
        return Tensor::shared(located.dtype, proto.shape, SharedBytes(kept, &kept->view));
    }
    if (located.raw) return from_raw(located.dtype, proto.shape, *located.raw);
    return from_fields(located.dtype, proto, located.field);
}

Result<void> check_elements(const TensorProto& proto, const ReadExternal& read_external) {
    LEMMA_TRY(const Located located, locate(proto, read_external));
    if (located.raw) return check_raw(located.dtype, proto.shape, *located.raw);
    LEMMA_TRY(from_fields(located.dtype, proto, located.field));
    return {};
}

Result<NamedTensor> decode_pb(std::string_view bytes, const ReadExternal& read_external) {
    LEMMA_TRY(TensorProto proto, read_tensor_proto(WireReader(bytes)));
    LEMMA_TRY(Tensor tensor, decode_elements(proto, read_external));
    return NamedTensor{.name = std::move(proto.name), .tensor = std::move(tensor)};
}

std::string encode_pb(const NamedTensor& named) {
    const Tensor& tensor = named.tensor;
    WireWriter message;
    for (const int64_t extent : tensor.shape()) message.put_int(Dims, extent);
    message.put_int(DataType, onnx_type_of(tensor.dtype()));
    for (const std::string& text : tensor.strings()) message.put_bytes(StringData, text);
    if (!named.name.empty()) message.put_bytes(Name, named.name);
    if (tensor.dtype() != DType::Str) {
        const std::span<const std::byte> bytes = tensor.bytes();
        message.put_bytes(RawData, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return message.take();
}

Result<NamedTensor> read_pb(const std::string& path, const ReadExternal& read_external) {
    LEMMA_TRY(const std::string bytes, read_file(path));
    auto named = decode_pb(bytes, read_external);
    if (!named) return cannot_read(path, named.error().message);
    return named;
}

Result<void> write_pb(const std::string& path, const NamedTensor& named) {
    return write_file(path, encode_pb(named));
}

}  // namespace lemma::tensor
