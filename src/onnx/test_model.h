// SPDX-License-Identifier: Apache-2.0
// onnx/test_model.h — models for tests, written field by field, so that no binary files are needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/files/pb_file.h"
#include "tensor/files/wire.h"

namespace lemma::onnx::test {

using tensor::WireWriter;

struct TestAttribute {
    std::string name;
    std::string bytes;  // the value's field, without the name
};
inline TestAttribute int_attribute(std::string name, int64_t value) {
    WireWriter message;
    message.put_int(3, value);
    message.put_int(20, 2);
    return {std::move(name), message.take()};
}
inline TestAttribute ints_attribute(std::string name, const std::vector<int64_t>& values) {
    WireWriter message;
    message.put_ints(8, values);
    message.put_int(20, 7);
    return {std::move(name), message.take()};
}
inline TestAttribute float_attribute(std::string name, float value) {
    WireWriter message;
    message.put_float(2, value);
    message.put_int(20, 1);
    return {std::move(name), message.take()};
}
inline TestAttribute text_attribute(std::string name, const std::string& value) {
    WireWriter message;
    message.put_bytes(4, value);
    message.put_int(20, 3);
    return {std::move(name), message.take()};
}
inline TestAttribute graph_attribute(std::string name, const std::string& graph) {
    WireWriter message;
    message.put_bytes(6, graph);
    message.put_int(20, 5);
    return {std::move(name), message.take()};
}
inline TestAttribute reference_attribute(std::string name, const std::string& of, int64_t type) {
    WireWriter message;
    message.put_bytes(21, of);
    message.put_int(20, type);
    return {std::move(name), message.take()};
}

struct TestNode {
    std::string op;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<TestAttribute> attributes = {};
    std::string domain = "";
};

inline std::string node_bytes(const TestNode& node) {
    WireWriter message;
    for (const std::string& name : node.inputs) message.put_bytes(1, name);
    for (const std::string& name : node.outputs) message.put_bytes(2, name);
    message.put_bytes(4, node.op);
    for (const TestAttribute& attribute : node.attributes) {
        WireWriter part;
        part.put_bytes(1, attribute.name);
        message.put_bytes(5, part.take() + attribute.bytes);
    }
    if (!node.domain.empty()) message.put_bytes(7, node.domain);
    return message.take();
}

// An extent below zero is a dimension `n`.
struct TestValue {
    std::string name;
    std::vector<int64_t> shape;
    int64_t type = 1;  // FLOAT
};

inline std::string value_bytes(const TestValue& value) {
    WireWriter shape;
    for (const int64_t extent : value.shape) {
        WireWriter dimension;
        if (extent < 0) {
            dimension.put_bytes(2, "n");
        } else {
            dimension.put_int(1, extent);
        }
        shape.put_bytes(1, dimension.bytes());
    }
    WireWriter tensor;
    tensor.put_int(1, value.type);
    tensor.put_bytes(2, shape.bytes());
    WireWriter type;
    type.put_bytes(1, tensor.bytes());
    WireWriter message;
    message.put_bytes(1, value.name);
    message.put_bytes(2, type.bytes());
    return message.take();
}

struct TestGraph {
    std::vector<TestValue> inputs;
    std::vector<TestValue> outputs;
    std::vector<TestNode> nodes;
    std::vector<std::string> initializers = {};  // written by ints_tensor and similar functions
};

inline std::string ints_tensor(const std::string& name,
                               const tensor::Shape& shape,
                               const std::vector<int64_t>& values) {
    WireWriter message;
    for (const int64_t extent : shape) message.put_int(1, extent);
    message.put_int(2, 7);
    message.put_ints(7, values);
    message.put_bytes(8, name);
    return message.take();
}
inline std::string floats_tensor(const std::string& name,
                                 const tensor::Shape& shape,
                                 const std::vector<float>& values) {
    WireWriter message;
    for (const int64_t extent : shape) message.put_int(1, extent);
    message.put_int(2, 1);
    for (const float value : values) message.put_float(4, value);
    message.put_bytes(8, name);
    return message.take();
}
struct TestExternal {
    std::string location;
    std::string offset = "";
    std::string length = "";
};
inline std::string external_tensor(const std::string& name,
                                   const tensor::Shape& shape,
                                   const TestExternal& external) {
    WireWriter message;
    for (const int64_t extent : shape) message.put_int(1, extent);
    message.put_int(2, 1);
    message.put_bytes(8, name);
    const auto entry = [&](const std::string& key, const std::string& value) {
        WireWriter pair;
        pair.put_bytes(1, key);
        pair.put_bytes(2, value);
        message.put_bytes(13, pair.bytes());
    };
    entry("location", external.location);
    if (!external.offset.empty()) entry("offset", external.offset);
    if (!external.length.empty()) entry("length", external.length);
    message.put_int(14, 1);
    return message.take();
}

inline std::string graph_bytes(const TestGraph& graph) {
    WireWriter message;
    for (const TestNode& node : graph.nodes) message.put_bytes(1, node_bytes(node));
    message.put_bytes(2, "net");
    for (const std::string& tensor : graph.initializers) message.put_bytes(5, tensor);
    for (const TestValue& value : graph.inputs) message.put_bytes(11, value_bytes(value));
    for (const TestValue& value : graph.outputs) message.put_bytes(12, value_bytes(value));
    return message.take();
}

struct TestFunction {
    std::string name;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> attributes;
    std::vector<TestNode> nodes;
};

inline std::string function_bytes(const TestFunction& function, int64_t opset) {
    WireWriter message;
    message.put_bytes(1, function.name);
    for (const std::string& name : function.inputs) message.put_bytes(4, name);
    for (const std::string& name : function.outputs) message.put_bytes(5, name);
    for (const std::string& name : function.attributes) message.put_bytes(6, name);
    for (const TestNode& node : function.nodes) message.put_bytes(7, node_bytes(node));
    WireWriter set;
    set.put_int(2, opset);
    message.put_bytes(9, set.bytes());
    message.put_bytes(10, "local");
    return message.take();
}

inline std::string model_bytes(const TestGraph& graph,
                               int64_t opset = 21,
                               const std::vector<TestFunction>& functions = {}) {
    WireWriter message;
    message.put_int(1, 10);
    WireWriter set;
    set.put_int(2, opset);
    message.put_bytes(7, graph_bytes(graph));
    message.put_bytes(8, set.bytes());
    for (const TestFunction& function : functions)
        message.put_bytes(25, function_bytes(function, opset));
    if (!functions.empty()) {
        WireWriter local;
        local.put_bytes(1, "local");
        local.put_int(2, 1);
        message.put_bytes(8, local.bytes());
    }
    return message.take();
}

}  // namespace lemma::onnx::test
