// SPDX-License-Identifier: Apache-2.0
// sonnx/test_models.h — models for tests: one satisfies every rule, the other leaves implicit
// everything that ONNX allows. Tests violate rules on purpose.
#pragma once

#include <memory>
#include <string>

#include "base/check.h"
#include "onnx/read.h"
#include "onnx/test_model.h"
#include "sonnx/defaults.h"
#include "sonnx/parameters.h"
#include "sonnx/view.h"

namespace lemma::sonnx::test {

using onnx::test::floats_tensor;
using onnx::test::ints_tensor;
using onnx::test::TestGraph;

inline onnx::Model read(const std::string& bytes) {
    auto model = onnx::read_model(tensor::share(bytes));
    LEMMA_CHECK(model.has_value());
    return std::move(*model);
}

// Small numbers that differ.
inline std::string weights(const std::string& name, const tensor::Shape& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>((i * 37 + 11) % 23 - 11) / 16.0F);
    return floats_tensor(name, shape, values);
}

inline onnx::Graph& main_graph(onnx::Model& model) { return model.graphs[model.main]; }

inline onnx::Node& node_of(onnx::Model& model, const std::string& output) {
    for (onnx::Node& node : main_graph(model).nodes) {
        if (!node.outputs.empty() && node.outputs[0] == output) return node;
    }
    LEMMA_CHECK(false);
    return main_graph(model).nodes[0];
}

inline void set_attribute(onnx::Node& node, onnx::Attribute attribute) {
    std::erase_if(node.attributes,
                  [&](const onnx::Attribute& each) { return each.name == attribute.name; });
    node.attributes.push_back(std::move(attribute));
}
inline void drop_attribute(onnx::Node& node, const std::string& name) {
    std::erase_if(node.attributes, [&](const onnx::Attribute& each) { return each.name == name; });
}

inline onnx::ValueInfo declaration(const std::string& name,
                                   const std::vector<int64_t>& shape,
                                   int64_t type = 1) {
    onnx::ValueInfo value;
    value.name = name;
    value.kind = onnx::TypeKind::Tensor;
    value.elem_type = type;
    value.shape.emplace();
    for (const int64_t extent : shape) value.shape->push_back({.value = extent, .param = ""});
    return value;
}
inline onnx::ValueInfo& value_of(onnx::Model& model, const std::string& name) {
    onnx::Graph& graph = main_graph(model);
    for (auto* list : {&graph.inputs, &graph.outputs, &graph.values}) {
        for (onnx::ValueInfo& value : *list) {
            if (value.name == name) return value;
        }
    }
    LEMMA_CHECK(false);
    return graph.inputs[0];
}
inline void set_shape(onnx::Model& model, const std::string& name, const Extents& shape) {
    onnx::ValueInfo& value = value_of(model, name);
    value = declaration(name, shape, value.elem_type);
}
// Changes the shape of an initialiser; rules do not read its elements.
inline void set_weights(onnx::Model& model, const std::string& name, const Extents& shape) {
    for (onnx::TensorData& data : main_graph(model).initializers) {
        if (data.proto.name == name) data.proto.shape = shape;
    }
}
inline onnx::Node make_node(const std::string& op,
                            std::vector<std::string> inputs,
                            std::vector<std::string> outputs) {
    onnx::Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return node;
}

// x → Conv → depthwise Conv → MaxPool → Concat with itself → Reshape → Softmax, and a sum: every
// rule has something to examine.
inline onnx::Model conforming_model() {
    using onnx::test::int_attribute;
    using onnx::test::ints_attribute;
    using onnx::test::model_bytes;
    using onnx::test::TestNode;
    using onnx::test::text_attribute;
    const auto conv = [](const std::string& out, std::vector<std::string> in, int64_t group) {
        return TestNode{"Conv",
                        std::move(in),
                        {out},
                        {text_attribute("auto_pad", "NOTSET"),
                         ints_attribute("dilations", {1, 1}),
                         int_attribute("group", group),
                         ints_attribute("kernel_shape", {3, 3}),
                         ints_attribute("pads", {1, 1, 1, 1}),
                         ints_attribute("strides", {1, 1})}};
    };
    TestGraph graph;
    graph.inputs = {{"x", {1, 3, 8, 8}}};
    graph.outputs = {{"y", {1, 128}}};
    graph.initializers = {weights("w1", {4, 3, 3, 3}),
                          weights("b1", {4}),
                          weights("w2", {4, 1, 3, 3}),
                          weights("b2", {4}),
                          ints_tensor("flat", {2}, {1, 128})};
    graph.nodes = {conv("c1", {"x", "w1", "b1"}, 1),
                   conv("c2", {"c1", "w2", "b2"}, 4),
                   {"MaxPool",
                    {"c2"},
                    {"p"},
                    {text_attribute("auto_pad", "NOTSET"),
                     int_attribute("ceil_mode", 0),
                     ints_attribute("dilations", {1, 1}),
                     ints_attribute("kernel_shape", {2, 2}),
                     ints_attribute("pads", {0, 0, 0, 0}),
                     int_attribute("storage_order", 0),
                     ints_attribute("strides", {2, 2})}},
                   {"Concat", {"p", "p"}, {"j"}, {int_attribute("axis", 1)}},
                   {"Reshape", {"j", "flat"}, {"r"}, {int_attribute("allowzero", 0)}},
                   {"Softmax", {"r"}, {"s"}, {int_attribute("axis", 1)}},
                   {"Add", {"r", "s"}, {"y"}}};
    onnx::Model model = read(model_bytes(graph));
    main_graph(model).values = {declaration("c1", {1, 4, 8, 8}),
                                declaration("c2", {1, 4, 8, 8}),
                                declaration("p", {1, 4, 4, 4}),
                                declaration("j", {1, 8, 4, 4}),
                                declaration("r", {1, 128}),
                                declaration("s", {1, 128})};
    model.producer = "test";
    model.version = 1;
    model.metadata = {{"replication_criterion", "exact"},
                      {"training_trace", "none: made by hand"},
                      {"training_date", "2026-10-03"},
                      {"parameters_sha256", parameters_hash(main_graph(model)).value_or("")}};
    value_of(model, "x").doc = "an image";
    value_of(model, "y").doc = "scores";
    return model;
}

// The same kind of network as exporters write it: defaults, SAME padding, axes from the back,
// broadcasting, no intermediate types. Some of its nodes can run in any order.
inline onnx::Model implicit_model() {
    using onnx::test::int_attribute;
    using onnx::test::ints_attribute;
    using onnx::test::model_bytes;
    using onnx::test::text_attribute;
    TestGraph graph;
    graph.inputs = {{"x", {1, 3, 7, 8}}};
    graph.outputs = {{"y", {1, 8, 4, 4}}};
    graph.initializers = {weights("w1", {4, 3, 3, 3}),
                          weights("w2", {4, 3, 2, 2}),
                          weights("scale", {4, 1, 1}),
                          ints_tensor("last", {1}, {-1})};
    graph.nodes = {{"Conv",
                    {"x", "w1"},
                    {"a"},
                    {text_attribute("auto_pad", "SAME_UPPER"), ints_attribute("strides", {2, 2})}},
                   {"Conv",
                    {"x", "w2"},
                    {"b"},
                    {text_attribute("auto_pad", "SAME_LOWER"), ints_attribute("strides", {2, 2})}},
                   {"Mul", {"a", "scale"}, {"c"}},
                   {"Sigmoid", {"b"}, {"d"}},
                   {"Softmax", {"c"}, {"e"}},
                   {"ReduceSum", {"d", "last"}, {"f"}},
                   {"Sub", {"e", "f"}, {"g"}},
                   {"Concat", {"g", "d"}, {"y"}, {int_attribute("axis", -3)}}};
    return read(model_bytes(graph));
}

}  // namespace lemma::sonnx::test
