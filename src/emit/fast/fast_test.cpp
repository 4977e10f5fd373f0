// SPDX-License-Identifier: Apache-2.0
#include "emit/fast/fast.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "emit/fast/kernel.h"

namespace lemma::emit {
namespace {

using loop::FrozenMemory;
using loop::FrozenPlan;

const std::string& file(const std::vector<CFile>& files, const std::string& name) {
    const auto found = std::ranges::find(files, name, &CFile::name);
    EXPECT_NE(found, files.end()) << name;
    return found->text;
}

// The bytes of the string literals after a name.
std::string bytes_after(const std::string& text, const std::string& name) {
    std::string bytes;
    bool inside = false;
    for (size_t i =
             text.find("] __attribute__", text.find("const unsigned char " + name + "[", 99));
         i < text.size() && (inside || text[i] != ';');
         ++i) {
        if (text[i] == '"') {
            inside = !inside;
        } else if (inside && text[i] == '\\') {
            int value = 0;
            for (int digits = 0; digits < 3 && text[i + 1] >= '0' && text[i + 1] <= '7'; ++digits) {
                value = value * 8 + (text[++i] - '0');
            }
            bytes += static_cast<char>(value);
        } else if (inside) {
            bytes += text[i];
        }
    }
    return bytes;
}

TEST(FastC, KeepsEveryByteOfTheConstants) {
    std::string bytes;
    for (int a = 0; a < 256; ++a) {
        for (const char b : {'0', '7', '8', '?', '"', '\\', 'x', '\0'}) {
            bytes += static_cast<char>(a);
            bytes += b;
        }
    }
    FrozenPlan plan;
    plan.constants = bytes;
    const auto files = write_fast(plan, {.name = "net", .origin = "test"});
    EXPECT_TRUE(bytes_after(file(files, "weights.c"), "net_weights") == bytes);
}

TEST(FastC, MakesIdentifiersOfHostileNames) {
    FrozenPlan plan;
    for (const char* const name : {"a b", "a_b", "a\nb", "int", "*/ evil", "\"; }", "", "\xff"}) {
        plan.inputs.push_back({name, tensor::DType::F32, {1}, 4});
        plan.outputs.push_back({name, tensor::DType::I8, {}, 1});
    }
    const FastNames names = fast_names(plan);
    std::set<std::string> all(names.inputs.begin(), names.inputs.end());
    all.insert(names.outputs.begin(), names.outputs.end());
    EXPECT_EQ(all.size(), 16);
    for (const std::string& name : all) {
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_"),
                  std::string::npos)
            << name;
    }
    const std::string header = fast_header(plan, {.name = "net", .origin = "test"});
    EXPECT_EQ(header.find("*/ evil"), std::string::npos);
    EXPECT_EQ(header.find("\"; }"), std::string::npos);
}

TEST(FastC, PrintsOnlyTheOperationsThatKernelsUse) {
    loop::Function f;
    loop::Builder build(f);
    f.item = build.var("item");
    f.items = 4;
    const auto from = build.buffer("from", tensor::DType::F32, false);
    const auto to = build.buffer("to", tensor::DType::F32, true);
    loop::Address at;
    at.add(f.item, 8);
    const auto x = build.load(from, at, 8);
    const auto y = build.make(loop::Op::Fma, {x, x, x});
    f.body.push_back({loop::StoreStmt{to, at, y, {}}});
    VectorSupport support(FastTarget::Avx2, true);
    const std::string text = print_kernel(f, "square", support);
    EXPECT_NE(text.find("static void square(void* const* p, int64_t begin, int64_t end) {"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("lm_fma_f32x8(v0, v0, v0)"), std::string::npos) << text;
    EXPECT_NE(support.definitions().find("_mm256_fmadd_ps"), std::string::npos);
    EXPECT_EQ(support.definitions().find("lm_max"), std::string::npos);
    const std::string before = support.definitions();
    print_kernel(f, "again", support);
    EXPECT_EQ(support.definitions(), before);
}

TEST(FastC, RoundsTwiceWithoutFusedMultiplyAdd) {
    VectorSupport support(FastTarget::Generic, false);
    support.arithmetic(loop::Op::Fma, {loop::Kind::F32, 4});
    EXPECT_NE(support.definitions().find("return a * b + c;"), std::string::npos);
}

}  // namespace
}  // namespace lemma::emit
