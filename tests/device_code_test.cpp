// SPDX-License-Identifier: Apache-2.0
// The texts of kernels for NVIDIA GPUs: no GPU is needed to make them.
#include <gtest/gtest.h>

#include "codegen/compiler.h"
#include "loop/plan/plan.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

// All kernels of the model for a device, one text behind the other.
using Types = std::function<void(ir::Program&)>;
std::string texts_of(
    const std::string& model,
    loop::Numerics numerics = loop::Numerics::Default,
    const Types& types = [](ir::Program&) {}) {
    const auto state =
        testing_support::load_text(model, testing_support::large_weight, ir::DType::F32, types);
    auto host = codegen::find_target("");
    if (!state || !host) return "no model or no target";
    const auto compiler =
        codegen::Compiler::create_for(codegen::device_target(*host), {.numerics = numerics});
    loop::PlanOptions options;
    options.verify = true;
    options.target = compiler->target();
    options.numerics = numerics;
    loop::Plan plan = loop::make_plan(state->program(), {}, options);
    std::vector<loop::ScheduledKernel*> kernels;
    for (loop::PlanStep& step : plan.steps) {
        if (step.kernel() && step.kernel()->function.group > 0) kernels.push_back(step.kernel());
    }
    const auto made = compiler->objects(kernels, 1);
    if (!made) return made.error().message;
    std::string result;
    for (const auto& [symbol, text] : made->objects) {
        EXPECT_TRUE(text.contains(".visible .entry " + symbol + "(")) << text;
        result += text;
    }
    return result;
}

TEST(DeviceCode, IsATextForTheDriver) {
    const std::string text = texts_of(R"(import math;
graph G {
    @input { x: real[40]; z: real[40]; }
    @output { y: real[40]; }
    @compose { a = math.mul(x, z); y = math.add(a, 1.0); }
})");
    for (const char* const part : {".version 7.0",
                                   ".target sm_80",
                                   ".address_size 64",
                                   ".maxntid 256",
                                   "%ctaid.x",
                                   "%tid.x",
                                   "ld.global.nc.f32",
                                   "mul.rn.f32",
                                   "add.rn.f32",  // never contracted to one rounding
                                   "st.global.f32"}) {
        EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
    }
    EXPECT_FALSE(text.contains("call")) << text;
    EXPECT_FALSE(text.contains(".local")) << text;
}

TEST(DeviceCode, GroupsShareMemoryAndMeet) {
    const std::string text = texts_of(R"(import math;
graph G {
    @input { x: real[3, 700]; }
    @output { y: real[3]; }
    @compose { y = math.sum_reduce{axes=[1], squeeze=true}(x); }
})");
    for (const char* const part : {".maxntid 128", "shfl.sync.bfly.b32"}) {
        EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
    }
    EXPECT_FALSE(text.contains("bar.sync")) << text;
    const std::string one = texts_of(R"(import math;
graph G {
    @input { x: real[3, 7000]; }
    @output { y: real[3]; }
    @compose { y = math.sum_reduce{axes=[1], squeeze=true}(x); }
})");
    for (const char* const part : {".maxntid 256",
                                   "shfl.sync.bfly.b32",
                                   ".shared .align 16 .b8 shared0[32]",
                                   "bar.sync",
                                   "st.shared.f32"}) {
        EXPECT_TRUE(one.contains(part)) << part << "\n" << one;
    }
}

// More memory than each device has for a group anyway is that of the launch.
TEST(DeviceCode, TilesOfLargeProductsTakeMemoryOfTheLaunch) {
    const std::string text = texts_of(R"(import linalg;
graph G {
    @input { a: real[4096, 512]; b: real[512, 4096]; }
    @output { y: real[4096, 4096]; }
    @compose { y = linalg.matmul(a, b); }
})");
    for (const char* const part :
         {".extern .shared .align 16 .b8 shared[]", "cp.async", "st.global.v4.f32"}) {
        EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
    }
    EXPECT_FALSE(text.contains(".local")) << text;
}

TEST(DeviceCode, GroupsAgreeAtABarrier) {
    const std::string text = texts_of(R"(
operator distances {
    @input { x: real[n, d]; y: real[m, d]; }
    @output { z: real[n, m]; }
    @lower { z[i, j] += (x[i, k] - y[j, k]) ** 2.0, i < n, j < m, k < d; }
}
graph G {
    @input { x: real[64, 64]; y: real[64, 64]; }
    @output { z: real[64, 64]; }
    @compose { z = distances(x, y); }
})");
    EXPECT_TRUE(text.contains("bar.red.or.pred")) << text;
}

// Neighbours are loaded and stored together. Indices have 32 bits: no quotient has 64.
TEST(DeviceCode, LoadsAndStoresVectors) {
    const std::string text = texts_of(R"(import math; import nn;
graph G {
    @input { x: real[7, 96, 64]; b: real[1, 96, 1]; }
    @output { y: real[7, 96, 64]; }
    @compose { a = math.add(x, b); y = nn.relu(a); }
})");
    for (const char* const part : {"ld.global.nc.v4.f32", "st.global.v4.f32"}) {
        EXPECT_TRUE(text.contains(part)) << part << "\n" << text;
    }
    EXPECT_FALSE(text.contains("div.s64")) << text;
    EXPECT_FALSE(text.contains("div.u64")) << text;
    EXPECT_FALSE(text.contains("mul.hi.s64")) << text;
    EXPECT_FALSE(text.contains("mul.hi.u64")) << text;
}

// All types: 16 bytes at once.
TEST(DeviceCode, VectorsOfAllTypes) {
    using tensor::DType;
    auto host = codegen::find_target("");
    ASSERT_TRUE(host);
    const auto compiler = codegen::Compiler::create_for(codegen::device_target(*host), {});
    for (const DType dtype :
         {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::U8}) {
        loop::ScheduledKernel kernel;
        loop::Function& f = kernel.function;
        loop::Builder build(f);
        f.item = build.var("item");
        f.items = 1000;
        f.group = 256;
        const auto from = build.buffer("from", dtype, false);
        const auto to = build.buffer("to", dtype, true);
        const auto lanes = static_cast<uint16_t>(16 / tensor::dtype_size(dtype));
        loop::Address at;
        at.add(f.item, lanes);
        const loop::ExprId x = build.load(from, at, lanes);
        f.body.push_back({loop::StoreStmt{to, at, build.make(loop::Op::Add, {x, x}), {}}});
        kernel.arguments.resize(2);
        std::vector<loop::ScheduledKernel*> kernels = {&kernel};
        const auto made = compiler->objects(kernels, 1);
        ASSERT_TRUE(made) << made.error().message;
        const std::string text = made->objects.begin()->second;
        const char* const width = dtype == DType::F64 ? ".v2" : ".v4";
        EXPECT_TRUE(text.contains(std::string("ld.global.nc") + width)) << text;
        EXPECT_TRUE(text.contains(std::string("st.global") + width)) << text;
    }
}

// A row goes from its loads to its stores in registers.
TEST(DeviceCode, RowsStayInRegisters) {
    const std::string text = texts_of(R"(import nn;
graph G {
    @input { x: real[600, 512]; }
    @output { y: real[600, 512]; }
    @compose { y = nn.softmax{axes=[1]}(x); }
})");
    const auto count = [&](const char* part) {
        int found = 0;
        for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("ld.global.nc.v4.f32"), 4) << text;
    EXPECT_EQ(count("st.global.v4.f32"), 4) << text;
    EXPECT_EQ(count(".entry"), 1) << text;
    EXPECT_FALSE(text.contains("bar.sync")) << text;
    EXPECT_FALSE(text.contains(".local")) << text;
}

// Operands go to memory of the group while products are added.
TEST(DeviceCode, ProductsOfMatrices) {
    const std::string model = R"(import linalg; import nn;
graph G {
    @input { a: real[256, 64]; }
    @output { y: real[256, 128]; }
    @variable { w: real[64, 128]; }
    @compose { p = linalg.matmul(a, w); y = nn.relu(p); }
})";
    const std::string exact = texts_of(model);
    for (const char* const part : {"cp.async.cg.shared.global",
                                   "cp.async.commit_group",
                                   "cp.async.wait_group",
                                   "bar.sync",
                                   "ld.shared.v4.f32",
                                   "fma.rn.f32"}) {
        EXPECT_TRUE(exact.contains(part)) << part << "\n" << exact;
    }
    EXPECT_FALSE(exact.contains("mma")) << exact;
    const std::string fast = texts_of(model, loop::Numerics::Fast);
    for (const char* const part :
         {"cvt.rna.tf32.f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32"}) {
        EXPECT_TRUE(fast.contains(part)) << part << "\n" << fast;
    }
    for (const std::string& text : {exact, fast}) EXPECT_FALSE(text.contains(".local")) << text;
}

TEST(DeviceCode, ProductsOfBytes) {
    using ir::DType;
    const struct {
        DType x, f;
        const char* text;
    } cases[] = {{DType::U8, DType::I8, "s32.u8.s8.s32"},
                 {DType::I8, DType::I8, "s32.s8.s8.s32"},
                 {DType::U8, DType::U8, "s32.u8.u8.s32"},
                 {DType::I8, DType::U8, "s32.s8.u8.s32"}};
    for (const auto& [x, f, text] : cases) {
        const std::string all = texts_of(R"(
operator product {
    @input { x: int[m, k]; f: int[k, n]; }
    @output { y: int[m, n]; }
    @lower { y[i, j] = 0, i < m, j < n; y[i, j] += x[i, t] * f[t, j], i < m, j < n, t < k; }
}
graph G {
    @input { x: int[64, 128]; f: int[128, 96]; }
    @output { y: int[64, 96]; }
    @compose { y = product(x, f); }
})",
                                         loop::Numerics::Default,
                                         testing_support::with_types(x, f, DType::I32));
        EXPECT_TRUE(all.contains(std::string("mma.sync.aligned.m16n8k32.row.col.") + text)) << all;
        EXPECT_TRUE(all.contains("cp.async.cg.shared.global")) << all;
        EXPECT_FALSE(all.contains(".local")) << all;
    }
}

// Doubles in between: LLVM crashed on vectors of them.
TEST(DeviceCode, StrictBytes) {
    const std::string text =
        texts_of(R"(
operator rounded {
    @input { x: real[n]; }
    @output { y: int[n]; }
    @lower { y[i,] = int((x[i,] >> 0.0) << 255.0), i < n; }
}
graph G { @input { x: real[4194304]; } @output { y: int[4194304]; } @compose { y = rounded(x); } })",
                 loop::Numerics::Strict,
                 testing_support::with_types(ir::DType::F32, ir::DType::F32, ir::DType::U8));
    EXPECT_TRUE(text.contains("ld.global.nc.v4.f32")) << text;
    EXPECT_TRUE(text.contains("cvt.f64.f32")) << text;
    EXPECT_TRUE(text.contains("st.global.v2")) << text;
}

// Functions of reals are our own, without a library; roots and quotients are rounded once.
TEST(DeviceCode, NeedsNoLibrary) {
    const std::string text = texts_of(R"(import math; import nn; import layout;
graph G {
    @input { x: real[40]; h: real[40]; }
    @output { a: real[40]; b: real[40]; c: real[40]; d: int[40]; f: real[40]; }
    @compose {
        s = math.sqrt(x);
        e = math.exp(s);
        t = math.tanh(e);
        a = math.div(t, h);
        l = math.log(x);
        b = math.pow(l, h);
        c = nn.gelu(x);
        r = math.round(x);
        d = layout.cast<int>(r);
        f = math.sin(x);
    }
})");
    EXPECT_TRUE(text.contains("sqrt.rn.f32")) << text;
    EXPECT_TRUE(text.contains("div.rn.f32")) << text;
    EXPECT_FALSE(text.contains(".extern")) << text;
    EXPECT_FALSE(text.contains("ex2.approx")) << text;
}

}  // namespace
}  // namespace lemma
