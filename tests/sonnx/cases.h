// SPDX-License-Identifier: Apache-2.0
// tests/sonnx/cases.h — the models whose references are compiled and compared with the interpreter
// (certified_test.cpp) and proved (`./dev prove`). Small, with extents that differ where they can.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "onnx/test_model.h"
#include "sonnx/test_models.h"

namespace lemma::sonnx::test {

struct ReferenceCase {
    std::string name;
    TestGraph graph;
    bool proved = true;  // else compiled and compared only
};

namespace cases {

using onnx::test::int_attribute;
using onnx::test::ints_attribute;
using onnx::test::TestAttribute;
using onnx::test::TestNode;
using onnx::test::TestValue;
using onnx::test::text_attribute;

struct ConvShape {
    std::vector<int64_t> x, w, y;
    std::vector<int64_t> strides = {1, 1};
    std::vector<int64_t> dilations = {1, 1};
    std::vector<int64_t> pads = {0, 0, 0, 0};
    int64_t group = 1;
    bool bias = true;
};

inline std::vector<TestAttribute> conv_attributes(const ConvShape& shape) {
    return {text_attribute("auto_pad", "NOTSET"),
            ints_attribute("dilations", shape.dilations),
            int_attribute("group", shape.group),
            ints_attribute("kernel_shape", {shape.w[2], shape.w[3]}),
            ints_attribute("pads", shape.pads),
            ints_attribute("strides", shape.strides)};
}

inline TestGraph conv(const ConvShape& shape) {
    TestGraph graph;
    graph.inputs = {{"x", shape.x}};
    graph.outputs = {{"y", shape.y}};
    graph.initializers = {weights("w", shape.w)};
    std::vector<std::string> inputs = {"x", "w"};
    if (shape.bias) {
        inputs.emplace_back("b");
        graph.initializers.push_back(weights("b", {shape.w[0]}));
    }
    graph.nodes = {{"Conv", inputs, {"y"}, conv_attributes(shape)}};
    return graph;
}

inline TestGraph concat(const std::vector<TestValue>& inputs,
                        const TestValue& output,
                        int64_t axis) {
    TestNode node{"Concat", {}, {output.name}, {int_attribute("axis", axis)}};
    for (const TestValue& input : inputs) node.inputs.push_back(input.name);
    return {.inputs = inputs, .outputs = {output}, .nodes = {node}};
}

inline TestGraph binary(const std::string& op,
                        const TestValue& a,
                        const TestValue& b,
                        const TestValue& y) {
    return {.inputs = {a, b}, .outputs = {y}, .nodes = {{op, {a.name, b.name}, {y.name}}}};
}

inline TestGraph expand() {
    return {.inputs = {{"x", {3, 1, 5}}},
            .outputs = {{"y", {2, 3, 4, 5}}},
            .nodes = {{"Expand", {"x", "shape"}, {"y"}}},
            .initializers = {ints_tensor("shape", {4}, {2, 1, 4, 1})}};
}

// A convolution whose result is used twice: scaled by channel, and joined with that.
inline TestGraph graph() {
    const ConvShape shape{
        .x = {1, 2, 4, 5}, .w = {3, 2, 2, 3}, .y = {1, 3, 4, 5}, .pads = {1, 1, 0, 1}};
    return {
        .inputs = {{"x", shape.x}},
        .outputs = {{"y", {1, 6, 4, 5}}},
        .nodes = {{"Conv", {"x", "w", "b"}, {"features"}, conv_attributes(shape)},
                  {"Mul", {"features", "scale"}, {"scaled"}},
                  {"Concat", {"scaled", "features"}, {"y"}, {int_attribute("axis", 1)}}},
        .initializers = {weights("w", shape.w), weights("b", {3}), weights("scale", {3, 1, 1})}};
}

// All of double, the weights too, which are inputs then.
inline TestGraph conv_double() {
    constexpr int64_t kDouble = 11;
    const ConvShape shape{.x = {2, 3, 5, 4},
                          .w = {2, 3, 3, 2},
                          .y = {2, 2, 3, 5},
                          .strides = {2, 1},
                          .pads = {1, 1, 1, 1}};
    return {.inputs = {{"x", shape.x, kDouble}, {"w", shape.w, kDouble}},
            .outputs = {{"y", shape.y, kDouble}},
            .nodes = {{"Conv", {"x", "w"}, {"y"}, conv_attributes(shape)}}};
}

}  // namespace cases

inline std::vector<ReferenceCase> reference_cases() {
    using namespace cases;
    std::vector<ReferenceCase> all = {
        {"conv_standard",
         conv({.x = {1, 3, 6, 5}, .w = {4, 3, 3, 2}, .y = {1, 4, 6, 5}, .pads = {1, 0, 1, 1}})},
        {"conv_strided",
         conv({.x = {2, 2, 7, 8},
               .w = {3, 2, 3, 3},
               .y = {2, 3, 4, 3},
               .strides = {2, 3},
               .pads = {1, 1, 1, 1}})},
        {"conv_dilated",
         conv({.x = {1, 2, 9, 8},
               .w = {2, 2, 2, 3},
               .y = {1, 2, 7, 6},
               .dilations = {3, 2},
               .pads = {1, 1, 0, 1},
               .bias = false})},
        {"conv_depthwise",
         conv({.x = {1, 4, 7, 6},
               .w = {4, 1, 3, 2},
               .y = {1, 4, 4, 3},
               .strides = {2, 2},
               .pads = {1, 0, 1, 0},
               .group = 4})},
        {"conv_grouped",
         conv({.x = {1, 4, 5, 6}, .w = {6, 2, 2, 2}, .y = {1, 6, 4, 5}, .group = 2})},
        {"concat_rank2", concat({{"a", {2, 3}}, {"b", {2, 2}}, {"c", {2, 4}}}, {"y", {2, 9}}, 1)},
        {"concat_rank4",
         concat({{"a", {2, 2, 3, 4}}, {"b", {2, 3, 3, 4}}}, {"y", {2, 5, 3, 4}}, 1)},
        {"broadcast_add",
         binary("Add", {"a", {2, 1, 4, 5}}, {"b", {3, 1, 5}}, {"y", {2, 3, 4, 5}})},
        {"expand", expand()},
        {"graph", graph()},
    };
    const auto also = [&](const std::string& name, TestGraph graph) {
        all.push_back({name, std::move(graph), false});
    };
    also("conv_double", conv_double());
    for (const std::string op : {"Sub", "Mul", "Div"})
        also("broadcast_" + op, binary(op, {"a", {4, 1, 3}}, {"b", {2, 1}}, {"y", {4, 2, 3}}));
    TestGraph special = binary("Mul", {"a", {3}}, {"w", {3}}, {"y", {3}});
    special.inputs.pop_back();
    special.initializers = {floats_tensor("w", {3}, {NAN, INFINITY, -0.0F})};
    also("nan_weights", special);
    also("scalars", binary("Add", {"a", {}}, {"b", {}}, {"y", {}}));
    also("concat_one", concat({{"a", {3, 2}}}, {"y", {3, 2}}, 0));
    for (const int64_t type : {2, 3, 4, 5, 6, 7, 9, 11, 12, 13}) {
        also("concat_type" + std::to_string(type),
             concat({{"a", {2, 3}, type}, {"b", {1, 3}, type}}, {"y", {3, 3}, type}, -2));
    }
    return all;
}

}  // namespace lemma::sonnx::test
