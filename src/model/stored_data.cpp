// SPDX-License-Identifier: Apache-2.0
#include "model/stored_data.h"

#include <fmt/format.h>

#include <limits>

#include "base/open_file.h"
#include "model/stored_codes.h"
#include "tensor/convert.h"
#include "tensor/files/nnef_data.h"

namespace lemma::model {

namespace {

bool is_quantised(const tensor::NnefHeader& header) {
    const bool codes =
        header.type == tensor::ItemType::QuantInt || header.type == tensor::ItemType::QuantUint;
    return codes && !header.range;
}

// Integers of the language are signed and have 64 bits.
Result<void> check_integers(const tensor::Tensor& stored) {
    if (stored.dtype() != tensor::DType::U64) return {};
    for (int64_t i = 0; i < stored.size(); ++i) {
        if (stored.integer(i) >= 0) continue;
        return std::unexpected(Error{fmt::format("item {} is {}, and integers go up to {}",
                                                 i,
                                                 static_cast<uint64_t>(stored.integer(i)),
                                                 std::numeric_limits<int64_t>::max())});
    }
    return {};
}

Result<tensor::Tensor> decode_data(const std::string& bytes, const ir::Tensor& variable) {
    LEMMA_TRY(const tensor::NnefHeader header,
              tensor::decode_nnef_header(bytes, static_cast<int64_t>(bytes.size())));
    LEMMA_TRY(tensor::Tensor stored, tensor::decode_nnef(bytes));
    if (is_quantised(header)) {
        LEMMA_TRY(stored, decode_codes(variable, stored));
    } else {
        LEMMA_TRY(check_integers(stored));
    }
    return tensor::convert(stored, variable.dtype);
}

}  // namespace

Result<std::optional<tensor::Tensor>> read_stored(const tensor::ModelSource& source,
                                                  const std::string& file,
                                                  const ir::Tensor& variable,
                                                  const tensor::SourceLimits& limits) {
    LEMMA_TRY(const std::string bytes, source.read_all(file, limits.max_file_bytes));
    auto tensor = decode_data(bytes, variable);
    if (tensor) return std::move(*tensor);
    return cannot_read(source.path_of(file), tensor.error().message);
}

}  // namespace lemma::model
