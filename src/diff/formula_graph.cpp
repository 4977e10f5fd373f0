// SPDX-License-Identifier: Apache-2.0
#include "diff/formula_graph.h"

#include <algorithm>
#include <unordered_map>

#include "diff/views.h"
#include "show/cost.h"

namespace lemma::diff {

namespace {

class FormulaGraphMaker {
public:
    explicit FormulaGraphMaker(ir::Program& program)
        : program_(program), views_(program), expressions_(program.symbols) {}

    Graph run() {
        graph_.program = &program_;
        add_terminals(program_, graph_);
        number_extents();
        visit_operations(program_, true, [this](ir::OpId id, Hash place) { add(id, place); });
        for (Terminal& output : graph_.outputs) output.tensor = views_.same(output.tensor);
        drop_unused();
        index_edges(graph_);
        return std::move(graph_);
    }

private:
    // The extents of the inputs are the same in both models if they stand at the same places.
    void number_extents() {
        uint64_t count = 0;
        std::vector<ir::SymId> seen;
        for (const Terminal& input : graph_.inputs) {
            for (const ir::SymId extent : program_.tensors[input.tensor].shape) {
                for (const ir::SymId symbol : program_.symbols.symbols_of(extent)) {
                    if (std::ranges::find(seen, symbol) != seen.end()) continue;
                    seen.push_back(symbol);
                    expressions_.bind_outer(symbol, Hasher("extent").add(count++).hash());
                }
            }
        }
    }

    void add(ir::OpId id, Hash place) {
        const ir::Operation& op = program_.operations[id];
        Node node = plain_node(program_, id, place, expressions_);
        if (op.kind == ir::OperationKind::Primitive) {
            add_formulas(op, node);
            views_.learn(op);
        } else {
            for (Edge& edge : node.inputs) edge.tensor = views_.same(edge.tensor);
            node.definition = function_hash(program_, op, expressions_);
        }
        Hasher full("full");
        full.add(place).add(node.definition).add(node.outputs.size());
        for (const Edge& edge : node.outputs) full.add(type_hash(edge.tensor));
        node.full = full.hash();
        graph_.nodes.push_back(std::move(node));
    }

    Hash type_hash(ir::TensorId id) {
        expressions_.begin();
        const ir::Tensor& tensor = program_.tensors[id];
        Hasher hasher("type");
        hasher.add(static_cast<uint64_t>(tensor.dtype));
        for (const ir::SymId extent : tensor.shape) {
            if (program_.symbols.as_int(extent) == 1) continue;
            hasher.add(expressions_.hash(extent));
        }
        return hasher.hash();
    }

    // The inputs are the tensors that the formulas read, in this order.
    void add_formulas(const ir::Operation& op, Node& node) {
        node.inputs.clear();
        std::vector<ir::TensorId> read;
        std::unordered_map<ir::TensorId, uint64_t, IdHash> numbers, outputs;
        for (const Edge& edge : node.outputs) outputs.emplace(edge.tensor, outputs.size());
        const auto number = [&](ir::TensorId id) {
            if (const auto found = outputs.find(id); found != outputs.end())
                return Hasher("output").add(found->second).hash();
            const auto [found, added] = numbers.emplace(id, numbers.size());
            if (added) read.push_back(id);
            return Hasher("input").add(found->second).hash();
        };
        Hasher definition("formulas");
        for (const ir::Formula& formula : op.formulas)
            definition.add(views_.formula_hash(formula, expressions_, number));
        node.definition = definition.hash();
        // The port that reads a tensor, possibly through copies.
        std::unordered_map<ir::TensorId, const ir::Port*, IdHash> ports;
        for (const ir::Port& port : op.inputs)
            for (const ir::TensorId item : port.operand.items)
                ports.emplace(views_.base(item), &port);
        for (const ir::TensorId id : read) {
            const auto port = ports.find(id);
            node.inputs.push_back({port == ports.end() ? "" : port->second->name, id});
        }
    }

    void drop_unused() {
        Table<ir::TensorId, char> wanted(program_.tensors.size());
        for (const Terminal& output : graph_.outputs) wanted[output.tensor] = 1;
        std::vector<Node> kept;
        for (size_t n = graph_.nodes.size(); n-- > 0;) {
            Node& node = graph_.nodes[n];
            const bool used = std::ranges::any_of(
                node.outputs, [&](const Edge& edge) { return wanted[edge.tensor] != 0; });
            if (!used) continue;
            for (const Edge& edge : node.inputs)
                if (edge.tensor.valid()) wanted[edge.tensor] = 1;
            kept.push_back(std::move(node));
        }
        std::ranges::reverse(kept);
        graph_.nodes = std::move(kept);
    }

    ir::Program& program_;
    Views views_;
    ExprHasher expressions_;
    Graph graph_;
};

}  // namespace

Hash function_hash(const ir::Program& program, const ir::Operation& op, ExprHasher& expressions) {
    expressions.begin();
    Hasher hasher("function");
    if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
        return hasher.add("loop")
            .add(expressions.hash(loop->static_count))
            .add(loop->carried.size())
            .add(loop->items.size())
            .add(loop->dynamic_count.valid() ? 1 : 0)
            .add(loop->pre_condition.valid() ? 1 : 0)
            .add(loop->post_condition.valid() ? 1 : 0)
            .hash();
    }
    hasher.add(op.op);
    if (const auto* branch = std::get_if<ir::Branch>(&op.control))
        return hasher.add(branch->arms.size()).hash();
    for (const ir::Attribute& attribute : op.attributes)
        hasher.add(attribute.name).add(expressions.hash(attribute.value));
    for (const auto* ports : {&op.inputs, &op.outputs})
        for (const ir::Port& port : *ports)
            hasher.add(port.operand.packed ? 1 : 0).add(port.operand.items.size());
    for (const ir::Port& port : op.outputs)
        for (const ir::TensorId id : port.operand.items)
            hasher.add(static_cast<uint64_t>(program.tensors[id].dtype));
    return hasher.hash();
}

Graph make_formula_graph(Side& side) { return FormulaGraphMaker(side.program).run(); }

}  // namespace lemma::diff
