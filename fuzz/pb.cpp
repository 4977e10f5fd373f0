// SPDX-License-Identifier: Apache-2.0
// Bytes as a TensorProto: a readable message must read back after it is written.
#include "base/check.h"
#include "seeds.h"
#include "tensor/files/pb_file.h"

namespace {

using namespace lemma;
using namespace lemma::tensor;

// With elements as numbers, which encode_pb never writes.
std::string with_numbers(std::mt19937& random) {
    WireWriter message;
    std::vector<int64_t> values(random() % 6);
    for (int64_t& value : values) value = static_cast<int64_t>(random() % 300) - 100;
    message.put_int(1, static_cast<int64_t>(values.size()));
    message.put_int(2, static_cast<int64_t>(random() % 17));
    const auto number = static_cast<uint32_t>(4 + random() % 8);
    if (random() % 2) message.put_ints(number, values);
    for (const int64_t value : values) {
        if (number == 4) message.put_float(number, static_cast<float>(value));
        if (number == 10) message.put_double(number, static_cast<double>(value));
    }
    if (random() % 4 == 0) {
        WireWriter entry;
        entry.put_bytes(1, "location");
        entry.put_bytes(2, "weights.bin");
        message.put_bytes(13, entry.bytes());
        message.put_int(14, 1);
    }
    return message.take();
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    if (random() % 2) return with_numbers(random);
    return encode_pb({.name = "x", .tensor = random_tensor(random, Strings::Yes)});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const ReadExternal external = [](const ExternalData& place) -> Result<SharedBytes> {
        return share(place.location);
    };
    const auto named = decode_pb(bytes, external);
    if (!named) return 0;
    const auto again = decode_pb(encode_pb(*named));
    LEMMA_CHECK(again);
    LEMMA_CHECK(again->name == named->name);
    LEMMA_CHECK(fuzz::same(again->tensor, named->tensor));
    return 0;
}
