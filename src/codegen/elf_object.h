// SPDX-License-Identifier: Apache-2.0
// codegen/elf_object.h — an object file as a linker sees it. The reader trusts nothing: parts
// outside of the file and parts that no kernel has are errors.
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
    bool loaded = false;  // part of the linked code
    bool code = false;    // otherwise data
    bool zeros = false;   // memory without bytes in the file; otherwise data are constants
    uint64_t align = 1;
    uint64_t size = 0;
    std::string_view bytes;
};

struct ElfRelocations {
    uint32_t section = 0;  // the section that they change
    std::vector<Elf64_Rela> items;
};

struct ElfObject {
    uint16_t machine = 0;  // number of the processor in ELF
    std::vector<ElfSection> sections;
    std::vector<Elf64_Sym> symbols;
    std::vector<std::string_view> names;  // of the symbols
    std::vector<ElfRelocations> relocations;
};

// The ELF machine number of this processor.
uint16_t elf_machine();

// Reads the object of a kernel for this processor. Sections are code or constants; symbols and
// relocations stay within them.
Result<ElfObject> read_elf(std::string_view file);
// Reads the object of a model for any of our processors. It may have memory of zeros as well.
Result<ElfObject> read_model_elf(std::string_view file);

}  // namespace lemma::codegen
