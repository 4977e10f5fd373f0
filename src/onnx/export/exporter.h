// SPDX-License-Identifier: Apache-2.0
// onnx/export/exporter.h — the implementation of export.h: the state of writing one program with
// one operator set.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/unique_names.h"
#include "onnx/export.h"
#include "onnx/export/schema.h"

namespace lemma::onnx {

using ir::DType;

// A node whose inputs and attributes may still change.
struct NodeDraft {
    const ir::Operation& source;
    const Operator& row;
    std::string op;
    std::vector<std::string> inputs;  // an empty name: omitted
    std::map<std::string, ir::Value> attributes;
    std::vector<Attribute> ready;  // attributes that are tensors, graphs, …
};

class Exporter {
public:
    struct Options {
        int64_t opset;
        bool fixed_opset;  // an operation that needs another one is reported
        bool has_data;     // variables are initialisers, not inputs
    };
    Exporter(const ir::Program& program, const Options& options, Diagnostics& diag);

    // Writes everything except the elements of variables and constants.
    void run();
    // The needed operator set; if it is larger than the given one, write again with it.
    int64_t needed() const { return needed_; }
    Result<Model> finish(const ExportOptions& options);

    // ---- For adapt.cpp --------------------------------------------------------------------------
    int64_t opset() const { return opset_; }
    const ir::Program& program() const { return program_; }
    const ir::Tensor& input(const NodeDraft& node, size_t port) const;
    // A tensor of rank 1 (or 0: `single`) with these elements: an initialiser if they are
    // constants, else computed by nodes. Empty and reported if they cannot be computed.
    std::string list(const ir::Operation& op, const std::vector<ir::Scalar>& items, DType dtype);
    std::string single(const ir::Operation& op, const ir::Scalar& item, DType dtype);
    TensorData tensor_of(const std::vector<ir::Scalar>& items, DType dtype, tensor::Shape shape);
    // Requires an operator set for the operation.
    void require(const ir::Operation& op, int64_t version, std::string_view what);
    void cannot(const ir::Operation* op, std::string message);

private:
    // The state of a graph being written; sub-graphs see the scopes around them.
    struct Scope {
        Graph graph;
        std::unordered_set<std::string> made;  // outputs of its nodes
        // The source of each symbol: an axis of a tensor, or a tensor with one element.
        std::unordered_map<ir::SymId, std::pair<std::string, size_t>, IdHash> axes;
        std::unordered_map<ir::SymId, std::string, IdHash> scalars;
    };

    // export.cpp: the graph and its tensors
    void name_ports();
    void finish_outputs();
    void find_used(const std::vector<ir::OpId>& list);
    void use_graph(ir::GraphId id);
    std::string unique(const std::string& name);
    std::string define(ir::TensorId id);
    std::string name_of(ir::TensorId id);
    void bind(ir::TensorId id, std::string name);
    std::string constant(ir::TensorId id);
    std::string initializer(const std::vector<ir::Scalar>& items, DType dtype, tensor::Shape shape);
    ValueInfo value_info(const std::string& name, const ir::Tensor& tensor) const;
    ValueInfo value_info(const std::string& name, DType dtype, const tensor::Shape& shape) const;
    std::string dimension_text(ir::SymId extent) const;
    void learn_extents(const std::string& name, const std::vector<ir::SymId>& shape);
    Graph& graph() { return scopes_.back().graph; }

    // fold.cpp: operations that need no node
    bool fold(const ir::Operation& op, const std::string& name);

    // nodes.cpp: operations as nodes
    void operations(const std::vector<ir::OpId>& list, int depth);
    void operation(ir::OpId id, int depth);
    void node(const ir::Operation& op, const Operator& row);
    bool steer(NodeDraft& draft);
    void choose_types(NodeDraft& draft);
    bool add_attributes(NodeDraft& draft, Node& node);
    std::optional<Attribute> attribute(const ir::Operation& op,
                                       const std::string& name,
                                       const ir::Value& value);
    std::vector<std::string> outputs(const ir::Operation& op);
    bool is_made_by(const ir::Operation& op, ir::TensorId id) const;
    void stack(const ir::Operation& op);
    void unstack(const ir::Operation& op);
    std::string pack_as_tensor(const ir::Operation& op, const ir::Operand& pack);
    void add_node(Node node);
    // Adds a node without an operation, with one output of this type.
    std::string helper(std::string op,
                       std::vector<std::string> inputs,
                       DType dtype,
                       const tensor::Shape& shape,
                       std::vector<Attribute> attributes = {});
    // The same with the extents of `like`, a tensor of the program.
    std::string helper_like(std::string op,
                            std::vector<std::string> inputs,
                            const ir::Tensor& like,
                            std::vector<Attribute> attributes = {});
    std::string identity(const std::string& name, const ir::Tensor& like);

    // extents.cpp: arithmetic on extents
    std::string extent(const ir::Operation* op, ir::SymId id, int depth);
    std::string condition(const ir::Operation* op, ir::SymId id, int depth);
    std::string extent_of_symbol(ir::SymId id);
    ir::SymId as_integer(ir::SymId id) const;
    std::string fold_extents(const ir::Operation* op,
                             std::string_view with,
                             const std::vector<ir::SymId>& operands,
                             int depth);
    std::string polynomial(const ir::Operation* op, const ir::SymNode& node, int depth);

    // control.cpp
    void branch(const ir::Operation& op, const ir::Branch& branch, size_t arm, int depth);
    std::vector<std::string> region(ir::GraphId id, int depth);
    void begin_scope(std::string name);
    GraphId end_scope(const std::vector<std::pair<std::string, ir::TensorId>>& results);
    void loop(const ir::Operation& op, const ir::Loop& loop, int depth);
    std::string loop_count(const ir::Operation& op, const ir::Loop& loop);
    std::string initial_value(const ir::Operation& op, const ir::Loop& loop, size_t index);
    std::string dynamic_count(const ir::Loop& loop);
    std::string typed_step(const ir::Loop& loop, const std::string& step);
    std::string loop_condition(const ir::Loop& loop,
                               const std::string& step,
                               const std::string& count,
                               int depth);
    GraphId loop_body(const ir::Operation& op,
                      const ir::Loop& loop,
                      const std::vector<std::string>& packs,
                      const std::string& count,
                      int depth);
    void take_collected(const ir::Operation& op, size_t output, const std::string& stacked);

    const ir::Program& program_;
    const int64_t opset_;
    const bool fixed_opset_;
    const bool has_data_;
    Diagnostics& diag_;
    int64_t needed_;
    int64_t ml_opset_ = 0;    // 0: no operator of that domain
    bool microsoft_ = false;  // an operator of the domain com.microsoft occurs
    Model model_;
    std::vector<Scope> scopes_;
    UniqueNames used_names_;
    UniqueNames node_names_;
    std::unordered_map<ir::TensorId, std::string, IdHash> names_;
    std::unordered_map<ir::TensorId, std::string, IdHash> wanted_;  // names of outputs
    std::unordered_set<ir::TensorId, IdHash> used_;                 // has a reader
    std::unordered_set<ir::TensorId, IdHash> stacked_uses_;         // is stacked with others
    struct Stacked {
        std::string name;
        std::vector<ir::TensorId> items;
    };
    std::unordered_map<ir::TensorId, Stacked, IdHash> stacked_;  // packs, by their first item
    std::map<std::string, std::string> constants_;               // initialisers by content
    struct Variable {
        std::string name;
        ir::TensorId tensor;
        std::optional<tensor::Shape> shape;  // replaces its own shape
    };
    std::vector<Variable> variables_;
    std::unordered_map<std::string, std::vector<ir::SymId>> symbols_;  // by their names
};

// Adapts a node to the operator set (adapt.cpp). False and reported if that is impossible.
bool adapt(Exporter& exporter, NodeDraft& node);
// Whether it has a function for the operator, besides the facts of the table.
bool has_export_code(std::string_view op);

// The same elements in another shape.
tensor::Tensor reshaped(tensor::Tensor data, tensor::Shape shape);
// Whether an attribute of an operation is `true`.
bool is_true(const ir::Operation& op, std::string_view name);

Attribute int_attribute(std::string name, int64_t value);
Attribute ints_attribute(std::string name, std::vector<int64_t> values);
Attribute text_attribute(std::string name, std::string value);

}  // namespace lemma::onnx
