// SPDX-License-Identifier: Apache-2.0
#include "onnx/read.h"

#include <fmt/format.h>

#include "diag/utf8.h"
#include "onnx/fields.h"

namespace lemma::onnx {

namespace {

using tensor::WireField;
using tensor::WireReader;

// Longer names are cut in messages.
constexpr size_t kMaxNameBytes = 200;
// Paths are text with 32-bit offsets; parts beyond this size share the last place.
constexpr size_t kMaxPathBytes = size_t{1} << 28;
// About ten operator sets exist.
constexpr size_t kMaxOpsets = 1000;

std::unexpected<Error> bad(std::string message) {
    return std::unexpected(Error{std::move(message)});
}

std::string path_name(std::string_view name) {
    return diag::printable(diag::shortened(std::string(name), kMaxNameBytes));
}

class Reader {
public:
    Reader(Model& model, const ReadLimits& limits) : model_(model), limits_(limits) {}

    Result<void> read_model(WireReader message);

private:
    // Calls `take` with each field of the message.
    template <class Take>
    Result<void> each_field(WireReader message, Take take);
    template <class Take>
    Result<void> open(const WireField& field, Take take);

    Result<void> read_property(const WireField& field);
    Result<void> read_opset(const WireField& field, std::vector<OperatorSet>& to);
    Result<GraphId> read_graph(const WireField& field, const std::string& path);
    Result<void> read_graph_field(const WireField& field, const std::string& path, Graph& graph);
    Result<void> read_node(const WireField& field, const std::string& path, std::vector<Node>& to);
    Result<void> read_attribute(const WireField& field,
                                const std::string& path,
                                std::vector<Attribute>& to);
    Result<void> read_attribute_field(const WireField& field,
                                      const std::string& path,
                                      Attribute& attribute);
    Result<void> read_tensor(const WireField& field,
                             const std::string& path,
                             std::vector<TensorData>& to);
    Result<void> read_value(const WireField& field,
                            const std::string& path,
                            std::vector<ValueInfo>& to);
    Result<void> read_type(const WireField& field, ValueInfo& value);
    Result<void> read_tensor_type(const WireField& field, ValueInfo& value);
    Result<void> read_dimension(const WireField& field, std::vector<Dimension>& to);
    Result<void> read_function(const WireField& field);
    Result<void> add_text(const WireField& field, std::vector<std::string>& to);
    Result<void> count_part();
    PathSpan place(const std::string& path);

    Model& model_;
    const ReadLimits& limits_;
    int64_t parts_ = 0;
};

Result<void> set_text(const WireField& field, std::string& to) {
    LEMMA_TRY(to, tensor::wire_bytes(field));
    return {};
}
Result<void> keep(const WireField& field, Rest& to) {
    tensor::WireWriter writer;
    writer.put_field(field);
    to += writer.bytes();
    return {};
}
Result<void> set_int(const WireField& field, int64_t& to) {
    LEMMA_TRY(to, tensor::wire_int(field));
    return {};
}

template <class Take>
Result<void> Reader::each_field(WireReader message, Take take) {
    WireField field;
    while (true) {
        LEMMA_TRY(const bool more, message.next(field));
        if (!more) return {};
        LEMMA_TRY(take(field));
    }
}

template <class Take>
Result<void> Reader::open(const WireField& field, Take take) {
    LEMMA_TRY(const WireReader message, WireReader::open(field));
    return each_field(message, take);
}

Result<void> Reader::count_part() {
    if (++parts_ <= limits_.max_parts) return {};
    return bad(fmt::format("it has more than {} parts", limits_.max_parts));
}

PathSpan Reader::place(const std::string& path) {
    std::string& paths = model_.paths;
    if (paths.size() + path.size() + 1 > kMaxPathBytes) return {0, 0};
    const auto begin = static_cast<uint32_t>(paths.size());
    paths += path;
    const auto end = static_cast<uint32_t>(paths.size());
    paths += '\n';
    return {begin, end};
}

Result<void> Reader::add_text(const WireField& field, std::vector<std::string>& to) {
    LEMMA_TRY(const std::string_view text, tensor::wire_bytes(field));
    to.emplace_back(text);
    return count_part();
}

// ---- The model ----------------------------------------------------------------------------------

Result<void> Reader::read_model(WireReader message) {
    bool has_graph = false;
    const Result<void> done = each_field(message, [&](const WireField& field) -> Result<void> {
        switch (field.number) {
            case model_field::IrVersion:
                return set_int(field, model_.ir_version);
            case model_field::Producer:
                return set_text(field, model_.producer);
            case model_field::ProducerVersion:
                return set_text(field, model_.producer_version);
            case model_field::Version:
                return set_int(field, model_.version);
            case model_field::Doc:
                return set_text(field, model_.doc);
            case model_field::Metadata:
                return read_property(field);
            case model_field::Graph: {
                if (has_graph) return bad("it has two graphs");
                has_graph = true;
                LEMMA_TRY(model_.main, read_graph(field, "graph"));
                return {};
            }
            case model_field::Opset:
                return read_opset(field, model_.opsets);
            case model_field::Function:
                return read_function(field);
            default:
                return keep(field, model_.rest);
        }
    });
    if (!done) return done;
    if (!has_graph) return bad("it has no graph, so it is no ONNX model");
    return {};
}

Result<void> Reader::read_property(const WireField& field) {
    Property& property = model_.metadata.emplace_back();
    LEMMA_TRY(count_part());
    return open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == property_field::Key) return set_text(part, property.key);
        if (part.number == property_field::Value) return set_text(part, property.value);
        return {};
    });
}

Result<void> Reader::read_opset(const WireField& field, std::vector<OperatorSet>& to) {
    if (to.size() >= kMaxOpsets)
        return bad(fmt::format("it names more than {} operator sets", kMaxOpsets));
    OperatorSet& opset = to.emplace_back();
    LEMMA_TRY(count_part());
    return open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == opset_field::Domain) return set_text(part, opset.domain);
        if (part.number == opset_field::Version) return set_int(part, opset.version);
        return {};
    });
}

Result<void> Reader::read_function(const WireField& field) {
    Function function;
    const std::string path = fmt::format("function[{}]", model_.functions.size());
    LEMMA_TRY(count_part());
    function.place = place(path);
    const Result<void> done = open(field, [&](const WireField& part) -> Result<void> {
        switch (part.number) {
            case function_field::Name:
                return set_text(part, function.name);
            case function_field::Input:
                return add_text(part, function.inputs);
            case function_field::Output:
                return add_text(part, function.outputs);
            case function_field::Attribute:
                return add_text(part, function.attributes);
            case function_field::Node:
                return read_node(part, path, function.nodes);
            case function_field::Opset:
                return read_opset(part, function.opsets);
            case function_field::Domain:
                return set_text(part, function.domain);
            case function_field::Default:
                return read_attribute(part, path, function.defaults);
            case function_field::Overload:
                return set_text(part, function.overload);
            default:
                return keep(part, function.rest);
        }
    });
    model_.functions.push_back(std::move(function));
    return done;
}

// ---- Graphs -------------------------------------------------------------------------------------

Result<GraphId> Reader::read_graph(const WireField& field, const std::string& path) {
    Graph graph;
    graph.place = place(path);
    LEMMA_TRY(
        open(field, [&](const WireField& part) { return read_graph_field(part, path, graph); }));
    return model_.graphs.add(std::move(graph));
}

Result<void> Reader::read_graph_field(const WireField& field,
                                      const std::string& path,
                                      Graph& graph) {
    switch (field.number) {
        case graph_field::Node:
            return read_node(field, path, graph.nodes);
        case graph_field::Name:
            return set_text(field, graph.name);
        case graph_field::Initializer:
            return read_tensor(field, path + "/initializer", graph.initializers);
        case graph_field::Input:
            return read_value(field, path + "/input", graph.inputs);
        case graph_field::Output:
            return read_value(field, path + "/output", graph.outputs);
        case graph_field::Value:
            return read_value(field, path + "/value", graph.values);
        case graph_field::SparseInitializer:
            model_.faults.push_back(
                {graph.place, DiagKind::NotSupported, "sparse initialisers are not supported"});
            return keep(field, graph.rest);
        default:
            return keep(field, graph.rest);
    }
}

// The path contains the operator and the name, so they are read first.
Result<void> Reader::read_node(const WireField& field,
                               const std::string& path,
                               std::vector<Node>& to) {
    LEMMA_TRY(count_part());
    Node node;
    Result<void> done = open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == node_field::Op) return set_text(part, node.op);
        if (part.number == node_field::Name) return set_text(part, node.name);
        return {};
    });
    if (!done) return done;
    std::string own = fmt::format("{}/node[{}]:{}", path, to.size(), path_name(node.op));
    if (!node.name.empty()) own += fmt::format(" \"{}\"", path_name(node.name));
    node.place = place(own);
    done = open(field, [&](const WireField& part) -> Result<void> {
        switch (part.number) {
            case node_field::Input:
                return add_text(part, node.inputs);
            case node_field::Output:
                return add_text(part, node.outputs);
            case node_field::Attribute:
                return read_attribute(part, own, node.attributes);
            case node_field::Domain:
                return set_text(part, node.domain);
            case node_field::Overload:
                return set_text(part, node.overload);
            case node_field::Op:
            case node_field::Name:
                return {};
            default:
                return keep(part, node.rest);
        }
    });
    to.push_back(std::move(node));
    return done;
}

// ---- Attributes ---------------------------------------------------------------------------------

// Old writers omit the type: it follows from the field that is set.
AttributeType implied_type(const Attribute& attribute) {
    if (!attribute.floats.empty()) return AttributeType::Floats;
    if (!attribute.ints.empty()) return AttributeType::Ints;
    if (!attribute.strings.empty()) return AttributeType::Strings;
    if (!attribute.tensors.empty()) return AttributeType::Tensor;
    if (!attribute.graphs.empty()) return AttributeType::Graph;
    return AttributeType::Undefined;
}

// Some writers omit zeros, so a missing single value is zero or empty.
void complete(Attribute& attribute) {
    if (attribute.type == AttributeType::Undefined) attribute.type = implied_type(attribute);
    if (attribute.type == AttributeType::Float && attribute.floats.empty())
        attribute.floats = {0.0F};
    if (attribute.type == AttributeType::Int && attribute.ints.empty()) attribute.ints = {0};
    if (attribute.type == AttributeType::String && attribute.strings.empty())
        attribute.strings = {""};
}

Result<void> Reader::read_attribute(const WireField& field,
                                    const std::string& path,
                                    std::vector<Attribute>& to) {
    LEMMA_TRY(count_part());
    Attribute attribute;
    Result<void> done = open(field, [&](const WireField& part) -> Result<void> {
        return part.number == attribute_field::Name ? set_text(part, attribute.name)
                                                    : Result<void>();
    });
    if (!done) return done;
    const std::string own = fmt::format("{}/attribute {}", path, path_name(attribute.name));
    attribute.place = place(own);
    done = open(field,
                [&](const WireField& part) { return read_attribute_field(part, own, attribute); });
    complete(attribute);
    to.push_back(std::move(attribute));
    return done;
}

Result<void> Reader::read_attribute_field(const WireField& field,
                                          const std::string& path,
                                          Attribute& attribute) {
    switch (field.number) {
        case attribute_field::Float: {
            LEMMA_TRY(const float value, tensor::wire_float(field));
            attribute.floats.push_back(value);
            return {};
        }
        case attribute_field::Int: {
            LEMMA_TRY(const int64_t value, tensor::wire_int(field));
            attribute.ints.push_back(value);
            return {};
        }
        case attribute_field::Floats:
            return tensor::append_floats(field, attribute.floats);
        case attribute_field::Ints:
            return tensor::append_ints(field, attribute.ints);
        case attribute_field::String:
        case attribute_field::Strings:
            return add_text(field, attribute.strings);
        case attribute_field::Tensor:
        case attribute_field::Tensors:
            return read_tensor(field, path, attribute.tensors);
        case attribute_field::Graph:
        case attribute_field::Graphs: {
            LEMMA_TRY(count_part());
            LEMMA_TRY(const GraphId graph, read_graph(field, path + "/graph"));
            attribute.graphs.push_back(graph);
            return {};
        }
        case attribute_field::Type: {
            LEMMA_TRY(const int64_t code, tensor::wire_int(field));
            if (code >= 0 && code <= static_cast<int64_t>(AttributeType::Types))
                attribute.type = static_cast<AttributeType>(code);
            return {};
        }
        case attribute_field::Reference:
            return set_text(field, attribute.reference);
        case attribute_field::Name:
            return {};
        default:
            return keep(field, attribute.rest);
    }
}

// ---- Tensors and types --------------------------------------------------------------------------

Result<void> Reader::read_tensor(const WireField& field,
                                 const std::string& path,
                                 std::vector<TensorData>& to) {
    LEMMA_TRY(count_part());
    LEMMA_TRY(const WireReader message, WireReader::open(field));
    auto proto = tensor::read_tensor_proto(message);
    TensorData data;
    if (proto) {
        data.proto = std::move(*proto);
    } else {  // the name is registered, so that its readers are not reported
        data.proto.name = tensor::tensor_proto_name(message);
    }
    std::string own = fmt::format("{}[{}]", path, to.size());
    if (proto || !data.proto.name.empty())
        own += fmt::format(" \"{}\"", path_name(data.proto.name));
    data.place = place(own);
    if (!proto) model_.faults.push_back({data.place, DiagKind::BadData, proto.error().message});
    to.push_back(std::move(data));
    return {};
}

Result<void> Reader::read_value(const WireField& field,
                                const std::string& path,
                                std::vector<ValueInfo>& to) {
    LEMMA_TRY(count_part());
    ValueInfo value;
    const Result<void> done = open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == value_field::Name) return set_text(part, value.name);
        if (part.number == value_field::Type) return read_type(part, value);
        if (part.number == value_field::Doc) return set_text(part, value.doc);
        return keep(part, value.rest);
    });
    value.place = place(fmt::format("{}[{}] \"{}\"", path, to.size(), path_name(value.name)));
    to.push_back(std::move(value));
    return done;
}

Result<void> Reader::read_type(const WireField& field, ValueInfo& value) {
    return open(field, [&](const WireField& part) -> Result<void> {
        switch (part.number) {
            case type_field::Tensor:
                value.kind = TypeKind::Tensor;
                return read_tensor_type(part, value);
            case type_field::Sequence:
                value.kind = TypeKind::Sequence;
                return keep(part, value.type);
            case type_field::Map:
                value.kind = TypeKind::Map;
                return keep(part, value.type);
            case type_field::SparseTensor:
                value.kind = TypeKind::SparseTensor;
                return keep(part, value.type);
            case type_field::Optional:
                value.kind = TypeKind::Optional;
                return keep(part, value.type);
            default:
                return keep(part, value.type);
        }
    });
}

Result<void> Reader::read_tensor_type(const WireField& field, ValueInfo& value) {
    return open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == tensor_type_field::Elem) return set_int(part, value.elem_type);
        if (part.number != tensor_type_field::Shape) return {};
        value.shape.emplace();
        return open(part, [&](const WireField& dimension) -> Result<void> {
            return dimension.number == 1 ? read_dimension(dimension, *value.shape) : Result<void>();
        });
    });
}

Result<void> Reader::read_dimension(const WireField& field, std::vector<Dimension>& to) {
    LEMMA_TRY(count_part());
    Dimension& dimension = to.emplace_back();
    return open(field, [&](const WireField& part) -> Result<void> {
        if (part.number == dimension_field::Value) {
            LEMMA_TRY(dimension.value, tensor::wire_int(part));
            return {};
        }
        if (part.number == dimension_field::Param) return set_text(part, dimension.param);
        if (part.number == dimension_field::Denotation) return set_text(part, dimension.denotation);
        return {};
    });
}

}  // namespace

Result<Model> read_model(tensor::SharedBytes bytes, const ReadLimits& limits) {
    Model model;
    model.bytes = std::move(bytes);
    Reader reader(model, limits);
    LEMMA_TRY(reader.read_model(WireReader(*model.bytes)));
    return model;
}

}  // namespace lemma::onnx
