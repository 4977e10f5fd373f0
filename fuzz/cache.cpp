// SPDX-License-Identifier: Apache-2.0
// Bytes as an entry of the object cache: the header, then the object for the linker. The linked
// code is not run. And bytes as a stored program: the number of its bytes, the program, its places.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "codegen/code_memory.h"
#include "codegen/object_cache.h"
#include "ir/program/stored_program.h"
#include "ir/text/read.h"
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

constexpr const char* kProgram = R"(program p
symbol n: int in [0, 16]
input %x: f32[n, 4]
variable %w: f32[4] quantize linear {min = -1.0, max = 1.0, bits = 8}
graph g (x = %x) {
    y %y: f32[n, 4] = nn.f "y" <T = f32> {a = ~, b = [1, 2], s = "t", g = n*n + 1} (x = [%x, %x]) {
        %y[i, j] += %x[i, |2*j - 1|]*%w[j]  for i < n, j < 4  if i != j
    }
    yield y = %y
}
)";

std::string stored_program() {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto program = ir::read_program(sources, sources.add("p", kProgram), diag);
    LEMMA_CHECK(program);
    const std::string bytes = ir::encode_program(*program);
    const auto size = static_cast<uint32_t>(bytes.size());
    std::string seed(sizeof size, '\0');
    std::memcpy(seed.data(), &size, sizeof size);
    return seed + bytes + ir::encode_places(*program);
}

void read_program(std::string_view bytes) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size) return;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    const std::string_view places = bytes.substr(std::min<size_t>(size, bytes.size()));
    const auto program = ir::decode_program(bytes.substr(0, size), places);
    if (!program) return;
    const std::string again = ir::encode_program(*program);
    LEMMA_CHECK(ir::decode_program(again, ir::encode_places(*program)));
}

}  // namespace

// The object alone, the entry, or a program.
std::string lemma::fuzz::make_seed(std::mt19937& random) {
    if (random() % 3 == 0) return stored_program();
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
    read_program(bytes);
    return 0;
}
