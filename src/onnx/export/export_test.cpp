// SPDX-License-Identifier: Apache-2.0
#include "onnx/export.h"
#include "tensor/files/mapped_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/unique_names.h"
#include "diag/source.h"
#include "ir/text/read.h"
#include "onnx/read.h"
#include "onnx/write.h"

namespace lemma::onnx {
namespace {

// An unrolled loop has thousands of tensors with one name.
TEST(UniqueNames, OneNameAgainAndAgainTakesOneTryEach) {
    UniqueNames names;
    EXPECT_TRUE(names.take("t_3"));
    EXPECT_EQ(names.make("t"), "t");
    EXPECT_EQ(names.make("t"), "t_2");
    EXPECT_EQ(names.make("t"), "t_4");
    constexpr size_t kMany = 10'000;
    for (size_t i = 0; i < kMany; ++i) names.make("t");
    EXPECT_EQ(names.tries(), kMany + 3);
    EXPECT_FALSE(names.take("t_10004"));
}

class Export : public testing::Test {
protected:
    // A program in the form of docs/language/ir.md; its operations have no parts.
    std::optional<Model> write(const std::string& text, int64_t opset = 0) {
        const diag::FileId file = sources_.add("test.ir", text);
        const auto program = ir::read_program(sources_, file, diag_);
        EXPECT_FALSE(diag_.has_errors()) << message();
        if (!program) return std::nullopt;
        auto model = export_model(*program, {.opset = opset, .data = {}}, diag_);
        EXPECT_TRUE(model.has_value());
        return model ? std::move(*model) : std::nullopt;
    }
    std::string message() const { return diag_.items().empty() ? "" : diag_.items()[0].message; }
    static std::vector<std::string> ops(const Graph& graph) {
        std::vector<std::string> names;
        for (const Node& node : graph.nodes) names.push_back(node.op);
        return names;
    }
    static std::vector<int64_t> ints_of(const Graph& graph, const std::string& name) {
        for (const TensorData& data : graph.initializers) {
            if (data.proto.name != name) continue;
            const auto tensor = tensor::decode_elements(data.proto);
            std::vector<int64_t> items;
            for (int64_t i = 0; tensor && i < tensor->size(); ++i)
                items.push_back(tensor->integer(i));
            return items;
        }
        return {-99};
    }

    diag::SourceMap sources_;
    Diagnostics diag_;
};

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;

TEST_F(Export, MakesInputsOfAttributesThatAreInputsInOnnx) {
    const auto model = write(R"(program G
input %x: f32[1, 3]
graph G (x = %x) {
    output %y: f32[3] = onnx.shape.Squeeze {axes = [0]} (data = %x) intrinsic
    yield y = %y
})");
    ASSERT_TRUE(model);
    const Graph& graph = model->graphs[model->main];
    ASSERT_EQ(ops(graph), Strings{"Squeeze"});
    ASSERT_EQ(graph.nodes[0].inputs.size(), 2u);
    EXPECT_EQ(graph.nodes[0].inputs[0], "x");
    EXPECT_EQ(ints_of(graph, graph.nodes[0].inputs[1]), Ints{0});
    EXPECT_EQ(graph.nodes[0].outputs, Strings{"y"});
    EXPECT_EQ(model->opsets[0].version, kOldestWritten);
    const auto again = read_model(tensor::share(write_model(*model)));
    EXPECT_TRUE(again.has_value());
}

constexpr const char* kMaximum = R"(program G
input %x: f32[2, 3]
graph G (x = %x) {
    reduced %y: f32[2] = onnx.reduction.ReduceMax {axes = [1], keepdims = 0, noop_with_empty_axes = 0} (data = %x) intrinsic
    yield y = %y
})";

TEST_F(Export, HasTheFormOfTheOperatorSet) {
    const auto old = write(kMaximum);
    ASSERT_TRUE(old);
    const Node& before = old->graphs[old->main].nodes[0];
    EXPECT_EQ(before.inputs, Strings{"x"});
    ASSERT_TRUE(find_attribute(before, "axes"));
    EXPECT_EQ(find_attribute(before, "axes")->ints, Ints{1});
    EXPECT_FALSE(find_attribute(before, "noop_with_empty_axes"));

    const auto recent = write(kMaximum, 18);
    ASSERT_TRUE(recent);
    const Node& after = recent->graphs[recent->main].nodes[0];
    EXPECT_EQ(after.inputs.size(), 2u);
    EXPECT_FALSE(find_attribute(after, "axes"));
    EXPECT_EQ(recent->opsets[0].version, 18);
}

constexpr const char* kNormal = R"(program G
input %x: f32[2, 3]
input %s: f32[3]
graph G (x = %x, s = %s) {
    y %y: f32[2, 3], mean %m: f32[2, 1], inverse %i: f32[2, 1] = onnx.norm.LayerNormalization "normal" {axis = -1, epsilon = 1e-05, stash_type = 1} (x = %x, scale = %s, b = ~) intrinsic
    yield y = %y
})";

TEST_F(Export, TakesTheLowestOperatorSetThatHasTheOperator) {
    const auto model = write(kNormal);
    ASSERT_TRUE(model);
    EXPECT_EQ(model->opsets[0].version, 17);
    EXPECT_EQ(model->ir_version, 8);
    // The other results are unused.
    EXPECT_EQ(model->graphs[model->main].nodes[0].outputs, Strings{"y"});
}

TEST_F(Export, IntegersAndBoolsNeedNewerOperatorSets) {
    const auto relu = write(R"(program G
input %x: i32[3]
graph G (x = %x) {
    y %y: i32[3] = onnx.activation.Relu_int (x = %x) intrinsic
    yield y = %y
})");
    ASSERT_TRUE(relu);
    EXPECT_EQ(ops(relu->graphs[relu->main]), Strings{"Relu"});
    EXPECT_EQ(relu->opsets[0].version, 14);
    const auto any = write(R"(program G
input %x: bool[2, 3]
graph G (x = %x) {
    reduced %y: bool[2] = onnx.reduction.ReduceMax_bool {axes = [1], keepdims = 0, noop_with_empty_axes = 0} (data = %x) intrinsic
    yield y = %y
})");
    ASSERT_TRUE(any);
    EXPECT_EQ(ops(any->graphs[any->main]), Strings{"ReduceMax"});
    EXPECT_EQ(any->opsets[0].version, 20);
}

TEST_F(Export, RefusesAnOperatorSetThatIsTooOld) {
    EXPECT_FALSE(write(kNormal, 13));
    EXPECT_EQ(message(), "`LayerNormalization` needs operator set 17, and 13 is asked for");
}

TEST_F(Export, ReportsEveryOperationThatOnnxDoesNotHave) {
    EXPECT_FALSE(write(R"(program G
input %x: f32[3]
graph G (x = %x) {
    y %a: f32[3] = own.first (x = %x) intrinsic
    y %y: f32[3] = own.second (x = %a) intrinsic
    yield y = %y
})"));
    ASSERT_EQ(diag_.error_count(), 2u);
    EXPECT_EQ(message(), "ONNX has no operator for `own.first`");
}

TEST_F(Export, NamesExtentsThatARunTells) {
    const auto model = write(R"(program G
symbol n: int in [0, 16]
input %x: f32[n, 4]
graph G (x = %x) {
    reshaped %y: f32[4*n] = onnx.shape.Reshape {shape = [4*n], allowzero = 0} (data = %x) intrinsic
    yield y = %y
})");
    ASSERT_TRUE(model);
    const Graph& graph = model->graphs[model->main];
    EXPECT_EQ(graph.inputs[0].shape->at(0).param, "n");
    EXPECT_EQ(graph.outputs[0].shape->at(0).param, "4*n");
    // The one unknown extent is the remaining one (-1).
    EXPECT_EQ(ops(graph), Strings{"Reshape"});
    EXPECT_EQ(ints_of(graph, graph.nodes[0].inputs[1]), Ints{-1});
}

TEST_F(Export, ComputesExtentsFromShapes) {
    const auto model = write(R"(program G
symbol n: int in [0, 16]
input %x: f32[n, 4]
input %z: f32[]
graph G (x = %x, z = %z) {
    output %y: f32[2*n + 1, 3] = onnx.shape.Expand {shape = [2*n + 1, 3]} (input = %z) intrinsic
    yield y = %y
})");
    ASSERT_TRUE(model);
    const Graph& graph = model->graphs[model->main];
    EXPECT_EQ(ops(graph), (Strings{"Shape", "Gather", "Mul", "Add", "Concat", "Expand"}));
    EXPECT_EQ(graph.nodes[0].inputs, Strings{"x"});
}

TEST_F(Export, GivesBranchesResultsOfTheirOwn) {
    const auto model = write(R"(program G
input %x: f32[3]
input %c: bool[]
graph G (x = %x, c = %c) {
    y0 %y: f32[3] = if "choice" () {
        condition "" {
            yield condition = %c
        }
        then "" {
            y %a: f32[3] = onnx.elementwise.Exp (x = %x) intrinsic
            yield y0 = %a
        }
        else "" {
            yield y0 = %x
        }
    }
    yield y = %y
})");
    ASSERT_TRUE(model) << message();
    const Graph& graph = model->graphs[model->main];
    ASSERT_EQ(ops(graph), Strings{"If"});
    EXPECT_EQ(graph.nodes[0].inputs, Strings{"c"});
    EXPECT_EQ(graph.nodes[0].outputs, Strings{"y"});
    const Graph& then = model->graphs[find_attribute(graph.nodes[0], "then_branch")->graphs[0]];
    const Graph& otherwise =
        model->graphs[find_attribute(graph.nodes[0], "else_branch")->graphs[0]];
    EXPECT_EQ(ops(then), Strings{"Exp"});
    // A sub-graph can only yield its own tensors.
    ASSERT_EQ(ops(otherwise), Strings{"Identity"});
    EXPECT_EQ(otherwise.nodes[0].inputs, Strings{"x"});
    EXPECT_NE(then.outputs[0].name, otherwise.outputs[0].name);
}

TEST_F(Export, SaysLargeConstantsOfOneNumberByTheirShape) {
    const auto model = write(R"(program G
symbol n: int in [0, 16]
input %x: f32[n]
constant %large: f32[1000000, 1000000] = 2.0
constant %open: f32[n] = 1.0
graph G (x = %x) {
    c %y: f32[n] = onnx.arithmetic.Add (a = %x, b = %open) intrinsic
    yield y = %y, z = %large
})");
    ASSERT_TRUE(model) << message();
    const Graph& graph = model->graphs[model->main];
    EXPECT_EQ(
        ops(graph),
        (Strings{"Shape", "Gather", "ConstantOfShape", "Add", "ConstantOfShape", "Identity"}));
}

TEST_F(Export, CopiesAnInputThatIsAnOutput) {
    const auto model = write(R"(program G
input %x: f32[3]
graph G (x = %x) {
    yield y = %x
})");
    ASSERT_TRUE(model);
    const Graph& graph = model->graphs[model->main];
    ASSERT_EQ(ops(graph), Strings{"Identity"});
    EXPECT_EQ(graph.nodes[0].outputs, Strings{"y"});
}

TEST_F(Export, RefusesStateFromRunToRun) {
    EXPECT_FALSE(write(R"(program G
input %x: f32[3]
variable %v: f32[3]
graph G (x = %x) {
    yield y = %x
}
update %v = %x)"));
    EXPECT_EQ(message(),
              "the variable `v` keeps its value from run to run, and ONNX has no such variables");
}

}  // namespace
}  // namespace lemma::onnx
