// SPDX-License-Identifier: Apache-2.0
// Bytes as a .dat file: a readable file must read back after it is written in the same layout.
#include "base/check.h"
#include "seeds.h"
#include "tensor/files/nnef_data.h"

namespace {

using namespace lemma;
using namespace lemma::tensor;

void check_round_trip(const NnefHeader& header, const Tensor& tensor) {
    const auto data = encode_nnef_data(header, tensor);
    LEMMA_CHECK(data);
    const auto again = decode_nnef_data(header, *data);
    LEMMA_CHECK(again);
    // Several codes of a stored range may have the same real value; otherwise all bits are equal.
    LEMMA_CHECK(header.range || fuzz::same(*again, tensor));
    const auto file = encode_nnef(tensor);
    LEMMA_CHECK(file);
    LEMMA_CHECK(fuzz::same(decode_nnef(*file).value(), tensor));
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    NnefHeader header = nnef_header_for(random_tensor(random, Strings::No));
    if (header.type != ItemType::Float && header.type != ItemType::Bool && random() % 2) {
        header.type = static_cast<ItemType>(1 + random() % 4);
        header.bits = static_cast<uint32_t>(1 + random() % 64);
        if (header.type == ItemType::QuantUint && random() % 2) header.range = {false, -1, 2};
        if (header.type == ItemType::QuantInt && random() % 2) header.range = {true, -2, 2};
    }
    std::string file = encode_nnef_header(header).value();
    const int64_t bytes = (header.volume * header.bits + 7) / 8;
    for (int64_t i = 0; i < bytes; ++i) file += static_cast<char>(random());
    return file;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view file(reinterpret_cast<const char*>(data), size);
    const auto header = decode_nnef_header(file, static_cast<int64_t>(size));
    const auto tensor = decode_nnef(file);
    LEMMA_CHECK(header.has_value() == tensor.has_value());
    if (tensor) check_round_trip(*header, *tensor);
    return 0;
}
