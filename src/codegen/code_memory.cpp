// SPDX-License-Identifier: Apache-2.0
#include "codegen/code_memory.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "codegen/elf_object.h"
#include "codegen/relocation.h"

#ifdef __x86_64__
// Code for processors without half precision calls these helpers of the compiler by name.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace lemma::codegen {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kCodeAlign = 64;  // alignment of loops that the code generator assumes
constexpr size_t kJumpBytes = 16;

size_t rounded_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

void* library_function(const std::string& name) {
    if (void* const found = dlsym(RTLD_DEFAULT, name.c_str())) return found;
#ifdef __x86_64__
    if (name == "__extendhfsf2") return reinterpret_cast<void*>(&__extendhfsf2);
    if (name == "__truncsfhf2") return reinterpret_cast<void*>(&__truncsfhf2);
    if (name == "__truncdfhf2") return reinterpret_cast<void*>(&__truncdfhf2);
#endif
    return nullptr;
}

// A jump to any address, for calls that reach only near code.
std::array<unsigned char, kJumpBytes> long_jump_to(uint64_t address) {
#ifdef __aarch64__
    constexpr uint32_t kCode[] = {0x58000050, 0xD61F0200};  // ldr x16, +8; br x16
#else
    constexpr unsigned char kCode[] = {0x90, 0x90, 0xFF, 0x25, 0, 0, 0, 0};  // jmp [rip]
#endif
    std::array<unsigned char, kJumpBytes> bytes{};
    static_assert(sizeof(kCode) + sizeof(address) == kJumpBytes);
    std::memcpy(bytes.data(), kCode, sizeof(kCode));
    std::memcpy(bytes.data() + sizeof(kCode), &address, sizeof(address));
    return bytes;
}

// Links several objects into one piece of memory: code, then long jumps, then constants.
class Linker {
public:
    Result<void> read(std::span<const std::string_view> objects);
    size_t code_bytes() const { return code_bytes_; }
    size_t bytes() const { return bytes_; }
    Result<void> write(unsigned char* memory);
    // Names and offsets of functions.
    std::vector<std::pair<std::string, size_t>> functions() const;

private:
    struct Placed {
        ElfObject object;
        std::vector<size_t> offsets;  // of the sections
    };
    void place(bool code, size_t& end);
    size_t count_near_calls() const;
    Result<uint64_t> address_of(const Placed& placed, size_t symbol, bool near);
    Result<void> relocate(const Placed& placed, const ElfRelocations& relocations);

    std::vector<Placed> objects_;
    size_t code_bytes_ = 0;
    size_t bytes_ = 0;
    size_t next_jump_ = 0;
    unsigned char* memory_ = nullptr;
};

void Linker::place(bool code, size_t& end) {
    for (Placed& placed : objects_) {
        for (size_t i = 0; i < placed.object.sections.size(); ++i) {
            const ElfSection& section = placed.object.sections[i];
            if (!section.loaded || section.code != code) continue;
            end = rounded_up(end, code ? std::max(kCodeAlign, section.align) : section.align);
            placed.offsets[i] = end;
            end += section.bytes.size();
        }
    }
}

size_t Linker::count_near_calls() const {
    size_t count = 0;
    for (const Placed& placed : objects_) {
        for (const ElfRelocations& relocations : placed.object.relocations) {
            count += static_cast<size_t>(
                std::ranges::count_if(relocations.items, [](const Elf64_Rela& item) {
                    return is_near_call(elf_machine(),
                                        static_cast<uint32_t>(ELF64_R_TYPE(item.r_info)));
                }));
        }
    }
    return count;
}

Result<void> Linker::read(std::span<const std::string_view> objects) {
    for (const std::string_view file : objects) {
        LEMMA_TRY(ElfObject object, read_elf(file));
        const size_t sections = object.sections.size();
        objects_.push_back({std::move(object), std::vector<size_t>(sections)});
    }
    size_t end = 0;
    place(true, end);
    next_jump_ = rounded_up(end, kJumpBytes);
    code_bytes_ = rounded_up(next_jump_ + count_near_calls() * kJumpBytes, kPage);
    end = code_bytes_;
    place(false, end);
    bytes_ = rounded_up(end, kPage);
    return {};
}

Result<uint64_t> Linker::address_of(const Placed& placed, size_t index, bool near) {
    const Elf64_Sym& symbol = placed.object.symbols[index];
    if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
    if (symbol.st_shndx != SHN_UNDEF) {
        if (!placed.object.sections[symbol.st_shndx].loaded) {
            return std::unexpected(Error{"code refers to what is not loaded"});
        }
        return std::bit_cast<uint64_t>(memory_) + placed.offsets[symbol.st_shndx] + symbol.st_value;
    }
    const std::string name(placed.object.names[index]);
    void* const function = library_function(name);
    if (!function) {
        return std::unexpected(Error{fmt::format("the function `{}` is not there", name)});
    }
    if (!near) return std::bit_cast<uint64_t>(function);
    unsigned char* const jump = memory_ + next_jump_;
    next_jump_ += kJumpBytes;
    const auto code = long_jump_to(std::bit_cast<uint64_t>(function));
    std::memcpy(jump, code.data(), code.size());
    return std::bit_cast<uint64_t>(jump);
}

Result<void> Linker::relocate(const Placed& placed, const ElfRelocations& relocations) {
    unsigned char* const section = memory_ + placed.offsets[relocations.section];
    for (const Elf64_Rela& item : relocations.items) {
        const auto type = static_cast<uint32_t>(ELF64_R_TYPE(item.r_info));
        LEMMA_TRY(const uint64_t symbol,
                  address_of(placed, ELF64_R_SYM(item.r_info), is_near_call(elf_machine(), type)));
        unsigned char* const place = section + item.r_offset;
        const uint64_t value = symbol + static_cast<uint64_t>(item.r_addend);
        LEMMA_TRY(
            codegen::relocate(elf_machine(), {type, std::bit_cast<uint64_t>(place), value}, place));
    }
    return {};
}

Result<void> Linker::write(unsigned char* memory) {
    memory_ = memory;
    for (const Placed& placed : objects_) {
        for (size_t i = 0; i < placed.object.sections.size(); ++i) {
            const ElfSection& section = placed.object.sections[i];
            if (section.bytes.empty()) continue;
            std::memcpy(memory + placed.offsets[i], section.bytes.data(), section.bytes.size());
        }
        for (const ElfRelocations& relocations : placed.object.relocations) {
            LEMMA_TRY(relocate(placed, relocations));
        }
    }
    return {};
}

std::vector<std::pair<std::string, size_t>> Linker::functions() const {
    std::vector<std::pair<std::string, size_t>> result;
    for (const Placed& placed : objects_) {
        for (size_t i = 0; i < placed.object.symbols.size(); ++i) {
            const Elf64_Sym& symbol = placed.object.symbols[i];
            const uint32_t section = symbol.st_shndx;
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || section == SHN_UNDEF ||
                section == SHN_ABS || !placed.object.sections[section].code) {
                continue;
            }
            if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
            result.emplace_back(placed.object.names[i], placed.offsets[section] + symbol.st_value);
        }
    }
    return result;
}

}  // namespace

CodeMemory::~CodeMemory() {
    for (const Mapping& mapping : mappings_) ::munmap(mapping.begin, mapping.bytes);
}

Result<void> CodeMemory::add(std::span<const std::string_view> objects) {
    Linker linker;
    LEMMA_TRY(linker.read(objects));
    if (linker.bytes() == 0) return {};
    void* const memory =
        ::mmap(nullptr, linker.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return std::unexpected(Error{"there is no memory for code"});
    mappings_.push_back({memory, linker.bytes()});
    auto* const bytes = static_cast<unsigned char*>(memory);
    LEMMA_TRY(linker.write(bytes));
    // No page is both writable and executable.
    const size_t constants = linker.bytes() - linker.code_bytes();
    if (::mprotect(bytes, linker.code_bytes(), PROT_READ | PROT_EXEC) != 0 ||
        (constants > 0 && ::mprotect(bytes + linker.code_bytes(), constants, PROT_READ) != 0)) {
        return std::unexpected(
            Error{fmt::format("the system does not let this program run code that it made: {}",
                              std::strerror(errno))});
    }
    __builtin___clear_cache(reinterpret_cast<char*>(bytes),
                            reinterpret_cast<char*>(bytes + linker.code_bytes()));
    for (const auto& [name, offset] : linker.functions()) functions_[name] = bytes + offset;
    return {};
}

void* CodeMemory::find(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
}

}  // namespace lemma::codegen
