// SPDX-License-Identifier: Apache-2.0
#include "codegen/relocation.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace lemma::codegen {
namespace {

// The word after the relocation; `before` is the word that the linker changes.
template <class T>
T relocated(uint16_t machine, const Relocation& relocation, T before = 0) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &before, sizeof(T));
    const auto done = relocate(machine, relocation, bytes);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    T after;
    std::memcpy(&after, bytes, sizeof(T));
    return after;
}

TEST(Relocation, OfX86) {
    EXPECT_EQ(relocated<uint64_t>(EM_X86_64, {R_X86_64_64, 0x1000, 0x123456789ABCDEF0}),
              0x123456789ABCDEF0U);
    EXPECT_EQ(relocated<int64_t>(EM_X86_64, {R_X86_64_PC64, 0x1000, 0x800}), -0x800);
    EXPECT_EQ(relocated<int32_t>(EM_X86_64, {R_X86_64_PC32, 0x1000, 0x1800}), 0x800);
    EXPECT_EQ(relocated<int32_t>(EM_X86_64, {R_X86_64_PLT32, 0x1004, 0x1000}), -4);
}

// The expected words are an assembler's encodings of the instructions in the comments.
TEST(Relocation, OfAArch64) {
    const auto word = [](uint32_t type, uint64_t place, uint64_t value, uint32_t before) {
        return relocated<uint32_t>(EM_AARCH64, {type, place, value}, before);
    };
    // adrp x0, three pages up; adrp x0, one page down
    EXPECT_EQ(word(R_AARCH64_ADR_PREL_PG_HI21, 0x10000, 0x13010, 0x90000000), 0xF0000000U);
    EXPECT_EQ(word(R_AARCH64_ADR_PREL_PG_HI21, 0x10000, 0xF010, 0x90000000), 0xF0FFFFE0U);
    // add x0, x0, #0x123; ldr q0, [x0, #0x120]; ldr s0, [x0, #0x124]
    EXPECT_EQ(word(R_AARCH64_ADD_ABS_LO12_NC, 0, 0x5123, 0x91000000), 0x91048C00U);
    EXPECT_EQ(word(R_AARCH64_LDST128_ABS_LO12_NC, 0, 0x5120, 0x3DC00000), 0x3DC04800U);
    EXPECT_EQ(word(R_AARCH64_LDST32_ABS_LO12_NC, 0, 0x5124, 0xBD400000), 0xBD412400U);
    // bl, two words on; bl, one word back
    EXPECT_EQ(word(R_AARCH64_CALL26, 0x1000, 0x1008, 0x94000000), 0x94000002U);
    EXPECT_EQ(word(R_AARCH64_CALL26, 0x1000, 0x0FFC, 0x94000000), 0x97FFFFFFU);
    // movk x0, #0x5678, lsl #16; movz x0, #0x1122, lsl #48
    EXPECT_EQ(word(R_AARCH64_MOVW_UABS_G1_NC, 0, 0x56781234, 0xF2A00000), 0xF2AACF00U);
    EXPECT_EQ(word(R_AARCH64_MOVW_UABS_G3, 0, 0x1122000000000000, 0xD2E00000), 0xD2E22440U);
}

TEST(Relocation, TellsWhatIsTooFarOrUnknown) {
    unsigned char bytes[8] = {};
    const auto fails = [&](uint16_t machine, const Relocation& relocation) {
        return !relocate(machine, relocation, bytes);
    };
    EXPECT_TRUE(fails(EM_X86_64, {R_X86_64_PC32, 0, uint64_t{1} << 31}));
    EXPECT_FALSE(fails(EM_X86_64, {R_X86_64_PC32, 0, (uint64_t{1} << 31) - 1}));
    EXPECT_TRUE(fails(EM_AARCH64, {R_AARCH64_CALL26, 0, uint64_t{1} << 27}));
    EXPECT_FALSE(fails(EM_AARCH64, {R_AARCH64_CALL26, 0, (uint64_t{1} << 27) - 4}));
    EXPECT_TRUE(fails(EM_AARCH64, {R_AARCH64_ADR_PREL_PG_HI21, 0, uint64_t{1} << 32}));
    EXPECT_TRUE(fails(EM_X86_64, {R_X86_64_GOTPCREL, 0, 0}));
    EXPECT_TRUE(fails(EM_AARCH64, {R_AARCH64_TLSDESC_CALL, 0, 0}));
}

}  // namespace
}  // namespace lemma::codegen
