// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lemma {

namespace {

using Word = uint32_t;
using State = Sha256::State;
constexpr size_t kBlock = Sha256::kBlock;

// The first bits of the fractional parts of the cube roots of the first primes.
alignas(16) constexpr std::array<Word, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The first bits of the fractional parts of the square roots of the first primes.
constexpr State kStart = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::array<Word, 64> schedule(const char* block) {
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

void add_block(State& state, const char* block) {
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

void add_blocks(State& state, const char* blocks, size_t count) {
    for (size_t i = 0; i < count; ++i) add_block(state, blocks + i * kBlock);
}

#if defined(__x86_64__)

bool has_instructions() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0)
        return false;
    constexpr unsigned kSha = 1U << 29;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

// The words 1 to 4 of eight. Without optimisation, GCC 12 does not see the constant of the
// intrinsic
// (`_mm_alignr_epi8`) in a unit with a precompiled header.
__m128i from_second(__m128i first, __m128i second) {
    using Words [[gnu::vector_size(16)]] = int;
    const auto lower = reinterpret_cast<Words>(first), upper = reinterpret_cast<Words>(second);
    return reinterpret_cast<__m128i>(__builtin_shufflevector(lower, upper, 1, 2, 3, 4));
}

// The instructions keep the state as A B E F and C D G H, from the highest word down. One does two
// rounds and gives the next A B E F; the next C D G H is the former A B E F.
__attribute__((target("sha,sse4.1,ssse3"))) void add_blocks_fast(State& state,
                                                                 const char* blocks,
                                                                 size_t count) {
    const auto word = [&](size_t i) { return static_cast<int>(state[i]); };
    __m128i abef = _mm_set_epi32(word(0), word(1), word(4), word(5));
    __m128i cdgh = _mm_set_epi32(word(2), word(3), word(6), word(7));
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (; count > 0; --count, blocks += kBlock) {
        const __m128i old_abef = abef;
        const __m128i old_cdgh = cdgh;
        __m128i w[4];  // the last sixteen words of the schedule
        for (size_t i = 0; i < 16; ++i) {
            __m128i& now = w[i % 4];
            if (i < 4) {
                const auto* const from = reinterpret_cast<const __m128i*>(blocks + 16 * i);
                now = _mm_shuffle_epi8(_mm_loadu_si128(from), swap);
            } else {
                const __m128i last = w[(i + 3) % 4];
                now = _mm_sha256msg1_epu32(now, w[(i + 1) % 4]);
                now = _mm_add_epi32(now, from_second(w[(i + 2) % 4], last));
                now = _mm_sha256msg2_epu32(now, last);
            }
            const auto* const rounds = reinterpret_cast<const __m128i*>(&kRounds[4 * i]);
            const __m128i sums = _mm_add_epi32(now, _mm_load_si128(rounds));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sums, 0x0e));
        }
        abef = _mm_add_epi32(abef, old_abef);
        cdgh = _mm_add_epi32(cdgh, old_cdgh);
    }
    alignas(16) Word words[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(words), abef);
    _mm_store_si128(reinterpret_cast<__m128i*>(words + 4), cdgh);
    state = {words[3], words[2], words[7], words[6], words[1], words[0], words[5], words[4]};
}

#endif

using AddBlocks = void (*)(State&, const char*, size_t);

AddBlocks fastest() {
#if defined(__x86_64__)
    static const bool fast = has_instructions();
    if (fast) return add_blocks_fast;
#endif
    return add_blocks;
}

}  // namespace

Sha256::Sha256(bool portable) : add_blocks_(portable ? add_blocks : fastest()), state_(kStart) {}

void Sha256::add(std::string_view bytes) {
    const size_t have = bytes_ % kBlock;
    bytes_ += bytes.size();
    if (have > 0) {
        const size_t wanted = std::min(kBlock - have, bytes.size());
        std::ranges::copy(bytes.substr(0, wanted), rest_.data() + have);
        bytes.remove_prefix(wanted);
        if (have + wanted < kBlock) return;
        add_blocks_(state_, rest_.data(), 1);
    }
    const size_t whole = bytes.size() / kBlock;
    if (whole > 0) add_blocks_(state_, bytes.data(), whole);
    std::ranges::copy(bytes.substr(whole * kBlock), rest_.data());
}

// After the bytes: a one bit, zeros, and their number in bits.
std::string Sha256::digits() {
    const uint64_t bits = bytes_ * 8;
    std::string tail = "\x80";
    while ((bytes_ + tail.size()) % kBlock != kBlock - 8) tail += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 255);
    add(tail);
    LEMMA_CHECK(bytes_ % kBlock == 0);
    std::string text;
    for (const Word word : state_) text += fmt::format("{:08x}", word);
    return text;
}

std::string sha256(std::string_view bytes) {
    Sha256 digest;
    digest.add(bytes);
    return digest.digits();
}

}  // namespace lemma
