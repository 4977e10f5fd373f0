// SPDX-License-Identifier: Apache-2.0
#include "diff/hash.h"

#include <cstring>

namespace lemma::diff {

Hasher& Hasher::add(std::string_view text) {
    return add(std::as_bytes(std::span(text.data(), text.size())));
}

Hasher& Hasher::add(std::span<const std::byte> bytes) {
    add(static_cast<uint64_t>(bytes.size()));
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        add(word);
    }
    if (at < bytes.size()) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        add(word);
    }
    return *this;
}

}  // namespace lemma::diff
