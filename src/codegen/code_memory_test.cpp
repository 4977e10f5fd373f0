// SPDX-License-Identifier: Apache-2.0
#include "codegen/code_memory.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "codegen/compiler.h"
#include "codegen/elf_object.h"

namespace lemma::codegen {
namespace {

// out[item] = sin(item * 0.3): an object with constants and a call of the C library.
loop::Function sines() {
    loop::Function f;
    loop::Builder build(f);
    f.name = "sines";
    f.item = build.var("item");
    f.items = 8;
    const loop::BufferId out = build.buffer("out", tensor::DType::F32, true);
    const loop::ExprId angle = build.make(
        loop::Op::Mul,
        {build.cast(build.index(f.item), loop::Kind::F32), build.real(0.3, loop::Kind::F32)});
    loop::Address place;
    place.add(f.item, 1);
    f.body.push_back({loop::StoreStmt{out, place, build.library("sin", {angle}), {}}});
    return f;
}

class CodeMemoryTest : public testing::Test {
protected:
    void SetUp() override {
        auto compiler = Compiler::create();
        ASSERT_TRUE(compiler) << compiler.error().message;
        auto made = (*compiler)->object(sines(), "sines");
        ASSERT_TRUE(made) << made.error().message;
        object_ = std::move(*made);
    }
    Result<void> link(CodeMemory& memory, std::string_view object) {
        const std::string_view objects[] = {object};
        return memory.add(objects);
    }

    std::string object_;
};

TEST_F(CodeMemoryTest, RunsWhatItLinks) {
    CodeMemory memory;
    const auto done = link(memory, object_);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(memory.find("cosines"), nullptr);
    const auto kernel = reinterpret_cast<runtime::KernelFunction>(memory.find("sines"));
    ASSERT_NE(kernel, nullptr);
    float out[8] = {};
    void* const buffers[] = {out};
    kernel(buffers, 2, 8);
    EXPECT_EQ(out[1], 0.0F);  // outside of the range of items
    for (int i = 2; i < 8; ++i) {
        EXPECT_EQ(out[i], std::sin(static_cast<float>(i) * 0.3F)) << i;
    }
}

#ifdef __x86_64__

// An object with near calls, as compilers make it: `root` only jumps to `sqrt`.
std::string near_object() {
    constexpr unsigned char kCode[] = {0xE9, 0, 0, 0, 0};
    const std::string names("\0root\0sqrt\0", 11);
    const std::string section_names("\0.text\0", 7);
    std::string file(sizeof(Elf64_Ehdr), '\0');
    std::vector<Elf64_Shdr> headers(1);
    const auto add = [&](Elf64_Shdr header, const void* bytes, size_t size) {
        header.sh_offset = file.size();
        header.sh_size = size;
        file.append(static_cast<const char*>(bytes), size);
        headers.push_back(header);
    };
    Elf64_Sym symbols[3] = {};
    symbols[1].st_name = 1;
    symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbols[1].st_shndx = 1;
    symbols[2].st_name = 6;
    symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    const Elf64_Rela relocation = {1, ELF64_R_INFO(2, R_X86_64_PLT32), -4};
    add({.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR},
        kCode,
        sizeof(kCode));
    add({.sh_type = SHT_SYMTAB, .sh_link = 3}, symbols, sizeof(symbols));
    add({.sh_type = SHT_STRTAB}, names.data(), names.size());
    add({.sh_type = SHT_RELA, .sh_link = 2, .sh_info = 1}, &relocation, sizeof(relocation));
    add({.sh_type = SHT_STRTAB}, section_names.data(), section_names.size());
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = 5;
    std::memcpy(file.data(), &header, sizeof(header));
    file.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
    return file;
}

// The C library is too far away for a near jump.
TEST_F(CodeMemoryTest, ReachesFarCodeFromNearCalls) {
    CodeMemory memory;
    const auto done = link(memory, near_object());
    ASSERT_TRUE(done) << done.error().message;
    const auto root = reinterpret_cast<double (*)(double)>(memory.find("root"));
    ASSERT_NE(root, nullptr);
    EXPECT_EQ(root(2.25), 1.5);
}

#endif

TEST_F(CodeMemoryTest, TakesAllObjectsOrNone) {
    CodeMemory memory;
    const std::string_view objects[] = {object_, "no object"};
    const auto done = memory.add(objects);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "a compiled object is damaged: it is too short");
    EXPECT_EQ(memory.find("sines"), nullptr);
}

TEST_F(CodeMemoryTest, MissesFunctionsThatAreNotThere) {
    const size_t name = object_.find(std::string("sinf\0", 5));
    ASSERT_NE(name, std::string::npos);
    object_.replace(name, 4, "sonf");
    CodeMemory memory;
    const auto done = link(memory, object_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "the function `sonf` is not there");
}

TEST_F(CodeMemoryTest, TakesNoObjectOfAnotherProcessor) {
    object_[offsetof(Elf64_Ehdr, e_machine)] = EM_MIPS;
    CodeMemory memory;
    const auto done = link(memory, object_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "a compiled object is damaged: it is for another processor");
}

// A small file whose sections claim the same bytes many times.
TEST_F(CodeMemoryTest, TakesEachByteOnce) {
    Elf64_Ehdr header{};
    std::memcpy(&header, object_.data(), sizeof(header));
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(
        sections.data(), object_.data() + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
    const auto loaded = std::ranges::find_if(
        sections, [](const Elf64_Shdr& s) { return (s.sh_flags & SHF_EXECINSTR) != 0; });
    ASSERT_NE(loaded, sections.end());
    Elf64_Shdr whole = *loaded;
    whole.sh_offset = 0;
    whole.sh_size = object_.size();
    sections.insert(sections.end(), 1000, whole);
    header.e_shoff = object_.size();
    header.e_shnum = static_cast<uint16_t>(sections.size());
    std::memcpy(object_.data(), &header, sizeof(header));
    object_.append(reinterpret_cast<const char*>(sections.data()),
                   sections.size() * sizeof(Elf64_Shdr));
    CodeMemory memory;
    const auto done = link(memory, object_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "a compiled object is damaged: section `.text`");
}

// Damages an object in every way: each length, and each byte of headers and tables. The result is
// an error or wrong code, but no access out of bounds (sanitizers watch).
TEST_F(CodeMemoryTest, StaysWithinDamagedObjects) {
    for (size_t bytes = 0; bytes < object_.size(); ++bytes) {
        const std::string cut = object_.substr(0, bytes);  // a copy, so that sanitizers see its end
        EXPECT_FALSE(read_elf(cut)) << bytes;
    }
    std::mt19937 random(1);
    size_t refused = 0;
    for (size_t i = 0; i < 20'000; ++i) {
        std::string changed = object_;
        changed[random() % changed.size()] = static_cast<char>(random());
        CodeMemory memory;
        refused += !link(memory, changed);
    }
    EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace lemma::codegen
