// codegen/elf_object.h — an object file as a linker sees it. Nothing in it is taken on trust: what
// lies outside the file, or is no part of a kernel, is an error.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::codegen {

// All views are into the bytes of the file.
struct ElfSection {
    bool loaded = false;  // part of the finished code
    bool code = false;    // else constants
    uint64_t align = 1;
    std::string_view bytes;
};

struct ElfRelocations {
    uint32_t section = 0;  // that they change
    std::vector<Elf64_Rela> items;
};

struct ElfObject {
    std::vector<ElfSection> sections;
    std::vector<Elf64_Sym> symbols;
    std::vector<std::string_view> names;  // of symbols
    std::vector<ElfRelocations> relocations;
};

// The number of the processor that this program runs on.
uint16_t elf_machine();

// Of this processor, with sections that are code or constants, and symbols and relocations that
// stay within them.
Result<ElfObject> read_elf(std::string_view file);

}  // namespace lemma::codegen
