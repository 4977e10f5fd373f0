// SPDX-License-Identifier: Apache-2.0
#include "onnx/write.h"

#include "base/check.h"
#include "onnx/fields.h"

namespace lemma::onnx {

namespace {

using tensor::WireWriter;

// Writes messages inside out: each is a string that its parent includes.
class Writer {
public:
    explicit Writer(const Model& model) : model_(model) {}

    std::string model() const;

private:
    std::string graph(const Graph& graph, int depth) const;
    std::string node(const Node& node, int depth) const;
    std::string attribute(const Attribute& attribute, int depth) const;
    void put_values(const Attribute& attribute, int depth, WireWriter& message) const;
    std::string function(const Function& function) const;
    static std::string value(const ValueInfo& value);
    static std::string tensor_type(const ValueInfo& value);
    static std::string opset(const OperatorSet& opset);
    static std::string_view tensor(const TensorData& data) { return data.proto.message.bytes(); }

    const Model& model_;
};

void put_text(uint32_t number, const std::string& text, WireWriter& message) {
    if (!text.empty()) message.put_bytes(number, text);
}

std::string Writer::model() const {
    WireWriter message;
    message.put_int(model_field::IrVersion, model_.ir_version);
    put_text(model_field::Producer, model_.producer, message);
    put_text(model_field::ProducerVersion, model_.producer_version, message);
    if (model_.version != 0) message.put_int(model_field::Version, model_.version);
    put_text(model_field::Doc, model_.doc, message);
    message.put_bytes(model_field::Graph, graph(model_.graphs[model_.main], 0));
    for (const OperatorSet& set : model_.opsets) message.put_bytes(model_field::Opset, opset(set));
    for (const Property& property : model_.metadata) {
        WireWriter entry;
        entry.put_bytes(property_field::Key, property.key);
        entry.put_bytes(property_field::Value, property.value);
        message.put_bytes(model_field::Metadata, entry.bytes());
    }
    for (const Function& each : model_.functions)
        message.put_bytes(model_field::Function, function(each));
    return message.take() + model_.rest;
}

std::string Writer::opset(const OperatorSet& opset) {
    WireWriter message;
    put_text(opset_field::Domain, opset.domain, message);
    message.put_int(opset_field::Version, opset.version);
    return message.take();
}

std::string Writer::graph(const Graph& graph, int depth) const {
    LEMMA_CHECK(depth <= tensor::kMaxWireDepth);  // deeper: the model contains itself
    WireWriter message;
    for (const Node& each : graph.nodes) message.put_bytes(graph_field::Node, node(each, depth));
    put_text(graph_field::Name, graph.name, message);
    for (const TensorData& data : graph.initializers)
        message.put_bytes(graph_field::Initializer, tensor(data));
    for (const ValueInfo& input : graph.inputs) message.put_bytes(graph_field::Input, value(input));
    for (const ValueInfo& output : graph.outputs)
        message.put_bytes(graph_field::Output, value(output));
    for (const ValueInfo& each : graph.values) message.put_bytes(graph_field::Value, value(each));
    return message.take() + graph.rest;
}

std::string Writer::node(const Node& node, int depth) const {
    WireWriter message;
    for (const std::string& input : node.inputs) message.put_bytes(node_field::Input, input);
    for (const std::string& output : node.outputs) message.put_bytes(node_field::Output, output);
    put_text(node_field::Name, node.name, message);
    message.put_bytes(node_field::Op, node.op);
    for (const Attribute& each : node.attributes)
        message.put_bytes(node_field::Attribute, attribute(each, depth));
    put_text(node_field::Domain, node.domain, message);
    put_text(node_field::Overload, node.overload, message);
    return message.take() + node.rest;
}

std::string Writer::attribute(const Attribute& attribute, int depth) const {
    WireWriter message;
    message.put_bytes(attribute_field::Name, attribute.name);
    put_text(attribute_field::Reference, attribute.reference, message);
    if (attribute.reference.empty()) put_values(attribute, depth, message);
    if (attribute.type != AttributeType::Undefined)
        message.put_int(attribute_field::Type, static_cast<int64_t>(attribute.type));
    return message.take() + attribute.rest;
}

// Single values and lists use different fields.
void Writer::put_values(const Attribute& attribute, int depth, WireWriter& message) const {
    const AttributeType type = attribute.type;
    if (type == AttributeType::Float) {
        message.put_float(attribute_field::Float, attribute.floats.at(0));
    } else if (!attribute.floats.empty()) {
        message.put_floats(attribute_field::Floats, attribute.floats);
    }
    if (type == AttributeType::Int) {
        message.put_int(attribute_field::Int, attribute.ints.at(0));
    } else if (!attribute.ints.empty()) {
        message.put_ints(attribute_field::Ints, attribute.ints);
    }
    const bool one_text = type == AttributeType::String;
    for (const std::string& text : attribute.strings)
        message.put_bytes(one_text ? attribute_field::String : attribute_field::Strings, text);
    const bool one_tensor = type == AttributeType::Tensor;
    for (const TensorData& data : attribute.tensors) {
        message.put_bytes(one_tensor ? attribute_field::Tensor : attribute_field::Tensors,
                          tensor(data));
    }
    const bool one_graph = type == AttributeType::Graph;
    for (const GraphId id : attribute.graphs) {
        message.put_bytes(one_graph ? attribute_field::Graph : attribute_field::Graphs,
                          graph(model_.graphs[id], depth + 1));
    }
}

std::string Writer::tensor_type(const ValueInfo& value) {
    WireWriter message;
    message.put_int(tensor_type_field::Elem, value.elem_type);
    if (!value.shape) return message.take();
    WireWriter shape;
    for (const Dimension& dimension : *value.shape) {
        WireWriter part;
        if (dimension.value) part.put_int(dimension_field::Value, *dimension.value);
        put_text(dimension_field::Param, dimension.value ? "" : dimension.param, part);
        put_text(dimension_field::Denotation, dimension.denotation, part);
        shape.put_bytes(1, part.bytes());
    }
    message.put_bytes(tensor_type_field::Shape, shape.bytes());
    return message.take();
}

std::string Writer::value(const ValueInfo& value) {
    WireWriter message;
    message.put_bytes(value_field::Name, value.name);
    if (value.kind != TypeKind::Missing) {
        WireWriter type;
        if (value.kind == TypeKind::Tensor) type.put_bytes(type_field::Tensor, tensor_type(value));
        message.put_bytes(value_field::Type, type.bytes() + value.type);
    }
    put_text(value_field::Doc, value.doc, message);
    return message.take() + value.rest;
}

std::string Writer::function(const Function& function) const {
    WireWriter message;
    message.put_bytes(function_field::Name, function.name);
    for (const std::string& name : function.inputs) message.put_bytes(function_field::Input, name);
    for (const std::string& name : function.outputs)
        message.put_bytes(function_field::Output, name);
    for (const std::string& name : function.attributes)
        message.put_bytes(function_field::Attribute, name);
    for (const Node& each : function.nodes) message.put_bytes(function_field::Node, node(each, 0));
    for (const OperatorSet& set : function.opsets)
        message.put_bytes(function_field::Opset, opset(set));
    put_text(function_field::Domain, function.domain, message);
    for (const Attribute& each : function.defaults)
        message.put_bytes(function_field::Default, attribute(each, 0));
    put_text(function_field::Overload, function.overload, message);
    return message.take() + function.rest;
}

}  // namespace

std::string write_model(const Model& model) { return Writer(model).model(); }

TensorData add_tensor(const tensor::NamedTensor& tensor, Model& model) {
    auto bytes = std::make_shared<const std::string>(tensor::encode_pb(tensor));
    auto proto = tensor::read_tensor_proto(tensor::WireReader(*bytes));
    LEMMA_CHECK(proto.has_value());
    model.added_bytes.push_back(std::move(bytes));
    TensorData data;
    data.proto = std::move(*proto);
    return data;
}

}  // namespace lemma::onnx
