// SPDX-License-Identifier: Apache-2.0
#include "codegen/shared_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "codegen/elf_object.h"
#include "codegen/relocation.h"

namespace lemma::codegen {

namespace {

constexpr uint64_t kStubBytes = 16;
constexpr uint64_t kSlotBytes = 8;
constexpr uint64_t kCodeAlign = 64;
constexpr size_t kSegments = 6;
constexpr size_t kDynamicEntries = 12;  // besides the libraries
constexpr uint32_t kNoPart = UINT32_MAX;

uint64_t rounded_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

template <class T>
void append(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Names, each behind the other.
class Names {
public:
    uint32_t add(std::string_view name) {
        const auto at = static_cast<uint32_t>(bytes_.size());
        bytes_.append(name).push_back('\0');
        return at;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_ = std::string(1, '\0');
};

// The hash function of the ELF standard.
uint32_t elf_hash(std::string_view name) {
    uint32_t hash = 0;
    for (const char c : name) {
        hash = (hash << 4) + static_cast<unsigned char>(c);
        const uint32_t high = hash & 0xF0000000;
        hash ^= high >> 24;
        hash &= ~high;
    }
    return hash;
}

bool in_libc(std::string_view name) {
    return name == "memcpy" || name == "memmove" || name == "memset";
}

// A part of the library. Its address is its offset in the file, except that of zeros.
struct Part {
    const char* name;
    uint32_t type;
    uint64_t flags;
    uint64_t align = 8;
    uint64_t record = 0;      // bytes of an entry of a table
    uint32_t link = kNoPart;  // a part that this one uses
    uint32_t info = 0;
    uint32_t text = 0;  // the place of its name
    uint64_t address = 0, offset = 0, size = 0;
    std::string bytes = {};
};

class SharedLinker {
public:
    explicit SharedLinker(ElfObject object)
        : object_(std::move(object)),
          page_(object_.machine == EM_AARCH64 ? 0x10000 : 0x1000),
          offsets_(object_.sections.size()) {}

    Result<std::string> link(const std::string& name);

private:
    enum Index : size_t {
        Hash,
        Symbols,
        SymbolNames,
        Changes,
        Constants,
        Code,
        Dynamic,
        Slots,
        Zeros,
        AllSymbols,
        AllNames,
        PartNames,
        kParts,
    };
    struct Function {
        std::string_view name;
        size_t symbol = 0;  // of the object
        uint32_t text = 0;  // the place of its name
    };
    Result<void> find_functions();
    void place_sections();
    void place_parts();
    void write_symbols();
    void write_hash();
    void write_all_symbols();
    Result<void> write_stubs();
    void write_dynamic();
    Result<uint64_t> target_of(const Elf64_Rela& item, bool call) const;
    Result<void> relocate();
    std::string write_file();
    std::string segments() const;
    std::string headers();

    Index part_of(const ElfSection& section) const {
        return section.code ? Code : section.zeros ? Zeros : Constants;
    }
    uint64_t address_of(const Elf64_Sym& symbol) const {
        const size_t section = symbol.st_shndx;
        return parts_[part_of(object_.sections[section])].address + offsets_[section] +
               symbol.st_value;
    }
    bool is_function(const Elf64_Sym& symbol) const {
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return false;
        return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && object_.sections[symbol.st_shndx].code;
    }
    Elf64_Sym exported(uint32_t text, const Elf64_Sym& symbol) const;

    ElfObject object_;
    uint64_t page_;
    std::vector<uint64_t> offsets_;  // of the sections in their parts
    std::vector<Function> imports_, exports_;
    uint64_t stubs_ = 0;            // their offset in the code
    std::vector<uint64_t> needed_;  // names of libraries
    uint64_t own_name_ = 0;
    Names names_;
    std::array<Part, kParts> parts_ = {{
        {".hash", SHT_HASH, SHF_ALLOC, 8, 4, Symbols},
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, 8, sizeof(Elf64_Sym), SymbolNames, 1},
        {".dynstr", SHT_STRTAB, SHF_ALLOC, 1},
        {".rela.dyn", SHT_RELA, SHF_ALLOC, 8, sizeof(Elf64_Rela), Symbols},
        {".rodata", SHT_PROGBITS, SHF_ALLOC},
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
        {".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, 8, sizeof(Elf64_Dyn), SymbolNames},
        {".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, kSlotBytes},
        {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE},
        {".symtab", SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym), AllNames},
        {".strtab", SHT_STRTAB, 0, 1},
        {".shstrtab", SHT_STRTAB, 0, 1},
    }};
};

// ---- What goes where ----------------------------------------------------------------------------

Result<void> SharedLinker::find_functions() {
    for (size_t i = 1; i < object_.symbols.size(); ++i) {
        const Elf64_Sym& symbol = object_.symbols[i];
        if (symbol.st_shndx == SHN_UNDEF) {
            imports_.push_back({object_.names[i], i});
        } else if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) {
            if (!is_function(symbol)) {
                return std::unexpected(
                    Error{fmt::format("`{}` is no function of a model", object_.names[i])});
            }
            exports_.push_back({object_.names[i], i});
        }
    }
    return {};
}

// Joins the sections of each kind.
void SharedLinker::place_sections() {
    for (size_t i = 0; i < object_.sections.size(); ++i) {
        const ElfSection& section = object_.sections[i];
        if (!section.loaded) continue;
        Part& part = parts_[part_of(section)];
        const uint64_t align = section.code ? std::max(section.align, kCodeAlign) : section.align;
        part.align = std::max(part.align, align);
        offsets_[i] = rounded_up(part.size, align);
        part.size = offsets_[i] + section.size;
        if (section.zeros) continue;
        part.bytes.resize(offsets_[i]);
        part.bytes.append(section.bytes);
    }
    stubs_ = rounded_up(parts_[Code].size, kStubBytes);
    parts_[Code].bytes.resize(stubs_ + imports_.size() * kStubBytes);
}

// Constants, code and variable data have separate pages. The loader writes the dynamic table and
// the slots, then protects them; zeros therefore begin on the next page.
void SharedLinker::place_parts() {
    const size_t symbols = 1 + imports_.size() + exports_.size();
    parts_[Hash].bytes.resize(4 * (2 + 2 * symbols));
    parts_[Symbols].bytes.resize(symbols * sizeof(Elf64_Sym));
    parts_[SymbolNames].bytes = names_.bytes();
    parts_[Changes].bytes.resize(imports_.size() * sizeof(Elf64_Rela));
    parts_[Dynamic].bytes.resize((kDynamicEntries + needed_.size()) * sizeof(Elf64_Dyn));
    parts_[Slots].bytes.resize(imports_.size() * kSlotBytes);
    uint64_t at = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);
    for (size_t i = 0; i <= Zeros; ++i) {
        Part& part = parts_[i];
        if (i != Zeros) part.size = part.bytes.size();
        const bool new_page = i == Code || i == Dynamic || i == Zeros;
        at = rounded_up(at, new_page ? page_ : part.align);
        part.address = at;
        at += part.size;
    }
}

// ---- Tables -------------------------------------------------------------------------------------

Elf64_Sym SharedLinker::exported(uint32_t text, const Elf64_Sym& symbol) const {
    return {.st_name = text,
            .st_info = symbol.st_info,
            .st_other = STV_DEFAULT,
            .st_shndx = Code + 1,
            .st_value = address_of(symbol),
            .st_size = symbol.st_size};
}

void SharedLinker::write_symbols() {
    std::string table(sizeof(Elf64_Sym), '\0');
    for (const Function& import : imports_) {
        Elf64_Sym symbol = {};
        symbol.st_name = import.text;
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        append(table, symbol);
    }
    for (const Function& own : exports_) {
        append(table, exported(own.text, object_.symbols[own.symbol]));
    }
    parts_[Symbols].bytes = std::move(table);
}

// By the hash of its name, the first symbol of a chain.
void SharedLinker::write_hash() {
    std::vector<std::string_view> names = {""};
    for (const Function& import : imports_) names.push_back(import.name);
    for (const Function& own : exports_) names.push_back(own.name);
    const auto count = static_cast<uint32_t>(names.size());
    std::vector<uint32_t> table(2 + 2 * size_t{count});
    table[0] = table[1] = count;  // chains and symbols
    for (uint32_t i = 1; i < count; ++i) {
        uint32_t& first = table[2 + elf_hash(names[i]) % count];
        table[2 + count + i] = std::exchange(first, i);
    }
    std::memcpy(parts_[Hash].bytes.data(), table.data(), 4 * table.size());
}

// All functions, for debuggers and profilers: those of the object alone first.
void SharedLinker::write_all_symbols() {
    Names names;
    std::string table(sizeof(Elf64_Sym), '\0');
    for (const bool local : {true, false}) {
        for (size_t i = 1; i < object_.symbols.size(); ++i) {
            const Elf64_Sym& symbol = object_.symbols[i];
            const bool wanted = (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) == local;
            if (!is_function(symbol) || !wanted) continue;
            append(table, exported(names.add(object_.names[i]), symbol));
        }
        if (!local) break;
        parts_[AllSymbols].info = static_cast<uint32_t>(table.size() / sizeof(Elf64_Sym));
    }
    parts_[AllSymbols].bytes = std::move(table);
    parts_[AllNames].bytes = names.bytes();
}

// A call of a foreign function goes to a stub, which jumps to the address in a slot. The loader
// fills the slots.
Result<void> SharedLinker::write_stubs() {
    const bool arm = object_.machine == EM_AARCH64;
    std::string changes;
    for (size_t i = 0; i < imports_.size(); ++i) {
        const uint64_t slot = parts_[Slots].address + i * kSlotBytes;
        const uint64_t offset = stubs_ + i * kStubBytes;
        const uint64_t stub = parts_[Code].address + offset;
        auto* const bytes = reinterpret_cast<unsigned char*>(parts_[Code].bytes.data() + offset);
        if (arm) {
            // adrp x16, slot; ldr x17, [x16, slot]; br x17; brk
            constexpr uint32_t kJump[] = {0x90000010, 0xF9400211, 0xD61F0220, 0xD4200000};
            static_assert(sizeof(kJump) == kStubBytes);
            std::memcpy(bytes, kJump, sizeof(kJump));
            LEMMA_TRY(
                codegen::relocate(EM_AARCH64, {R_AARCH64_ADR_PREL_PG_HI21, stub, slot}, bytes));
            LEMMA_TRY(codegen::relocate(
                EM_AARCH64, {R_AARCH64_LDST64_ABS_LO12_NC, stub + 4, slot}, bytes + 4));
        } else {
            constexpr unsigned char kJump[] = {0xFF, 0x25};  // jmp [rip + distance]
            std::memset(bytes, 0xCC, kStubBytes);
            std::memcpy(bytes, kJump, sizeof(kJump));
            LEMMA_TRY(codegen::relocate(EM_X86_64, {R_X86_64_PC32, stub + 2, slot - 4}, bytes + 2));
        }
        append(
            changes,
            Elf64_Rela{.r_offset = slot,
                       .r_info = ELF64_R_INFO(i + 1, arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT),
                       .r_addend = 0});
    }
    parts_[Changes].bytes = std::move(changes);
    return {};
}

void SharedLinker::write_dynamic() {
    std::string table;
    const auto add = [&](int64_t tag, uint64_t value) {
        append(table, Elf64_Dyn{.d_tag = tag, .d_un = {.d_val = value}});
    };
    for (const uint64_t name : needed_) add(DT_NEEDED, name);
    add(DT_SONAME, own_name_);
    add(DT_HASH, parts_[Hash].address);
    add(DT_STRTAB, parts_[SymbolNames].address);
    add(DT_STRSZ, parts_[SymbolNames].size);
    add(DT_SYMTAB, parts_[Symbols].address);
    add(DT_SYMENT, sizeof(Elf64_Sym));
    add(DT_RELA, parts_[Changes].address);
    add(DT_RELASZ, parts_[Changes].size);
    add(DT_RELAENT, sizeof(Elf64_Rela));
    add(DT_FLAGS, DF_BIND_NOW);
    add(DT_FLAGS_1, DF_1_NOW);
    add(DT_NULL, 0);
    parts_[Dynamic].bytes = std::move(table);
}

// ---- Code ---------------------------------------------------------------------------------------

// The address of a relocation's symbol; of a foreign function, its stub.
Result<uint64_t> SharedLinker::target_of(const Elf64_Rela& item, bool call) const {
    const size_t number = ELF64_R_SYM(item.r_info);
    const Elf64_Sym& symbol = object_.symbols[number];
    if (symbol.st_shndx == SHN_UNDEF) {
        const auto import = std::ranges::find(imports_, number, &Function::symbol);
        if (!call || import == imports_.end()) {
            return std::unexpected(
                Error{fmt::format("code uses `{}` other than in a call", object_.names[number])});
        }
        return parts_[Code].address + stubs_ +
               static_cast<uint64_t>(import - imports_.begin()) * kStubBytes;
    }
    if (symbol.st_shndx == SHN_ABS || !object_.sections[symbol.st_shndx].loaded) {
        return std::unexpected(Error{"code refers to what is not loaded"});
    }
    return address_of(symbol);
}

Result<void> SharedLinker::relocate() {
    for (const ElfRelocations& relocations : object_.relocations) {
        const ElfSection& section = object_.sections[relocations.section];
        if (section.zeros) return std::unexpected(Error{"memory of zeros has no relocations"});
        Part& part = parts_[part_of(section)];
        for (const Elf64_Rela& item : relocations.items) {
            const auto type = static_cast<uint32_t>(ELF64_R_TYPE(item.r_info));
            if (is_absolute(object_.machine, type)) {
                return std::unexpected(Error{"code depends on the address that it is loaded at"});
            }
            LEMMA_TRY(const uint64_t target, target_of(item, is_near_call(object_.machine, type)));
            const uint64_t offset = offsets_[relocations.section] + item.r_offset;
            LEMMA_TRY(codegen::relocate(
                object_.machine,
                {type, part.address + offset, target + static_cast<uint64_t>(item.r_addend)},
                reinterpret_cast<unsigned char*>(part.bytes.data() + offset)));
        }
    }
    return {};
}

// ---- The file -----------------------------------------------------------------------------------

std::string SharedLinker::segments() const {
    std::string result;
    const auto add = [&](uint32_t type,
                         uint32_t flags,
                         uint64_t begin,
                         uint64_t end,
                         uint64_t memory_end,
                         uint64_t align) {
        append(result,
               Elf64_Phdr{.p_type = type,
                          .p_flags = flags,
                          .p_offset = begin,
                          .p_vaddr = begin,
                          .p_paddr = begin,
                          .p_filesz = end - begin,
                          .p_memsz = memory_end - begin,
                          .p_align = align});
    };
    const auto end_of = [&](Index i) { return parts_[i].address + parts_[i].size; };
    const uint64_t dynamic = parts_[Dynamic].address;
    const uint64_t zeros = parts_[Zeros].address;
    add(PT_LOAD, PF_R, 0, end_of(Constants), end_of(Constants), page_);
    add(PT_LOAD, PF_R | PF_X, parts_[Code].address, end_of(Code), end_of(Code), page_);
    add(PT_LOAD, PF_R | PF_W, dynamic, end_of(Slots), end_of(Zeros), page_);
    add(PT_DYNAMIC, PF_R | PF_W, dynamic, end_of(Dynamic), end_of(Dynamic), 8);
    add(PT_GNU_RELRO, PF_R, dynamic, end_of(Slots), zeros, 1);
    add(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16);
    return result;
}

std::string SharedLinker::headers() {
    std::string result(sizeof(Elf64_Shdr), '\0');
    for (const Part& part : parts_) {
        append(result,
               Elf64_Shdr{.sh_name = part.text,
                          .sh_type = part.type,
                          .sh_flags = part.flags,
                          .sh_addr = part.flags == 0 ? 0 : part.address,
                          .sh_offset = part.offset,
                          .sh_size = part.size,
                          .sh_link = part.link == kNoPart ? 0 : part.link + 1,
                          .sh_info = part.info,
                          .sh_addralign = part.align,
                          .sh_entsize = part.record});
    }
    return result;
}

std::string SharedLinker::write_file() {
    Names names;
    for (Part& part : parts_) part.text = names.add(part.name);
    parts_[PartNames].bytes = names.bytes();
    std::string file(sizeof(Elf64_Ehdr), '\0');
    file += segments();
    for (size_t i = 0; i < kParts; ++i) {
        Part& part = parts_[i];
        part.offset = i < Zeros ? part.address : rounded_up(file.size(), part.align);
        if (i == Zeros) {
            part.offset = file.size();
            continue;
        }
        part.size = part.bytes.size();
        file.resize(part.offset);
        file += part.bytes;
    }
    file.resize(rounded_up(file.size(), 8));
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = object_.machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(header);
    header.e_shoff = file.size();
    header.e_ehsize = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = kSegments;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = kParts + 1;
    header.e_shstrndx = PartNames + 1;
    std::memcpy(file.data(), &header, sizeof(header));
    return file + headers();
}

Result<std::string> SharedLinker::link(const std::string& name) {
    LEMMA_TRY(find_functions());
    const auto is_math = [](const Function& import) { return !in_libc(import.name); };
    if (std::ranges::any_of(imports_, is_math)) needed_.push_back(names_.add("libm.so.6"));
    if (!imports_.empty()) needed_.push_back(names_.add("libc.so.6"));
    own_name_ = names_.add(name);
    for (Function& import : imports_) import.text = names_.add(import.name);
    for (Function& own : exports_) own.text = names_.add(own.name);
    place_sections();
    place_parts();
    write_symbols();
    write_hash();
    write_all_symbols();
    write_dynamic();
    LEMMA_TRY(write_stubs());
    LEMMA_TRY(relocate());
    return write_file();
}

}  // namespace

Result<std::string> link_shared(std::string_view object, const std::string& name) {
    LEMMA_TRY(ElfObject read, read_model_elf(object));
    return SharedLinker(std::move(read)).link(name);
}

}  // namespace lemma::codegen
