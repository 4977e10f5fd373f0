// SPDX-License-Identifier: Apache-2.0
#include "sonnx/sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>

namespace lemma::sonnx {

namespace {

using Word = uint32_t;
constexpr size_t kBlock = 64;

// The first bits of the fractional parts of the cube roots of the first primes.
constexpr std::array<Word, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<Word, 8>;

std::array<Word, 64> schedule(std::string_view block) {
    std::array<Word, 64> w{};
    for (size_t i = 0; i < 16; ++i) {
        for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<uint8_t>(block[4 * i + j]);
    }
    for (size_t i = 16; i < 64; ++i) {
        const Word a = w[i - 15];
        const Word b = w[i - 2];
        const Word s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
        const Word s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    return w;
}

void add_block(std::string_view block, State& state) {
    const auto w = schedule(block);
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
        const Word s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const Word t1 = h + s1 + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
        const Word s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const Word t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const State step = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state.size(); ++i) state[i] += step[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
    State state = {0x6a09e667,
                   0xbb67ae85,
                   0x3c6ef372,
                   0xa54ff53a,
                   0x510e527f,
                   0x9b05688c,
                   0x1f83d9ab,
                   0x5be0cd19};
    const size_t whole = bytes.size() / kBlock * kBlock;
    for (size_t at = 0; at < whole; at += kBlock) add_block(bytes.substr(at, kBlock), state);
    // A one bit, zeros, and the length in bits.
    std::string tail(bytes.substr(whole));
    tail += '\x80';
    while (tail.size() % kBlock != kBlock - 8) tail += '\0';
    const uint64_t bits = uint64_t{bytes.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 255);
    for (size_t at = 0; at < tail.size(); at += kBlock)
        add_block(std::string_view(tail).substr(at, kBlock), state);
    std::string text;
    for (const Word word : state) text += fmt::format("{:08x}", word);
    return text;
}

}  // namespace lemma::sonnx
