// SPDX-License-Identifier: Apache-2.0
#include "seeds.h"

#include <algorithm>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace lemma::fuzz {

tensor::Tensor random_tensor(std::mt19937& random, Strings strings) {
    const int last = static_cast<int>(tensor::DType::Str) + (strings == Strings::Yes ? 1 : 0);
    const auto dtype = static_cast<tensor::DType>(random() % static_cast<uint32_t>(last));
    tensor::Shape shape(random() % 5);
    for (int64_t& extent : shape) extent = static_cast<int64_t>(random() % 4);
    tensor::Tensor tensor = tensor::Tensor::zeros(dtype, shape).value();
    const uint32_t limit = dtype == tensor::DType::Bool ? 2 : 256;
    for (std::byte& byte : tensor.bytes()) byte = static_cast<std::byte>(random() % limit);
    for (std::string& text : tensor.strings()) text.assign(random() % 5, 'a');
    return tensor;
}

bool same(const tensor::Tensor& a, const tensor::Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           std::ranges::equal(a.bytes(), b.bytes()) && a.strings() == b.strings();
}

}  // namespace lemma::fuzz

// Makes a new file in one of sixteen cases; otherwise libFuzzer mutates.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data,
                                          size_t size,
                                          size_t max_size,
                                          unsigned int seed) {
    std::mt19937 random(seed);
    if (size > 8 && random() % 16 != 0) return LLVMFuzzerMutate(data, size, max_size);
    const std::string file = lemma::fuzz::make_seed(random);
    const size_t length = std::min(file.size(), max_size);
    std::memcpy(data, file.data(), length);
    return length;
}
