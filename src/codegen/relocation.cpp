// SPDX-License-Identifier: Apache-2.0
#include "codegen/relocation.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

namespace lemma::codegen {

namespace {

template <class T>
T load(const unsigned char* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

template <class T>
void store(unsigned char* to, T value) {
    std::memcpy(to, &value, sizeof(T));
}

bool fits(int64_t value, int bits) {
    const int64_t most = int64_t{1} << (bits - 1);
    return value >= -most && value < most;
}

std::unexpected<Error> too_far(const Relocation& relocation) {
    return std::unexpected(
        Error{fmt::format("code is too far from what it uses (relocation {})", relocation.type)});
}

std::unexpected<Error> unknown(const Relocation& relocation) {
    return std::unexpected(Error{fmt::format("relocation {} is not known", relocation.type)});
}

// Relocations of whole words; every processor has its own numbers for them.
enum class Word : uint8_t { None, Absolute64, Distance64, Distance32 };

Word word_of(uint16_t machine, uint32_t type) {
    if (machine == EM_X86_64) {
        switch (type) {
            case R_X86_64_64:
                return Word::Absolute64;
            case R_X86_64_PC64:
                return Word::Distance64;
            case R_X86_64_PC32:
            case R_X86_64_PLT32:
                return Word::Distance32;
            default:
                return Word::None;
        }
    }
    switch (type) {
        case R_AARCH64_ABS64:
            return Word::Absolute64;
        case R_AARCH64_PREL64:
            return Word::Distance64;
        case R_AARCH64_PREL32:
            return Word::Distance32;
        default:
            return Word::None;
    }
}

Result<void> write_word(Word word, const Relocation& r, unsigned char* bytes) {
    const auto distance = static_cast<int64_t>(r.value - r.place);
    if (word == Word::Absolute64) {
        store<uint64_t>(bytes, r.value);
    } else if (word == Word::Distance64) {
        store<int64_t>(bytes, distance);
    } else if (fits(distance, 32)) {
        store<int32_t>(bytes, static_cast<int32_t>(distance));
    } else {
        return too_far(r);
    }
    return {};
}

// The operand of `bits` bits at `shift` of an instruction.
void set_field(unsigned char* bytes, uint64_t value, int bits, int shift) {
    const uint32_t mask = (uint32_t{1} << bits) - 1;
    const auto instruction = load<uint32_t>(bytes);
    store<uint32_t>(
        bytes, (instruction & ~(mask << shift)) | ((static_cast<uint32_t>(value) & mask) << shift));
}

// Instructions that load or store 2^scale bytes hold the lower twelve bits of an address in units
// of that size.
void set_low_bits(unsigned char* bytes, uint64_t value, int scale) {
    set_field(bytes, (value & 0xFFF) >> scale, 12, 10);
}

// Relocations of instruction fields.
Result<void> relocate_aarch64(const Relocation& r, unsigned char* bytes) {
    switch (r.type) {
        case R_AARCH64_ADR_PREL_PG_HI21: {
            const auto pages = static_cast<int64_t>((r.value >> 12) - (r.place >> 12));
            if (!fits(pages, 21)) return too_far(r);
            set_field(bytes, static_cast<uint64_t>(pages), 2, 29);
            set_field(bytes, static_cast<uint64_t>(pages >> 2), 19, 5);
            return {};
        }
        case R_AARCH64_ADD_ABS_LO12_NC:
        case R_AARCH64_LDST8_ABS_LO12_NC:
            set_low_bits(bytes, r.value, 0);
            return {};
        case R_AARCH64_LDST16_ABS_LO12_NC:
            set_low_bits(bytes, r.value, 1);
            return {};
        case R_AARCH64_LDST32_ABS_LO12_NC:
            set_low_bits(bytes, r.value, 2);
            return {};
        case R_AARCH64_LDST64_ABS_LO12_NC:
            set_low_bits(bytes, r.value, 3);
            return {};
        case R_AARCH64_LDST128_ABS_LO12_NC:
            set_low_bits(bytes, r.value, 4);
            return {};
        case R_AARCH64_MOVW_UABS_G0_NC:
            set_field(bytes, r.value, 16, 5);
            return {};
        case R_AARCH64_MOVW_UABS_G1_NC:
            set_field(bytes, r.value >> 16, 16, 5);
            return {};
        case R_AARCH64_MOVW_UABS_G2_NC:
            set_field(bytes, r.value >> 32, 16, 5);
            return {};
        case R_AARCH64_MOVW_UABS_G3:
            set_field(bytes, r.value >> 48, 16, 5);
            return {};
        case R_AARCH64_CALL26:
        case R_AARCH64_JUMP26: {
            const auto distance = static_cast<int64_t>(r.value - r.place);
            if (!fits(distance, 28)) return too_far(r);
            set_field(bytes, static_cast<uint64_t>(distance >> 2), 26, 0);
            return {};
        }
        default:
            return unknown(r);
    }
}

}  // namespace

size_t relocated_bytes(uint16_t machine, uint32_t type) {
    const Word word = word_of(machine, type);
    return word == Word::Absolute64 || word == Word::Distance64 ? 8 : 4;
}

bool is_absolute(uint16_t machine, uint32_t type) {
    const bool moves =
        machine == EM_AARCH64 && type >= R_AARCH64_MOVW_UABS_G0 && type <= R_AARCH64_MOVW_UABS_G3;
    return moves || word_of(machine, type) == Word::Absolute64;
}

bool is_near_call(uint16_t machine, uint32_t type) {
    if (machine == EM_X86_64) return type == R_X86_64_PLT32;
    return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26;
}

Result<void> relocate(uint16_t machine, const Relocation& relocation, unsigned char* bytes) {
    const Word word = word_of(machine, relocation.type);
    if (word != Word::None) return write_word(word, relocation, bytes);
    return machine == EM_AARCH64 ? relocate_aarch64(relocation, bytes) : unknown(relocation);
}

}  // namespace lemma::codegen
