#include "codegen/machine_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lemma::codegen {

namespace {

struct Level {
    const char* name;
    int64_t vector_bytes;
    int64_t registers;
    bool has_fma;
};
constexpr Level kLevels[] = {
    {"avx512", 64, 32, true},
    {"avx2", 32, 16, true},
    {"sse2", 16, 16, false},
    {"aarch64", 16, 32, true},
};

#if defined(__x86_64__)

struct Words {
    unsigned a = 0, b = 0, c = 0, d = 0;
};
Words ask(unsigned leaf, unsigned part) {
    Words words;
    __get_cpuid_count(leaf, part, &words.a, &words.b, &words.c, &words.d);
    return words;
}

// The kinds of registers that the system keeps for programs.
unsigned kept_registers() {
    unsigned low = 0;
    unsigned high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Asks the processor and the system itself: what the compiler has for it does so at every start of
// the program, and on a virtual machine that takes long.
bool here(const std::string& level) {
    if (level == "sse2") return true;
    const Words basic = ask(1, 0);
    if ((basic.c & bit_OSXSAVE) == 0) return false;
    const Words more = ask(7, 0);
    const unsigned kept = kept_registers();
    const bool avx2 = (kept & 0x6) == 0x6 && (basic.c & bit_AVX) != 0 && (basic.c & bit_FMA) != 0 &&
                      (more.b & bit_AVX2) != 0;
    if (level == "avx2") return avx2;
    return level == "avx512" && avx2 && (kept & 0xE0) == 0xE0 && (more.b & bit_AVX512F) != 0 &&
           (more.b & bit_AVX512VL) != 0;
}

// What the processor says about itself, as far as it is the same on all of its cores.
std::string host_identity() {
    struct Leaf {
        unsigned leaf;
        unsigned part;
        bool has_core;  // its second word tells cores apart
    };
    constexpr Leaf kLeaves[] = {
        {0, 0, false},
        {1, 0, true},
        {7, 0, false},
        {7, 1, false},
        {0xD, 1, true},
        {0x14, 0, false},
        {0x19, 0, false},
        {0x24, 0, false},
        {0x80000001, 0, true},
        {0x80000008, 0, false},
    };
    std::string text;
    for (const Leaf& leaf : kLeaves) {
        const Words words = ask(leaf.leaf, leaf.part);
        text += fmt::format(
            " {:x}.{:x}.{:x}.{:x}", words.a, leaf.has_core ? 0 : words.b, words.c, words.d);
    }
    return text;
}

#elif defined(__aarch64__)

bool here(const std::string& level) { return level == "aarch64"; }

std::string host_identity() {
    return fmt::format(" {:x} {:x}", ::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2));
}

#else

bool here(const std::string&) { return false; }

std::string host_identity() { return {}; }

#endif

MachineTarget target_of(const Level& level) {
    MachineTarget target;
    target.name = level.name;
    target.runs_here = here(level.name);
    target.has_fma = level.has_fma;
    target.schedule.vector_bytes = level.vector_bytes;
    target.schedule.registers = level.registers;
    target.identity = level.name;
    return target;
}

}  // namespace

Result<MachineTarget> find_target(const std::string& name) {
    if (name.empty()) {
        const auto* const best =
            std::ranges::find_if(kLevels, [](const Level& level) { return here(level.name); });
        if (best == std::end(kLevels)) {
            return std::unexpected(Error{"there is no code for this processor"});
        }
        MachineTarget target = target_of(*best);
        target.whole_host = true;
        target.identity += host_identity();
        return target;
    }
    for (const Level& level : kLevels) {
        if (name != level.name) continue;
        MachineTarget target = target_of(level);
        // Code for another kind of processor can be made, if not run.
        if (!target.runs_here && name != "aarch64") {
            return std::unexpected(Error{fmt::format("this processor has no `{}`", name)});
        }
        return target;
    }
    return std::unexpected(Error{fmt::format(
        "there is no target `{}`: they are `avx512`, `avx2`, `sse2` and `aarch64`", name)});
}

}  // namespace lemma::codegen
