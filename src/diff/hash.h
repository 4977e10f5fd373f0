// SPDX-License-Identifier: Apache-2.0
// diff/hash.h — 128-bit hashes of structure: two parts of two models with the same hash are taken
// as alike. Weights are compared by element as well (diff/weights.h).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lemma::diff {

struct Hash {
    uint64_t high = 0, low = 0;
    friend auto operator<=>(const Hash&, const Hash&) = default;
};

struct HashHash {
    size_t operator()(const Hash& hash) const { return static_cast<size_t>(hash.low); }
};

// Collects parts in order: `Hasher("conv").add(stride).add(text).hash()`.
class Hasher {
public:
    explicit Hasher(std::string_view tag) { add(tag); }
    Hasher& add(uint64_t number) {
        high_ = mix(high_ ^ number, 0x9E3779B97F4A7C15ULL);
        low_ = mix(low_ + number, 0xD6E8FEB86659FD93ULL);
        return *this;
    }
    Hasher& add(Hash hash) { return add(hash.high).add(hash.low); }
    Hasher& add(std::string_view text);
    Hasher& add(std::span<const std::byte> bytes);
    Hash hash() const { return {mix(high_, low_ | 1), mix(low_ ^ high_, 0xA0761D6478BD642FULL)}; }

private:
    static uint64_t mix(uint64_t a, uint64_t b) {
        a ^= a >> 32;
        a *= b;
        a ^= a >> 29;
        a *= 0xE7037ED1A0B428DBULL;
        return a ^ (a >> 32);
    }
    uint64_t high_ = 0x243F6A8885A308D3ULL, low_ = 0x13198A2E03707344ULL;
};

// The sum of hashes whose order does not count.
class HashSum {
public:
    void add(Hash hash) {
        sum_.high += hash.high;
        sum_.low += hash.low;
        ++count_;
    }
    Hash hash() const { return Hasher("sum").add(sum_).add(count_).hash(); }

private:
    Hash sum_;
    uint64_t count_ = 0;
};

}  // namespace lemma::diff
