// SPDX-License-Identifier: Apache-2.0
// Bytes as a .safetensors file: a readable file must read back after it is written.
#include <algorithm>

#include "base/check.h"
#include "seeds.h"
#include "tensor/files/safetensors_file.h"

using namespace lemma;
using namespace lemma::tensor;

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    SafetensorsFile file;
    const size_t count = random() % 4;
    for (size_t i = 0; i < count; ++i) {
        file.tensors.push_back(
            {.name = std::string(i + 1, 'w'), .tensor = random_tensor(random, Strings::No)});
    }
    if (random() % 2) file.metadata["format"] = "pt";
    return encode_safetensors(file).value();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto file = decode_safetensors({reinterpret_cast<const char*>(data), size});
    if (!file) return 0;
    const auto bytes = encode_safetensors(*file);
    LEMMA_CHECK(bytes);
    auto again = decode_safetensors(*bytes);
    LEMMA_CHECK(again);
    LEMMA_CHECK(again->metadata == file->metadata);
    LEMMA_CHECK(again->tensors.size() == file->tensors.size());
    // Empty tensors may change their order.
    std::ranges::sort(file->tensors, {}, &NamedTensor::name);
    std::ranges::sort(again->tensors, {}, &NamedTensor::name);
    for (size_t i = 0; i < file->tensors.size(); ++i) {
        LEMMA_CHECK(again->tensors[i].name == file->tensors[i].name);
        LEMMA_CHECK(fuzz::same(again->tensors[i].tensor, file->tensors[i].tensor));
    }
    return 0;
}
