// SPDX-License-Identifier: Apache-2.0
// base/sha256.h — SHA-256 (FIPS 180-4): a digest that stands for its bytes, also if somebody wants
// two texts to have the same.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lemma {

// The digest of bytes in parts.
class Sha256 {
public:
    // `portable`: without the instructions that some processors have for it.
    explicit Sha256(bool portable = false);

    void add(std::string_view bytes);
    // 64 hexadecimal digits. Nothing can be added after it.
    std::string digits();

    static constexpr size_t kBlock = 64;
    using State = std::array<uint32_t, 8>;

private:
    void (*add_blocks_)(State& state, const char* blocks, size_t count);
    State state_;
    std::array<char, kBlock> rest_{};  // of a block that is not complete
    uint64_t bytes_ = 0;
};

std::string sha256(std::string_view bytes);

}  // namespace lemma
