// SPDX-License-Identifier: Apache-2.0
// Bytes as an entry of the object cache: the header, then the object for the linker. The linked
// code is not run.
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "codegen/code_memory.h"
#include "codegen/object_cache.h"
#include "seeds.h"

using namespace lemma;
using namespace lemma::codegen;

namespace {

// Objects of a compiler, from cache_seed.c: one with near calls, one with calls of any distance.
const std::string& object_of_compiler(size_t index) {
    static const auto read = [](const char* path) {
        std::ifstream file(path, std::ios::binary);
        std::string bytes(std::istreambuf_iterator<char>(file), {});
        LEMMA_CHECK(!bytes.empty());
        return bytes;
    };
    static const std::string objects[] = {read(LEMMA_SEED_NEAR), read(LEMMA_SEED_LARGE)};
    return objects[index];
}

const ObjectKey& key() {
    static const ObjectKey one = object_key("kernel", "compiler");
    return one;
}

void link(std::string_view object) {
    CodeMemory memory;
    const std::string_view objects[] = {object};
    if (memory.add(objects)) memory.find("kernel");
}

}  // namespace

// The object alone, or the entry.
std::string lemma::fuzz::make_seed(std::mt19937& random) {
    const std::string& object = object_of_compiler(random() % 2);
    return random() % 4 == 0 ? encode_entry(key(), object) : object;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);  // a copy: its end is seen
    if (const auto object = decode_entry(key(), bytes)) {
        LEMMA_CHECK(encode_entry(key(), *object) == bytes);
        link(*object);
    }
    link(bytes);
    return 0;
}
