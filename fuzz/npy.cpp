// SPDX-License-Identifier: Apache-2.0
// Bytes as an .npy file: a readable file must read back after it is written.
#include "tensor/files/npy_file.h"

#include "base/check.h"
#include "seeds.h"

using namespace lemma;
using namespace lemma::tensor;

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    std::string file = encode_npy(random_tensor(random, Strings::Yes)).value();
    const size_t order = file.find("False");
    if (random() % 4 == 0) file.replace(order, 5, "True ");
    const size_t endian = file.find('<');
    if (endian != std::string::npos && random() % 4 == 0) file[endian] = '>';
    return file;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto tensor = decode_npy({reinterpret_cast<const char*>(data), size});
    if (!tensor) return 0;
    const auto file = encode_npy(*tensor);
    // `S5` holds any bytes, but strings are written as Unicode.
    if (!file && tensor->dtype() == DType::Str) return 0;
    LEMMA_CHECK(file);
    const auto again = decode_npy(*file);
    LEMMA_CHECK(again);
    LEMMA_CHECK(fuzz::same(*again, *tensor));
    return 0;
}
