// SPDX-License-Identifier: Apache-2.0
// onnx/import/importer.h — the state of one import: values by name in nested scopes, and what is
// known about them. Each family of operators has its own file.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/import.h"
#include "onnx/import/attributes.h"
#include "onnx/import/constant_value.h"
#include "onnx/import/fold.h"
#include "onnx/operators.h"

namespace lemma::onnx {

struct ValueId : Id<ValueId> {};

// A node with resolved names. After normalisation it has the form of the newest opset.
struct NodeCall {
    const Node* node = nullptr;
    std::string op;
    int64_t opset = 0;
    Attributes attributes;
    std::map<std::string, const Attribute*> parts;  // attributes that are tensors or graphs
    std::vector<ValueId> inputs;                    // invalid: left out
    std::vector<std::string> outputs;
    std::vector<DType> types;          // given explicitly
    std::optional<DType> result_type;  // the first result is cast to it
    Span span;

    bool has_input(size_t index) const { return index < inputs.size() && inputs[index].valid(); }
    ValueId input(size_t index) const { return index < inputs.size() ? inputs[index] : ValueId{}; }
    // Removes an input that became an attribute. Later inputs keep their positions.
    void clear_input(size_t index) {
        if (index < inputs.size()) inputs[index] = {};
    }
    void drop_input(size_t index) {
        if (index < inputs.size())
            inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(index));
    }
};

// The meaning of a name.
struct Value {
    std::string name;
    ir::TensorId tensor;  // made on first use
    std::optional<std::shared_ptr<const ConstantValue>>
        known;                              // computed on first request; null: unknown
    const TensorData* data = nullptr;       // elements of an initialiser
    std::shared_ptr<const NodeCall> maker;  // the call that makes it, and the output of that call
    size_t maker_output = 0;
    std::shared_ptr<const std::vector<ValueId>> items;  // of a sequence, which is not a tensor
    bool graph_input = false;
    bool broken = false;  // reported; values that depend on it are broken, too
    bool asked = false;   // `given` holds its value for the given inputs
    std::shared_ptr<const ConstantValue> given;
    bool undecided = false;  // known once the graph inputs have values
};

// A graph or function body whose nodes are being imported.
struct Scope {
    const Scope* outer = nullptr;  // its names are visible, too
    std::unordered_map<std::string, ValueId> names;
    const std::vector<OperatorSet>* opsets = nullptr;
    const std::map<std::string, const Attribute*>* arguments = nullptr;  // of a function call
    int function_depth = 0;
    std::string label;  // prefix of the labels of its nodes
};

class Importer {
public:
    Importer(const Model& model,
             diag::FileId file,
             ir::CallBuilder& builder,
             const ImportOptions& options,
             Diagnostics& diag);

    Imported run();

    // ---- For normalisation, which also calls operators ------------------------------------------
    ir::SymbolPool& symbols() { return builder_.symbols(); }
    DType dtype(ValueId id);  // any type for an omitted input
    std::vector<ir::SymId> shape(ValueId id);
    size_t rank(ValueId id) { return shape(id).size(); }
    ValueId constant(ConstantValue known, std::string name = "");
    // Adds a call that the model does not have, with the place of `like`. Invalid on an error.
    ValueId make(const NodeCall& like,
                 std::string op,
                 std::vector<ValueId> inputs,
                 Attributes attributes = {},
                 std::vector<DType> types = {});
    // Elements that do not depend on graph inputs; null if unknown.
    const ConstantValue* known(ValueId id);
    // The same, or elements that follow from the given graph inputs.
    const ConstantValue* decided(ValueId id);
    Result<ConstantValue> known_tensor(const TensorData& data);
    // Reports an error and returns false.
    bool fail(const NodeCall& call, DiagKind kind, std::string message);
    bool not_supported(const NodeCall& call, std::string message) {
        return fail(call, DiagKind::NotSupported, std::move(message));
    }

private:
    using Results = std::optional<std::vector<ValueId>>;

    // import.cpp
    void import_initializers(const Graph& graph, Scope& scope);
    void import_inputs(const Graph& graph, Scope& scope);
    ir::SymId extent_of(const Dimension& dimension, const std::string& name);
    std::optional<ir::Graph> main_graph(const Graph& graph, const Scope& scope);
    // Compares the declared type and shape of a value with the actual ones.
    enum class Declared : uint8_t { Value, Output };
    void check_declared(const ValueInfo& declared, const Scope& scope, Declared what);
    Span span(PathSpan place) const { return {file_, place.begin, place.end}; }

    // nodes.cpp
    void import_nodes(const std::vector<Node>& nodes, Scope& scope);
    void import_node(const Node& node, Scope& scope);
    std::optional<NodeCall> resolve(const Node& node, const Scope& scope);
    // Invalid if the name is unknown or belongs to an omitted input.
    ValueId find(const Scope& scope, const std::string& name) const;
    bool is_there(const Scope& scope, const std::string& name) const;
    int64_t opset_of(const Scope& scope, const std::string& domain) const;
    Results import_call(NodeCall call, const Scope& scope);
    Results call_operator(std::shared_ptr<const NodeCall> call);
    Results fold_call(const NodeCall& call);
    std::optional<std::vector<ConstantValue>> fold_known(const NodeCall& call, bool with_inputs);
    std::string definition_of(const NodeCall& call);
    std::optional<ir::Call> lowered_call(const NodeCall& call);
    Results import_constant(const NodeCall& call);
    Results alias(const NodeCall& call);
    void add_attribute(const Attribute& attribute, const Scope& scope, NodeCall& call);

    // steering.cpp
    bool steer(NodeCall& call);
    bool steer_by(NodeCall& call, const Steering& steering);
    bool choose_types(NodeCall& call);
    bool resolve_reshape(NodeCall& call);
    std::optional<ir::SymId> remaining_extent(const std::vector<ir::SymId>& from,
                                              const std::vector<ir::SymId>& taken);
    Results bind_results(const std::shared_ptr<const NodeCall>& call,
                         const std::vector<ir::Operand>& operands);
    std::string label_of(const NodeCall& call) const;

    // functions.cpp
    const Function* find_function(const Node& node) const;
    Results import_function(const NodeCall& call, const Function& function, const Scope& scope);

    // sequences.cpp
    Results import_sequence(const NodeCall& call);
    Results split_to_sequence(const NodeCall& call);
    ValueId sequence_value(std::vector<ValueId> items, const std::string& name);
    const std::vector<ValueId>* items_of(const NodeCall& call, size_t input);
    // The position that an input gives, or `end` without one; empty if it is out of range.
    std::optional<size_t> position(const NodeCall& call, size_t input, size_t end, size_t count);
    bool refuse_sequences(const NodeCall& call, const std::vector<ValueId>& values);
    bool refuse_missing(const NodeCall& call, size_t first);

    // attention.cpp
    Results import_flex_attention(const NodeCall& call, const Scope& scope);
    Results import_optimizer(const NodeCall& call);
    std::optional<ValueId> modified(const NodeCall& call,
                                    const char* graph,
                                    ValueId value,
                                    const Scope& scope);

    // control.cpp
    Results import_control(const NodeCall& call, const Scope& scope);
    Results import_if(const NodeCall& call, const Scope& scope);
    Results import_branches(const NodeCall& call,
                            const Scope& scope,
                            const Graph& consequent,
                            const Graph& alternative);
    Results import_loop(const NodeCall& call, const Scope& scope);
    Results unroll_loop(const NodeCall& call, const Scope& scope, const Graph& body, int64_t count);
    ValueId nothing_of(const ValueInfo& output);

    // loops.cpp
    struct LoopCount {
        std::optional<int64_t> count;  // upper bound of steps
        ir::SymId length;              // length of collected outputs, if a run may stop early
    };
    Results repeat_loop(const NodeCall& call,
                        const Scope& scope,
                        const Graph& body,
                        const LoopCount& steps);
    bool can_collect(const NodeCall& call, std::optional<int64_t> count);
    bool connect_loop(const NodeCall& call,
                      const std::vector<ValueId>& initial,
                      const std::vector<ValueId>& results,
                      const LoopCount& steps,
                      ir::Operation& operation,
                      ir::Graph& body);

    // scan.cpp
    Results import_scan(const NodeCall& call, const Scope& scope);
    Results import_batched_scan(const NodeCall& call, const Scope& scope);
    struct ScanParts;
    Results unroll_scan(const NodeCall& call, const Scope& scope, const ScanParts& parts);
    std::optional<ValueId> merged(const NodeCall& call, ValueId a, ValueId b);
    // Imports the nodes of a sub-graph with its inputs bound, and returns its outputs.
    Results import_body(const NodeCall& call,
                        const Graph& graph,
                        const std::vector<ValueId>& inputs,
                        const Scope& scope);
    const Graph* graph_attribute(const NodeCall& call, const std::string& name);
    ValueId stacked(const NodeCall& call, const std::vector<ValueId>& items, int64_t axis);
    ValueId stacked_pack(const NodeCall& call, ir::Operand pack, int64_t axis);
    // One slice of an axis, without that axis; or all slices.
    ValueId sliced(const NodeCall& call, ValueId from, int64_t axis, int64_t index);
    Results unstacked(const NodeCall& call, ValueId from, int64_t axis, int64_t count);
    // A tensor inside a loop, or one of its results.
    ir::TensorId loop_tensor(const std::string& name, ValueId like);

    // values.cpp
    ValueId add_value(Value value) { return values_.add(std::move(value)); }
    ValueId broken_value(const std::string& name);
    ValueId tensor_value(ir::TensorId tensor, const std::string& name);
    ValueId known_value(ConstantValue known, const std::string& name);
    ir::TensorId tensor(ValueId id);
    ir::TensorId constant_tensor(const ConstantValue& known, const std::string& name);
    ir::TensorId variable_tensor(const TensorData& data, const std::string& name);
    bool any_broken(const std::vector<ValueId>& ids) const;

    const Model& model_;
    diag::FileId file_;
    ir::CallBuilder& builder_;
    const ImportOptions& options_;
    Diagnostics& diag_;
    Store<ValueId, Value> values_;
    std::map<std::string, ir::SymId> dimensions_;  // by their names in the model
    std::vector<VariableData> data_;
    bool reads_files_ = false;  // see Imported
    std::set<std::string> deciding_;
    std::set<std::string> undecided_;
    std::map<std::string, const Function*> functions_;
    std::vector<const Function*> active_;  // functions being inlined
    int64_t calls_ = 0;
    int64_t known_items_ = 0;  // total items of folded nodes
    int decide_depth_ = 0;
    bool failed_ = false;  // the program is incomplete
};

// Brings a call to the form of the newest opset (normalise.cpp and a file per family). Returns
// false and reports if that is impossible.
bool normalise(Importer& importer, NodeCall& call);

}  // namespace lemma::onnx
