// SPDX-License-Identifier: Apache-2.0
// onnx/model.h — an ONNX model as its file states it: graphs, nodes, attributes, tensors. Names are
// strings, nothing is resolved yet. Every part has a place, a line of `Model::paths`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/store.h"
#include "diag/diagnostic.h"
#include "tensor/files/pb_file.h"

namespace lemma::onnx {

struct GraphId : Id<GraphId> {};

// A line of `Model::paths`: `graph/node[12]:Conv "conv1"/attribute pads`.
struct PathSpan {
    uint32_t begin = 0;
    uint32_t end = 0;
};

// Unknown fields, as bytes of the file. Writing a part writes them, too.
using Rest = std::string;

// A tensor without its elements. They stay in the bytes of the model or in another file.
struct TensorData {
    tensor::TensorProto proto{.message = tensor::WireReader({})};
    PathSpan place;
};

struct Dimension {
    std::optional<int64_t> value;
    std::string param;  // name of a runtime extent; may be empty, too
    std::string denotation = {};
};

enum class TypeKind : uint8_t { Missing, Tensor, SparseTensor, Sequence, Map, Optional };

// An input, an output or an intermediate tensor with its declared type.
struct ValueInfo {
    std::string name;
    TypeKind kind = TypeKind::Missing;
    int64_t elem_type = 0;                        // type code of ONNX
    std::optional<std::vector<Dimension>> shape;  // missing: any rank
    PathSpan place;
    std::string doc = {};
    Rest type = {};  // rest of the type; the whole type if it is not a tensor type
    Rest rest = {};
};

// The values are codes of the format.
enum class AttributeType : uint8_t {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
};
// "an int", "a list of floats"
std::string_view attribute_type_text(AttributeType type);

struct Attribute {
    std::string name;
    AttributeType type = AttributeType::Undefined;
    std::string reference;             // inside a function: an attribute of its call
    std::vector<float> floats;         // one for Float
    std::vector<int64_t> ints;         // one for Int
    std::vector<std::string> strings;  // one for String
    std::vector<TensorData> tensors;
    std::vector<GraphId> graphs;
    PathSpan place;
    Rest rest = {};
};

struct Node {
    std::string op;
    std::string domain;  // empty: ai.onnx
    std::string overload;
    std::string name;
    std::vector<std::string> inputs;  // empty name: omitted input
    std::vector<std::string> outputs;
    std::vector<Attribute> attributes;
    PathSpan place;
    Rest rest = {};
};

struct Graph {
    std::string name;
    std::vector<Node> nodes;
    std::vector<TensorData> initializers;
    std::vector<ValueInfo> inputs;
    std::vector<ValueInfo> outputs;
    std::vector<ValueInfo> values;  // types of intermediate tensors
    PathSpan place;
    Rest rest = {};  // including sparse initialisers
};

struct OperatorSet {
    std::string domain;
    int64_t version = 0;
};

struct Function {
    std::string name;
    std::string domain;
    std::string overload;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> attributes;  // without default
    std::vector<Attribute> defaults;
    std::vector<OperatorSet> opsets;
    std::vector<Node> nodes;
    PathSpan place;
    Rest rest = {};
};

// A problem with a part of the file that did not stop reading.
struct Fault {
    PathSpan place;
    DiagKind kind{};
    std::string message;
};

struct Property {
    std::string key;
    std::string value;
};

struct Model {
    tensor::SharedBytes bytes;  // bytes that tensors refer to
    // Bytes of tensors that were added after reading.
    std::vector<std::shared_ptr<const std::string>> added_bytes;
    int64_t ir_version = 0;
    std::string producer;
    std::string producer_version;
    int64_t version = 0;  // version of the model itself
    std::string doc;
    std::vector<Property> metadata;
    std::vector<OperatorSet> opsets;
    Store<GraphId, Graph> graphs;
    GraphId main;
    std::vector<Function> functions;
    std::vector<Fault> faults;
    std::string paths;  // one line per part
    Rest rest;
};

// The default domain has two names.
bool is_default_domain(std::string_view domain);
// The domain of ONNX Runtime's operators.
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";
const Attribute* find_attribute(const Node& node, std::string_view name);

}  // namespace lemma::onnx
