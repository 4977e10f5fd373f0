// SPDX-License-Identifier: Apache-2.0
// Certified C, compiled and run, against the interpreter: every bit is the same.
#include "emit/c_program.h"
#include "onnx/import.h"
#include "sonnx/cases.h"

namespace lemma {

namespace {

using driver::Outcome;
using namespace emit::test;
using onnx::test::model_bytes;
using onnx::test::TestGraph;
using sonnx::test::ReferenceCase;

// ---- ONNX ---------------------------------------------------------------------------------------

class Certified : public testing::TestWithParam<ReferenceCase> {
protected:
    Certified() : folder_("certified"), model_(folder_ / "m.onnx") {
        write(model_, model_bytes(GetParam().graph));
    }
    TemporaryFolder folder_;
    std::string model_;
};

TEST_P(Certified, AgreesWithTheInterpreterBitForBit) {
    const Outcome written = lemma_command({"compile", model_, "-o", folder_ / "c"});
    ASSERT_EQ(written.status, model::kGood) << written.err;
    build(folder_.path() / "c");
    expect_same_bits(model_, folder_.path() / "c", folder_);
}

TEST_P(Certified, IsTheSameEveryTime) {
    for (const char* command : {"compile", "reference"})
        ASSERT_EQ(lemma_command({command, model_, "-o", folder_ / command}).status, model::kGood);
    for (const auto& file : fs::directory_iterator(folder_.path() / "compile")) {
        const fs::path name = file.path().filename();
        EXPECT_EQ(read(file.path()), read(folder_.path() / "reference" / name)) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         Certified,
                         testing::ValuesIn(sonnx::test::reference_cases()),
                         [](const auto& each) { return each.param.name; });

TEST(CertifiedText, NamesStayNames) {
    TestGraph graph;
    graph.inputs = {{"a*/\nint evil;", {2}}, {"a*/\nint_evil;", {2}}};
    graph.outputs = {{"\?\?/\n#error", {2}}};
    graph.nodes = {{"Add", {graph.inputs[0].name, graph.inputs[1].name}, {graph.outputs[0].name}}};
    const TemporaryFolder folder("names");
    write(folder / "m.onnx", model_bytes(graph));
    const Outcome written = lemma_command({"compile", folder / "m.onnx", "-o", folder / "c"});
    ASSERT_EQ(written.status, model::kGood) << written.err;
    for (const char* file : {"model.c", "model.h", "main.c"}) {
        const std::string text = read(folder.path() / "c" / file);
        for (const char* part : {"int evil;", "\?\?", "\n#error"}) {
            EXPECT_EQ(text.find(part), std::string::npos) << text;
        }
    }
    // Both names become the same letters, and get different suffixes.
    const std::string header = read(folder / "c/model.h");
    EXPECT_NE(header.find("t_a___int_evil_[2];"), std::string::npos) << header;
    EXPECT_NE(header.find("t_a___int_evil__2[2];"), std::string::npos) << header;
    build(folder.path() / "c");
}

// ---- SkriptND -----------------------------------------------------------------------------------

struct Model {
    std::string name;
    std::string text;
    std::vector<std::string> options = {};
    int64_t below = 0;  // of integer inputs
};

class CertifiedModel : public testing::TestWithParam<Model> {};

TEST_P(CertifiedModel, AgreesWithTheInterpreterBitForBit) {
    const TemporaryFolder folder("certified");
    const std::string model = folder / "m.sknd";
    write(model, GetParam().text);
    std::vector<std::string> compile = {"compile", model, "-o", folder / "c"};
    compile.insert(compile.end(), GetParam().options.begin(), GetParam().options.end());
    const Outcome written = lemma_command(compile);
    ASSERT_EQ(written.status, model::kGood) << written.err;
    build(folder.path() / "c");
    expect_same_bits(model, folder.path() / "c", folder, GetParam().options, GetParam().below);
}

std::string graph(const std::string& inputs,
                  const std::string& outputs,
                  const std::string& compose,
                  const std::string& more = {}) {
    return fmt::format(
        "import math; import nn; import layout; import layer;\n"
        "graph G {{ @input {{ {} }} @output {{ {} }} {} @compose {{ {} }} }}\n",
        inputs,
        outputs,
        more,
        compose);
}

std::vector<Model> models() {
    const std::vector<std::string> weights = {"--random-weights=1"};
    return {
        {"Map",
         graph("x: real[2,3]; s: real[1,3];",
               "y: real[2,3];",
               "a = math.mul(x, s); b = math.exp(a); c = math.div(b, x); y = math.max(c, s);")},
        {"Ones", graph("x: real[1,1,1];", "y: real[1,1,1];", "y = nn.softmax{axes=[2]}(x);")},
        {"Scalars", graph("x: real[];", "y: real[];", "y = math.tanh(x);")},
        {"Empty",
         graph(
             "x: real[0,3]; z: real[2];",
             "y: real[0,3]; s: real[3]; t: real[2];",
             "y = math.neg(x); s = math.sum_reduce{axes=[0], squeeze=true}(x); t = math.neg(z);")},
        {"NotFinite",
         graph("x: real[4];",
               "y: real[4]; z: real[4];",
               "y = math.mul(x, c); z = math.max(x, c);",
               "@constant { c: real[4] = [1e-40, inf, -inf, -0.0]; }")},
        {"Softmax", graph("x: real[3,5];", "y: real[3,5];", "y = nn.softmax{axes=[1]}(x);")},
        {"Norm", graph("x: real[2,3,4];", "y: real[2,3,4];", "y = nn.l2_norm{axes=[1]}(x);")},
        {"Convolution",
         graph("x: real[1,4,6,5];",
               "y: real[1,6,3,3]; z: real[1,4,13,12];",
               "y = nn.conv{stride=[2,2], padding=[1,1,1,1], groups=2}(x, w, b);"
               "z = nn.deconv{stride=[2,2], padding=[0,0,0,0]}(x, v);",
               "@variable { w: real[6,2,3,3]; b: real[6]; v: real[4,4,3,4]; }"),
         weights},
        {"Pools",
         graph("x: real[1,2,6,5];",
               "y: real[1,2,3,3]; z: real[1,2,3,3];",
               "y = nn.max_pool{size=[3,3], stride=[2,2], padding=[1,1,1,1]}(x);"
               "z = nn.avg_pool{size=[3,3], stride=[2,2], padding=[1,1,1,1]}(x);")},
        {"Layout",
         graph("x: real[2,6]; z: real[2,1];",
               "y: real[3,4]; c: real[2,7]; t: real[6,2]; p: real[4,9]; s: real[2,2];",
               "y = layout.reshape{shape=[3,4]}(x); c = layout.concat{axis=1}([x, z]);"
               "t = layout.transpose{perm=[1,0]}(x);"
               "p = layout.pad{padding=[1,1,1,2], method='REPLICATE'}(x);"
               "s = layout.slice{axes=[1], begin=[1], end=[5], stride=[2]}(x);")},
        {"Integers",
         graph("x: int[5]; y: int[5];",
               "a: int[5]; b: int[5]; c: int[5]; d: bool[5];",
               "a = math.mul(x, y); b = math.div(x, y); c = math.mod(x, y); d = math.lt(x, y);")},
        {"Gather",
         graph("x: real[4,3]; at: int[2];", "y: real[2,3];", "y = layout.gather{axis=0}(x, at);"),
         {},
         4},
        {"Scatter",
         graph("x: real[4]; at: int[3]; u: real[3];",
               "y: real[4];",
               "y = layout.scatter{axis=0}(x, at, u);"),
         {},
         4},
        {"Half",
         graph("x: real[2,3];", "y: real[2,3];", "y = nn.softmax{axes=[1]}(x);"),
         {"--real=f16"}},
        {"BrainHalf",
         graph("x: real[2,3];", "y: real[2];", "y = math.sum_reduce{axes=[1], squeeze=true}(x);"),
         {"--real=bf16"}},
        {"Double",
         graph("x: real[2,3];", "y: real[2];", "y = math.sum_reduce{axes=[1], squeeze=true}(x);"),
         {"--real=f64"}},
        {"State",
         graph("x: real[2];",
               "y: real[2];",
               "y = math.add(sum, x);",
               "@variable { sum: real[2]; last: real[2]; }"
               "@update { sum = y; last = sum; }"),
         weights},
        {"UnrolledLoop",
         graph("x: real[2];",
               "y: real[2];",
               "y = with s = x do..(3) { t = math.mul(s, 1.5); yield t; };")},
        {"UnrolledLoopWithIndices",
         "import math;\n"
         "operator pick { @input { x: int[n]; s: int[]; } @output { y: int[n]; }"
         " @lower { y[i,] = (x[x[(i + s[]) % n,],] + s[]) % n, i < n; } }\n"
         "graph G { @input { x: int[6]; } @output { y: int[6]; } @compose { p = math.mod(x, 6);"
         " q = math.abs(p); y = with m = q do..(k -> 3) { t = pick(m, k); yield t; }; } }\n"},
        {"LoopThatEnds",
         graph("x: real[2];",
               "y: real[2];",
               "y, ~ = with s = x, small = true while small do..(40) {"
               "  t = math.mul(s, 3.0); a = math.abs(t);"
               "  largest = math.max_reduce{squeeze=true}(a);"
               "  small = math.lt(largest, 100.0); yield t, small; };")},
        {"LoopWithoutBound",
         graph("x: real[2];",
               "y: real[2];",
               "y, ~ = with s = x, small = true while small do {"
               "  t = math.mul(s, 3.0); a = math.abs(t); b = math.max(a, 1.0);"
               "  largest = math.max_reduce{squeeze=true}(b);"
               "  small = math.lt(largest, 100.0); yield b, small; };")},
        {"TopK",
         "import algo;\ngraph G { @input { x: real[3,7]; } @output { v: real[3,4]; i: int[3,4];"
         " w: real[2,7]; j: int[2,7]; } @compose { v, i = algo.top_k{k=4, axis=1}(x);"
         " w, j = algo.top_k{k=2, axis=0, largest=false, sorted=false}(x); } }\n"},
        {"SoftmaxInFloat",
         graph("x: real[3,5];", "y: real[3,5];", "y = nn.softmax{axes=[1]}(x);"),
         {"--accumulate=f32"}},
        {"NormInFloat",
         graph("x: real[2,3,4];", "y: real[2,3,4];", "y = nn.l2_norm{axes=[1]}(x);"),
         {"--accumulate=f32"}},
        {"SumInFloat",
         graph("x: real[3,144];",
               "y: real[3]; z: real[3];",
               "y = math.sum_reduce{axes=[1], squeeze=true}(x);"
               "z = math.mean_reduce{axes=[1], squeeze=true}(x);"),
         {"--accumulate=f32"}},
        {"ConvolutionInFloat",
         graph("x: real[1,4,6,5];",
               "y: real[1,6,3,3];",
               "y = nn.conv{stride=[2,2], padding=[1,1,1,1], groups=2}(x, w, b);",
               "@variable { w: real[6,2,3,3]; b: real[6]; }"),
         {"--random-weights=1", "--accumulate=f32"}},
        {"HalfInFloat",
         graph("x: real[2,3];", "y: real[2,3];", "y = nn.softmax{axes=[1]}(x);"),
         {"--real=f16", "--accumulate=f32"}},
        {"Branch",
         graph("x: real[2];",
               "y: real[2];",
               "best = math.max_reduce{squeeze=true}(x); positive = math.gt(best, 0.0);"
               "y = if positive then x else { n = math.neg(x); yield n; };")},
    };
}

INSTANTIATE_TEST_SUITE_P(Models, CertifiedModel, testing::ValuesIn(models()), [](const auto& each) {
    return each.param.name;
});

TEST(CertifiedRun, SaysThatAnIndexIsOutside) {
    const TemporaryFolder folder("outside");
    const std::string model = folder / "m.sknd";
    write(model,
          graph("x: real[4]; at: int[2];", "y: real[2];", "y = layout.gather{axis=0}(x, at);"));
    ASSERT_EQ(lemma_command({"compile", model, "-o", folder / "c"}).status, model::kGood);
    build(folder.path() / "c");
    const auto run = [&](int64_t index) {
        auto at = tensor::Tensor::zeros(tensor::DType::I64, {2});
        at->set_integer(1, index);
        write(folder / "c/t_at.bin", bytes_of(*at));
        write(folder / "c/t_x.bin", std::string(16, '\0'));
        return std::system(fmt::format("cd {} && ./run 2>/dev/null", folder / "c").c_str());
    };
    EXPECT_EQ(run(3), 0);
    EXPECT_NE(run(4), 0);
    EXPECT_NE(run(-1), 0);
}

}  // namespace

}  // namespace lemma
