// SPDX-License-Identifier: Apache-2.0
// interpret/random.h — random numbers that depend only on a seed and a position: SplitMix64 over a
// counter. They are the same on every machine, in every engine and for every number of threads.
#pragma once

#include <cstdint>

namespace lemma::interpret {

inline uint64_t mix_bits(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
inline uint64_t random_bits(uint64_t seed, uint64_t index) {
    return mix_bits(mix_bits(seed) + (index + 1) * 0x9E3779B97F4A7C15u);
}
// In [0, 1), with the 53 bits of a double.
inline double random_unit(uint64_t seed, uint64_t index) {
    return static_cast<double>(random_bits(seed, index) >> 11) * 0x1p-53;
}

}  // namespace lemma::interpret
