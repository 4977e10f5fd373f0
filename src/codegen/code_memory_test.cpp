#include "codegen/code_memory.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "codegen/compiler.h"
#include "codegen/elf_object.h"

namespace lemma::codegen {
namespace {

// out[item] = sin(item * 0.3): constants of its own, and a function of the C library.
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
    f.body.push_back({loop::Store{out, place, build.library("sin", {angle}), {}}});
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
    EXPECT_EQ(out[1], 0.0F);  // not asked for
    for (int i = 2; i < 8; ++i) {
        EXPECT_EQ(out[i], std::sin(static_cast<float>(i) * 0.3F)) << i;
    }
}

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

// Every length, and changes at every byte of the headers and tables: an error or code, which may be
// wrong, but nothing is read or written where it should not be (sanitizers watch).
TEST_F(CodeMemoryTest, StaysWithinDamagedObjects) {
    for (size_t bytes = 0; bytes < object_.size(); ++bytes) {
        const std::string cut = object_.substr(0, bytes);  // of its own, so that its end is seen
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
