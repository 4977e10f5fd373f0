// SPDX-License-Identifier: Apache-2.0
#include "onnx/read.h"

#include <gtest/gtest.h>

#include "diag/source.h"
#include "onnx/test_model.h"
#include "onnx/validate.h"

namespace lemma::onnx {
namespace {

using namespace test;

Result<Model> read(std::string bytes) { return read_model(tensor::share(std::move(bytes))); }

const TestGraph kRelu = {
    .inputs = {{"x", {2, -1}}}, .outputs = {{"y", {2, -1}}}, .nodes = {{"Relu", {"x"}, {"y"}}}};

std::string_view path(const Model& model, PathSpan place) {
    return std::string_view(model.paths).substr(place.begin, place.end - place.begin);
}

TEST(ReadModel, HasNodesValuesAndTheirPlaces) {
    const auto model =
        read(model_bytes({.inputs = {{"x", {2, -1}}},
                          .outputs = {{"y", {2, 3}}},
                          .nodes = {{"Concat", {"x", "w"}, {"y"}, {int_attribute("axis", -1)}}},
                          .initializers = {ints_tensor("w", {2}, {5, 6})}},
                         17));
    ASSERT_TRUE(model) << model.error().message;
    const Graph& graph = model->graphs[model->main];
    ASSERT_EQ(graph.nodes.size(), 1u);
    const Node& node = graph.nodes[0];
    EXPECT_EQ(node.op, "Concat");
    EXPECT_EQ(node.inputs, (std::vector<std::string>{"x", "w"}));
    EXPECT_EQ(path(*model, node.place), "graph/node[0]:Concat");
    ASSERT_EQ(node.attributes.size(), 1u);
    EXPECT_EQ(node.attributes[0].ints, std::vector<int64_t>{-1});
    EXPECT_EQ(path(*model, node.attributes[0].place), "graph/node[0]:Concat/attribute axis");
    ASSERT_TRUE(graph.inputs[0].shape);
    EXPECT_EQ(graph.inputs[0].shape->at(0).value, 2);
    EXPECT_EQ(graph.inputs[0].shape->at(1).param, "n");
    EXPECT_EQ(path(*model, graph.initializers[0].place), "graph/initializer[0] \"w\"");
    EXPECT_EQ(model->opsets[0].version, 17);
}

TEST(ReadModel, RefusesEveryTruncation) {
    const std::string bytes = model_bytes(kRelu);
    size_t readable = 0;
    for (size_t size = 0; size < bytes.size(); ++size)
        readable += read(bytes.substr(0, size)).has_value();
    // One truncation is still a model: the one that only loses the opset at the end.
    EXPECT_LE(readable, 1u);
    EXPECT_EQ(read("").error().message, "it has no graph, so it is no ONNX model");
}

// The tag of a field with this many bytes.
std::string header(uint32_t number, size_t size) {
    std::string bytes(1, static_cast<char>(number << 3 | 2));
    for (; size >= 128; size >>= 7) bytes += static_cast<char>((size & 127) | 128);
    return bytes + static_cast<char>(size);
}

TEST(ReadModel, RefusesDeepNesting) {
    // Headers only: a graph with a node with an attribute that is a graph, and so on.
    std::vector<std::string> headers;
    size_t size = 0;
    for (int level = 0; level < 100'000; ++level) {
        for (const uint32_t number : {6u, 5u, 1u}) {
            headers.push_back(header(number, size));
            size += headers.back().size();
        }
    }
    std::string bytes = header(7, size);
    for (size_t i = headers.size(); i > 0; --i) bytes += headers[i - 1];
    const auto model = read(bytes);
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().message.find("deep"), std::string::npos) << model.error().message;
}

TEST(ReadModel, TellsOfTensorsThatAreDamaged) {
    WireWriter tensor;
    tensor.put_int(1, -3);
    tensor.put_int(2, 1);
    tensor.put_bytes(8, "w");
    TestGraph graph = kRelu;
    graph.initializers = {tensor.take()};
    const auto model = read(model_bytes(graph));
    ASSERT_TRUE(model);
    ASSERT_EQ(model->faults.size(), 1u);
    EXPECT_EQ(model->faults[0].message, "it has the negative extent -3");
}

TEST(ReadModel, LimitsTheNumberOfParts) {
    const auto model = read_model(tensor::share(model_bytes(kRelu)), {.max_parts = 3});
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().message, "it has more than 3 parts");
}

// The reports of validation, one per line.
std::string problems(const TestGraph& graph, int64_t opset = 21) {
    const auto model = read(model_bytes(graph, opset));
    if (!model) return model.error().message;
    diag::SourceMap sources;
    const diag::FileId file = sources.add_paths("m", model->paths);
    Diagnostics diag;
    validate(*model, file, diag);
    std::string text;
    for (const diag::Diagnostic& item : diag.items()) {
        text += std::string(sources.text(item.span)) + ": " + item.message + "\n";
    }
    return text;
}

TEST(ReadModel, KeepsTheNamesOfTensorsThatCannotBeRead) {
    WireWriter bad;
    bad.put_int(1, -5);
    bad.put_int(2, 1);
    bad.put_bytes(8, "w");
    const TestGraph graph = {.inputs = {{"x", {2}}},
                             .outputs = {{"y", {2}}},
                             .nodes = {{"Add", {"x", "w"}, {"y"}}},
                             .initializers = {bad.take()}};
    EXPECT_EQ(problems(graph), "graph/initializer[0] \"w\": it has the negative extent -5\n");
}

TEST(Validate, AcceptsAGoodModel) { EXPECT_EQ(problems(kRelu), ""); }

TEST(Validate, ReportsNamesThatNothingMakes) {
    EXPECT_EQ(problems({.inputs = {{"input", {2}}},
                        .outputs = {{"z", {2}}},
                        .nodes = {{"Relu", {"inptu"}, {"y"}}}}),
              "graph/node[0]:Relu: nothing makes the input `inptu`\n"
              "graph/output[0] \"z\": nothing makes the output `z`\n");
}

TEST(Validate, ReportsWhatIsMadeTwice) {
    EXPECT_EQ(problems({.inputs = {{"x", {2}}},
                        .outputs = {{"y", {2}}},
                        .nodes = {{"Relu", {"x"}, {"y"}}, {"Abs", {"x"}, {"y"}}}}),
              "graph/node[1]:Abs: `y` is made twice\n");
}

TEST(Validate, ReportsCycles) {
    EXPECT_EQ(problems({.inputs = {{"x", {2}}},
                        .outputs = {{"b", {2}}},
                        .nodes = {{"Add", {"x", "b"}, {"a"}}, {"Relu", {"a"}, {"b"}}}}),
              "graph/node[0]:Add: it needs its own result, over 2 nodes\n");
}

// An empty name is an input or a result that is left out; the two have nothing in common.
TEST(Validate, DoesNotConnectEmptyNames) {
    EXPECT_EQ(problems({.inputs = {{"x", {2}}},
                        .outputs = {{"c", {2}}},
                        .nodes = {{"LSTM", {"x", "x", "x", "", ""}, {"a", "", "c"}}}}),
              "");
}

TEST(Validate, ReportsNodesInTheWrongOrder) {
    EXPECT_EQ(problems({.inputs = {{"x", {2}}},
                        .outputs = {{"b", {2}}},
                        .nodes = {{"Relu", {"a"}, {"b"}}, {"Abs", {"x"}, {"a"}}}}),
              "graph/node[0]:Relu: it stands before a node whose result it uses\n");
}

TEST(Validate, ReportsOperatorSets) {
    EXPECT_EQ(problems(kRelu, 0), "graph: the operator set has version 0, expected 1 to 26\n");
    TestGraph other = kRelu;
    other.nodes[0].domain = "my.domain";
    EXPECT_EQ(problems(other),
              "graph/node[0]:Relu: the model does not say which version of the operator set "
              "`my.domain` it uses\n");
}

TEST(Validate, LooksIntoSubGraphs) {
    const std::string inner =
        graph_bytes({.outputs = {{"z", {2}}}, .nodes = {{"Relu", {"missing"}, {"z"}}}});
    EXPECT_EQ(problems({.inputs = {{"c", {}, 9}},
                        .outputs = {{"y", {2}}},
                        .nodes = {{"If", {"c"}, {"y"}, {graph_attribute("then_branch", inner)}}}}),
              "graph/node[0]:If/attribute then_branch/graph/node[0]:Relu: nothing makes the input "
              "`missing`\n");
}

}  // namespace
}  // namespace lemma::onnx
