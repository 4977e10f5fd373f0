// SPDX-License-Identifier: Apache-2.0
#include "codegen/machine_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
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

// The features of this processor.
struct Host {
    std::vector<std::string_view> levels;
    std::string identity;
    bool byte_dots = false;
    bool byte_tiles = false;
    bool bf16_tiles = false;
    bool bf16_dots = false;
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

// The register sets that the system saves for programs.
unsigned kept_registers() {
    unsigned low = 0;
    unsigned high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// The processor's identity, as far as it is the same on all cores.
std::string identity_of_host() {
    struct Leaf {
        unsigned leaf;
        unsigned part;
        bool has_core;  // its second word differs between cores
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

// Asks the system to save tile registers for this process. It is an error on older systems.
bool allow_tiles() {
#ifdef __linux__
    constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr long kTileData = 18;
    return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
    return false;
#endif
}

// Queries the processor and the system directly. The compiler's built-in check would do so at every
// start of the program, which is slow on a virtual machine.
Host ask_host() {
    Host host{.levels = {"sse2"}, .identity = identity_of_host()};
    const Words basic = ask(1, 0);
    if ((basic.c & bit_OSXSAVE) == 0) return host;
    const Words more = ask(7, 0);
    const unsigned kept = kept_registers();
    const bool avx2 = (kept & 0x6) == 0x6 && (basic.c & bit_AVX) != 0 && (basic.c & bit_FMA) != 0 &&
                      (more.b & bit_AVX2) != 0;
    if (!avx2) return host;
    host.levels.emplace_back("avx2");
    const bool avx512 =
        (kept & 0xE0) == 0xE0 && (more.b & bit_AVX512F) != 0 && (more.b & bit_AVX512VL) != 0;
    if (!avx512) return host;
    host.levels.emplace_back("avx512");
    host.byte_dots = (more.c & bit_AVX512VNNI) != 0;
    constexpr unsigned kBf16Tiles = 1U << 22, kTiles = 1U << 24, kByteTiles = 1U << 25;
    constexpr unsigned kKeptTiles = 0x60000;
    const bool tiles = (kept & kKeptTiles) == kKeptTiles && (more.d & kTiles) != 0 && allow_tiles();
    host.byte_tiles = tiles && (more.d & kByteTiles) != 0;
    host.bf16_tiles = tiles && (more.d & kBf16Tiles) != 0;
    // Processors with tile registers have slow dots of bf16, by measurement: use those of others.
    constexpr unsigned kBf16Dots = 1U << 5;
    host.bf16_dots = (ask(7, 1).a & kBf16Dots) != 0 && (more.d & kBf16Tiles) == 0;
    return host;
}

#elif defined(__aarch64__)

Host ask_host() {
    return {.levels = {"aarch64"},
            .identity = fmt::format(" {:x} {:x}", ::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2))};
}

#else

Host ask_host() { return {}; }

#endif

// Only once: on a virtual machine each query goes to the hypervisor.
const Host& host() {
    static const Host asked = ask_host();
    return asked;
}

bool here(std::string_view level) {
    return std::ranges::find(host().levels, level) != host().levels.end();
}

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
        target.identity += host().identity;
        target.schedule.byte_dots = true;
        target.has_byte_dots = host().byte_dots;
        target.schedule.byte_tiles = host().byte_tiles;
        target.schedule.bf16_tiles = host().bf16_tiles;
        target.schedule.bf16_dots = target.has_bf16_dots = host().bf16_dots;
        return target;
    }
    for (const Level& level : kLevels) {
        if (name != level.name) continue;
        MachineTarget target = target_of(level);
        target.schedule.byte_dots = true;
        // Code for another kind of processor can be made, but not run.
        if (!target.runs_here && name != "aarch64") {
            return std::unexpected(Error{fmt::format("this processor has no `{}`", name)});
        }
        return target;
    }
    return std::unexpected(Error{fmt::format(
        "there is no target `{}`: they are `avx512`, `avx2`, `sse2` and `aarch64`", name)});
}

MachineTarget device_target(const MachineTarget& host) {
    MachineTarget target = host;
    target.name = "cuda";
    target.runs_here = false;
    target.identity = "cuda sm_80";
    target.schedule.byte_dots = false;
    target.schedule.byte_tiles = false;
    target.schedule.bf16_tiles = false;
    target.schedule.bf16_dots = false;
    target.schedule.device = true;
    return target;
}

Result<MachineTarget> any_target(const std::string& name) {
    if (name.empty()) return find_target(name);
    if (name == "generic") {
        MachineTarget target = target_of({"generic", 16, 16, false});
        target.runs_here = true;  // as C
        return target;
    }
    for (const Level& level : kLevels) {
        if (name == level.name || (name == "neon" && level.name == std::string_view("aarch64"))) {
            return target_of(level);
        }
    }
    return std::unexpected(Error{fmt::format(
        "there is no target `{}`: they are `generic`, `avx512`, `avx2`, `sse2` and `neon`", name)});
}

}  // namespace lemma::codegen
