// SPDX-License-Identifier: Apache-2.0
#include "codegen/elf_object.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "codegen/relocation.h"

namespace lemma::codegen {

namespace {

constexpr uint64_t kMostAlign = 4096;
constexpr uint64_t kMostSize = uint64_t{1} << 31;  // code reaches no further
constexpr size_t kMostName = 4096;

std::unexpected<Error> bad(std::string_view what) {
    return std::unexpected(Error{fmt::format("a compiled object is damaged: {}", what)});
}

// A part of the file; empty if it is not inside.
std::optional<std::string_view> part(std::string_view file, uint64_t offset, uint64_t bytes) {
    if (offset > file.size() || bytes > file.size() - offset) return std::nullopt;
    return file.substr(offset, bytes);
}

template <class T>
std::optional<std::vector<T>> records(std::optional<std::string_view> bytes) {
    if (!bytes || bytes->size() % sizeof(T) != 0) return std::nullopt;
    std::vector<T> result(bytes->size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), bytes->data(), bytes->size());
    return result;
}

std::optional<std::string_view> text_at(std::string_view table, uint64_t offset) {
    if (offset >= table.size()) return std::nullopt;
    // Names may share one long text; the limit keeps each look-up short.
    const std::string_view rest = table.substr(offset, kMostName);
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    return rest.substr(0, end);
}

class ElfReader {
public:
    ElfReader(std::string_view file, bool model) : file_(file), model_(model) {}

    Result<ElfObject> read();

private:
    Result<void> read_headers();
    Result<void> read_section(const Elf64_Shdr& header);
    Result<void> read_symbols(const Elf64_Shdr& header);
    Result<void> read_relocations(const Elf64_Shdr& header);
    Result<void> check_relocation(const Elf64_Rela& item, const ElfSection& section) const;
    std::optional<std::string_view> bytes_of(const Elf64_Shdr& header) const {
        return part(file_, header.sh_offset, header.sh_size);
    }
    // Kept parts do not overlap, so a small file cannot claim much memory.
    bool take(uint64_t bytes) {
        taken_ += bytes;
        return taken_ <= file_.size();
    }

    std::string_view file_;
    bool model_;
    std::vector<Elf64_Shdr> headers_;
    std::string_view section_names_;
    uint64_t taken_ = 0;
    bool has_symbols_ = false;
    ElfObject object_;
};

Result<void> ElfReader::read_headers() {
    const auto head = records<Elf64_Ehdr>(part(file_, 0, sizeof(Elf64_Ehdr)));
    if (!head) return bad("it is too short");
    const Elf64_Ehdr& header = head->front();
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr)) {
        return bad("it is no object file");
    }
    object_.machine = header.e_machine;
    const bool ours = object_.machine == EM_X86_64 || object_.machine == EM_AARCH64;
    if (model_ ? !ours : object_.machine != elf_machine()) {
        return bad("it is for another processor");
    }
    auto sections = records<Elf64_Shdr>(
        part(file_, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
    if (!sections || header.e_shstrndx >= sections->size()) return bad("its sections");
    headers_ = std::move(*sections);
    const auto names = bytes_of(headers_[header.e_shstrndx]);
    if (!names) return bad("the names of its sections");
    section_names_ = *names;
    return {};
}

Result<void> ElfReader::read_section(const Elf64_Shdr& header) {
    ElfSection section;
    const auto name = text_at(section_names_, header.sh_name);
    if (!name) return bad("the name of a section");
    // Kernels throw nothing, so unwind tables are not needed.
    section.loaded = (header.sh_flags & SHF_ALLOC) != 0 && *name != ".eh_frame";
    if (section.loaded) {
        section.zeros = model_ && header.sh_type == SHT_NOBITS;
        const bool writable = (header.sh_flags & (SHF_WRITE | SHF_TLS)) != 0;
        if (!section.zeros && (header.sh_type != SHT_PROGBITS || writable)) {
            return bad(fmt::format("`{}` is neither code nor constants", *name));
        }
        section.code = !section.zeros && (header.sh_flags & SHF_EXECINSTR) != 0;
        section.align = std::max<uint64_t>(header.sh_addralign, 1);
        section.size = header.sh_size;
        const auto bytes = section.zeros ? std::optional(std::string_view()) : bytes_of(header);
        const bool power = (section.align & (section.align - 1)) == 0;
        if (!bytes || !power || section.align > kMostAlign || section.size > kMostSize ||
            !take(bytes->size())) {
            return bad(fmt::format("section `{}`", *name));
        }
        section.bytes = *bytes;
    }
    object_.sections.push_back(section);
    return {};
}

Result<void> ElfReader::read_symbols(const Elf64_Shdr& header) {
    if (has_symbols_) return bad("two tables of symbols");
    has_symbols_ = true;
    auto symbols = records<Elf64_Sym>(bytes_of(header));
    if (!symbols || header.sh_link >= headers_.size()) return bad("its symbols");
    const auto names = bytes_of(headers_[header.sh_link]);
    if (!names) return bad("the names of its symbols");
    for (const Elf64_Sym& symbol : *symbols) {
        const auto name = text_at(*names, symbol.st_name);
        if (!name) return bad("the name of a symbol");
        const uint32_t section = symbol.st_shndx;
        if (section < SHN_LORESERVE) {
            if (section >= object_.sections.size()) return bad("the section of a symbol");
            if (symbol.st_value > object_.sections[section].size) {
                return bad(fmt::format("the place of `{}`", *name));
            }
        } else if (section != SHN_ABS) {
            return bad(fmt::format("the kind of `{}`", *name));
        }
        object_.names.push_back(*name);
    }
    object_.symbols = std::move(*symbols);
    return {};
}

Result<void> ElfReader::check_relocation(const Elf64_Rela& item, const ElfSection& section) const {
    if (ELF64_R_SYM(item.r_info) >= object_.symbols.size()) return bad("a relocation's symbol");
    const uint64_t bytes =
        relocated_bytes(object_.machine, static_cast<uint32_t>(ELF64_R_TYPE(item.r_info)));
    if (item.r_offset > section.bytes.size() || bytes > section.bytes.size() - item.r_offset) {
        return bad("a relocation's place");
    }
    return {};
}

Result<void> ElfReader::read_relocations(const Elf64_Shdr& header) {
    if (header.sh_info >= object_.sections.size()) return bad("what relocations are for");
    const ElfSection& section = object_.sections[header.sh_info];
    if (!section.loaded) return {};
    const auto bytes = bytes_of(header);
    if (!bytes || !take(bytes->size())) return bad("its relocations");
    auto items = records<Elf64_Rela>(bytes);
    if (!items) return bad("its relocations");
    for (const Elf64_Rela& item : *items) {
        LEMMA_TRY(check_relocation(item, section));
    }
    object_.relocations.push_back({header.sh_info, std::move(*items)});
    return {};
}

Result<ElfObject> ElfReader::read() {
    LEMMA_TRY(read_headers());
    // Symbols are in sections, and relocations use symbols.
    for (const Elf64_Shdr& header : headers_) {
        LEMMA_TRY(read_section(header));
    }
    for (const Elf64_Shdr& header : headers_) {
        if (header.sh_type != SHT_SYMTAB) continue;
        LEMMA_TRY(read_symbols(header));
    }
    for (const Elf64_Shdr& header : headers_) {
        if (header.sh_type == SHT_REL) return bad("relocations of an old kind");
        if (header.sh_type != SHT_RELA) continue;
        LEMMA_TRY(read_relocations(header));
    }
    return std::move(object_);
}

}  // namespace

uint16_t elf_machine() {
#if defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_X86_64;
#endif
}

Result<ElfObject> read_elf(std::string_view file) { return ElfReader(file, false).read(); }

Result<ElfObject> read_model_elf(std::string_view file) { return ElfReader(file, true).read(); }

}  // namespace lemma::codegen
