// SPDX-License-Identifier: Apache-2.0
// Bytes as an .npz file: reading gives arrays with unique names, or an error.
#include "tensor/archive/npz_file.h"

#include <set>

#include "base/check.h"
#include "seeds.h"
#include "tensor/files/file_io.h"

using namespace lemma;
using namespace lemma::tensor;

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    std::vector<NamedTensor> arrays;
    for (const char* const name : {"x", "a/b", "arr_0"}) {
        if (random() % 3 > 0) arrays.push_back({name, random_tensor(random, Strings::Yes)});
    }
    const std::string path = "/tmp/lemma-fuzz-" + std::to_string(random()) + ".npz";
    LEMMA_CHECK(write_npz(path, arrays));
    std::string bytes = read_file(path).value();
    std::remove(path.c_str());
    return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    SourceLimits limits;
    limits.max_archive_bytes = 1 << 20;
    const auto arrays = decode_npz({reinterpret_cast<const char*>(data), size}, "fuzz.npz", limits);
    if (!arrays) return 0;
    std::set<std::string> names;
    for (const NamedTensor& array : *arrays) LEMMA_CHECK(names.insert(array.name).second);
    return 0;
}
