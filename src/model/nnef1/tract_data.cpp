// SPDX-License-Identifier: Apache-2.0
#include "model/nnef1/tract_data.h"

#include <fmt/format.h>

#include <cmath>

#include "base/checked.h"
#include "tensor/convert.h"
#include "tensor/files/nnef_data.h"

namespace lemma::model {

namespace {

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

ir::DType kind_of(tensor::DType dtype) {
    if (tensor::is_real(dtype)) return ir::DType::F32;
    return tensor::is_integer(dtype) ? ir::DType::I64 : dtype;
}

// ---- Blocks of tract ----------------------------------------------------------------------------

constexpr size_t kItemTypeAt = 48, kVendorAt = 50;
constexpr uint16_t kTractVendor = 0x5452;
constexpr uint16_t kBlocks = 0x3040;     // the first 16 items in the low halves of the bytes
constexpr uint16_t kOldBlocks = 0x2040;  // even items in the low halves
constexpr int64_t kBlockItems = 32, kBlockBytes = 18;

uint16_t half_word(std::string_view bytes, size_t at) {
    return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) |
                                 static_cast<uint8_t>(bytes[at + 1]) << 8);
}

// The vendor-specific item type of tract, if the header has one.
std::optional<uint16_t> vendor_type(std::string_view header) {
    if (static_cast<int64_t>(header.size()) < tensor::kNnefHeaderBytes) return std::nullopt;
    if (half_word(header, kVendorAt) != kTractVendor) return std::nullopt;
    return half_word(header, kItemTypeAt);
}

// The value of 16 bits of IEEE 754.
double from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double size = 0;
    if (exponent == 31) {
        size = fraction == 0 ? INFINITY : NAN;
    } else {
        size =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    }
    return bits >> 15 ? -size : size;
}

bool is_blocks(uint16_t type) { return type == kBlocks || type == kOldBlocks; }

// A block is a scale in 16 bits, and 32 items of 4 bits: (item - 8) * scale.
Result<tensor::Tensor> decode_blocks(std::string_view data,
                                     uint16_t type,
                                     const tensor::Shape& shape) {
    const auto volume = tensor::volume(shape);
    if (!volume || *volume % kBlockItems != 0) {
        return bad(fmt::format("it has blocks of {} items, which do not fill the shape {}",
                               kBlockItems,
                               tensor::shape_text(shape)));
    }
    const auto wanted = checked_mul(*volume / kBlockItems, kBlockBytes);
    if (!wanted || static_cast<int64_t>(data.size()) != *wanted) {
        return bad(fmt::format("it has {} bytes of blocks, but the shape {} needs {}",
                               data.size(),
                               tensor::shape_text(shape),
                               wanted.value_or(0)));
    }
    LEMMA_TRY(tensor::Tensor result, tensor::Tensor::zeros(tensor::DType::F32, shape));
    for (int64_t block = 0; block < *volume / kBlockItems; ++block) {
        const auto at = static_cast<size_t>(block * kBlockBytes);
        const double scale = from_half(half_word(data, at));
        for (int64_t i = 0; i < kBlockItems; ++i) {
            const bool old = type == kOldBlocks;
            const auto byte = static_cast<size_t>(old ? i / 2 : i % 16);
            const bool high = old ? i % 2 == 1 : i >= 16;
            const auto both = static_cast<uint8_t>(data[at + 2 + byte]);
            const int item = high ? both >> 4 : both & 15;
            result.set_real(block * kBlockItems + i, (item - 8) * scale);
        }
    }
    return result;
}

}  // namespace

TractHeader read_tract_header(const tensor::ModelSource& source, const std::string& file) {
    const auto size = source.size(file);
    if (!size) return {.misfit = size.error().message, .shape = std::nullopt};
    const auto begin = source.read(file, tensor::kNnefHeaderBytes);
    if (!begin) return {.misfit = begin.error().message, .shape = std::nullopt};
    if (const auto type = vendor_type(*begin)) {
        if (is_blocks(*type)) return {.misfit = "", .kind = ir::DType::F32, .shape = std::nullopt};
        return {.misfit = fmt::format("its item type {:#x} of tract is not supported", *type),
                .shape = std::nullopt};
    }
    auto header = tensor::decode_nnef_header(*begin, *size);
    if (!header) return {.misfit = header.error().message, .shape = std::nullopt};
    // Integers have the codes of quantised items, whether they are quantised or not.
    return {.misfit = "",
            .kind = kind_of(tensor::dtype_of_items(*header)),
            .shape = std::move(header->shape)};
}

Result<tensor::Tensor> read_tract_data(const tensor::ModelSource& source,
                                       const std::string& file,
                                       const tensor::Shape& shape,
                                       const tensor::SourceLimits& limits) {
    LEMMA_TRY(const std::string bytes, source.read_all(file, limits.max_file_bytes));
    const auto type = vendor_type(bytes);
    if (!type) return tensor::decode_nnef(bytes);
    if (!is_blocks(*type)) return bad(fmt::format("item type {:#x} of tract", *type));
    return decode_blocks(
        std::string_view(bytes).substr(static_cast<size_t>(tensor::kNnefHeaderBytes)),
        *type,
        shape);
}

// ---- Files of many tensors ----------------------------------------------------------------------

// An unreadable file has no tensors; then a label has no data, which is reported.
SafetensorsFiles::SafetensorsFiles(const tensor::ModelSource& source) {
    const auto names = source.list();
    if (!names) return;
    for (const std::string& name : *names) {
        if (!name.ends_with(".safetensors")) continue;
        const auto size = source.size(name);
        const auto first = source.read(name, 8);
        if (!size || !first) continue;
        const auto end = tensor::safetensors_header_end(*first, *size);
        if (!end) continue;
        const auto bytes = source.read(name, *end);
        const auto header = bytes ? tensor::decode_safetensors_header(*bytes, *size)
                                  : Result<tensor::SafetensorsHeader>{};
        if (!bytes || !header) continue;
        for (const tensor::SafetensorsEntry& entry : header->entries) {
            places_.emplace(entry.name, FilePart{name, entry.dtype, entry.shape});
        }
    }
}

TractHeader SafetensorsFiles::header(const std::string& label) const {
    const FilePart& place = places_.at(label);
    return {.misfit = "", .kind = kind_of(place.dtype), .shape = place.shape};
}

Result<tensor::Tensor> SafetensorsFiles::read(const tensor::ModelSource& source,
                                              const std::string& label,
                                              const tensor::SourceLimits& limits) const {
    const std::string name = file(label);
    if (!open_ || open_name_ != name) {
        LEMMA_TRY(const std::string bytes, source.read_all(name, limits.max_file_bytes));
        LEMMA_TRY(tensor::SafetensorsFile file, tensor::decode_safetensors(bytes));
        open_ = std::make_shared<const tensor::SafetensorsFile>(std::move(file));
        open_name_ = name;
    }
    for (const tensor::NamedTensor& one : open_->tensors) {
        if (one.name == label) return one.tensor;
    }
    return bad(fmt::format("`{}` has no tensor '{}'", name, label));
}

}  // namespace lemma::model
