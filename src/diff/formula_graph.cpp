// SPDX-License-Identifier: Apache-2.0
#include "diff/formula_graph.h"

#include <algorithm>

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
        walk(program_.graphs[program_.main].operations, Hasher("main").hash());
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

    void walk(const std::vector<ir::OpId>& ops, Hash place) {
        for (const ir::OpId id : ops) {
            const ir::Operation& op = program_.operations[id];
            if (op.compound()) {
                walk(op.parts, place);
                continue;
            }
            for (const show::Body& body : show::bodies(op)) {
                walk(program_.graphs[body.graph].operations,
                     Hasher("body").add(place).add(std::string_view(body.role)).hash());
            }
            add(id, place);
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
            // Names of ports and operators count where there is no formula.
            node.definition = Hasher("function").add(node.signature).hash();
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
        const auto number = [&](ir::TensorId id) {
            for (size_t i = 0; i < node.outputs.size(); ++i)
                if (node.outputs[i].tensor == id) return Hasher("output").add(i).hash();
            const auto found = std::ranges::find(read, id);
            const auto at = static_cast<uint64_t>(found - read.begin());
            if (found == read.end()) read.push_back(id);
            return Hasher("input").add(at).hash();
        };
        Hasher definition("formulas");
        for (const ir::Formula& formula : op.formulas)
            definition.add(views_.formula_hash(formula, expressions_, number));
        node.definition = definition.hash();
        for (const ir::TensorId id : read) node.inputs.push_back({port_of(op, id), id});
    }

    // The port that reads a tensor, possibly through copies.
    std::string port_of(const ir::Operation& op, ir::TensorId id) const {
        for (const ir::Port& port : op.inputs)
            for (const ir::TensorId item : port.operand.items)
                if (item == id || views_.base(item) == id) return port.name;
        return "";
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

Graph make_formula_graph(Side& side) { return FormulaGraphMaker(side.program).run(); }

}  // namespace lemma::diff
