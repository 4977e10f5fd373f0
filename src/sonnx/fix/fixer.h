// SPDX-License-Identifier: Apache-2.0
// sonnx/fix/fixer.h — the state of one rewriting: the original with look-ups by name, the new model
// and the log. Each step is a function of its own; fix.cpp has the order.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "diag/utf8.h"
#include "sonnx/broadcast.h"
#include "sonnx/fix.h"
#include "sonnx/optional_inputs.h"

namespace lemma::sonnx {

class Fixer {
public:
    explicit Fixer(const Subject& subject) : view_(subject), model_(subject.model) {}

    Fixed run();

private:
    using Node = onnx::Node;

    // ---- fix.cpp: names, log, types
    onnx::Graph& graph() { return model_.graphs[model_.main]; }
    void log(std::string_view rule, onnx::PathSpan place, std::string message) {
        changes_.push_back({rule, place, std::move(message)});
    }
    void take_names();
    std::string fresh_name(const std::string& wish);
    static void set(Node& node, onnx::Attribute attribute);
    void drop_overridable_inputs();
    void drop_dead_nodes();
    void drop_orphans();
    void declare_types();
    bool complete(onnx::ValueInfo& value, const TensorType& type);
    void complete_logged(onnx::ValueInfo& value);
    void fix_node(Node node, std::vector<Node>& to);

    // ---- attributes.cpp
    void write_defaults(Node& node);
    void write_pads(Node& node);
    void write_pool(Node& node);
    void write_axes(Node& node);
    void write_axes_input(Node& node, int64_t rank);
    void write_activations(Node& node);

    // ---- inputs.cpp: constants as inputs
    std::string add_constant(const std::string& wish, tensor::Tensor tensor);
    std::string integer_constant(const std::string& wish, const Extents& items);
    std::string shape_constant(const Extents& shape);
    bool affordable(const InputValue& value);
    void write_inputs(Node& node);
    void write_expansions(Node& node, std::vector<Node>& to);
    std::string expanded(const Node& node, const Expansion& expansion, std::vector<Node>& to);
    void write_literal_shape(Node& node);
    void write_slice(Node& node);
    void write_bounds(Node& node);

    // ---- rewrite.cpp: other nodes
    bool fold(const Node& node);
    void write_equivalent(Node& node);
    void write_gemm(Node& node, std::vector<Node>& to);
    std::string turned(const Node& node, size_t input, std::vector<Node>& to);
    bool write_matmul(const Node& node, std::vector<Node>& to);
    void add_node(Node node, const TensorType& type, std::vector<Node>& to);
    Node reshape(const Node& of, const std::string& from, const std::string& to, const Extents& as);

    View view_;
    onnx::Model model_;
    std::vector<Change> changes_;
    std::unordered_set<std::string> names_;
    std::unordered_set<std::string> results_;  // names of the outputs of the graph
    std::unordered_set<std::string> gone_;     // results of dropped nodes
    std::map<std::string, int64_t> next_;      // next number for a fresh name
    std::map<Extents, std::string> shape_constants_;
    std::map<std::pair<std::string, Extents>, std::string> expanded_;  // name by input and shape
    std::map<std::string, std::string> turned_;                        // transposed matrix by input
    std::map<std::string, TensorType> added_types_;
    int64_t added_bytes_ = 0;  // of optional inputs
};

}  // namespace lemma::sonnx
