// SPDX-License-Identifier: Apache-2.0
#include "diff/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/match.h"
#include "diff/expr_hash.h"
#include "diff/formula_graph.h"
#include "ir/text/text_words.h"
#include "show/cost.h"
#include "show/table.h"

namespace lemma::diff {

namespace {

void visit(const ir::Program& program,
           bool parts,
           const std::vector<ir::OpId>& ops,
           Hash place,
           const OperationVisitor& visitor) {
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program.operations[id];
        if (op.compound() && parts) {
            visit(program, parts, op.parts, place, visitor);
            continue;
        }
        for (const show::Body& body : show::bodies(op)) {
            const Hash inside = Hasher("body").add(place).add(std::string_view(body.role)).hash();
            visit(program, parts, program.graphs[body.graph].operations, inside, visitor);
        }
        visitor(id, place);
    }
}

}  // namespace

void visit_operations(const ir::Program& program, bool parts, const OperationVisitor& visitor) {
    visit(program, parts, program.graphs[program.main].operations, Hasher("main").hash(), visitor);
}

namespace {

constexpr size_t kMaxText = 120;  // of an attribute in reports

std::string scalar_text(const ir::SymbolPool& symbols, const ir::Scalar& scalar) {
    return match(
        scalar,
        [](int64_t number) { return std::to_string(number); },
        [](double number) { return ir::real_text(number); },
        [](bool truth) { return std::string(truth ? "true" : "false"); },
        [](const std::string& text) { return ir::quoted_text(text); },
        [&](ir::SymId id) { return symbols.text(id); });
}

std::string value_text(const ir::SymbolPool& symbols, const ir::Value& value) {
    return match(
        value,
        [](ir::Null) { return std::string("null"); },
        [&](const ir::Scalar& scalar) { return scalar_text(symbols, scalar); },
        [&](const ir::Pack& pack) {
            std::string text = "[";
            for (size_t i = 0; i < pack.items.size(); ++i) {
                if (text.size() > kMaxText) return text + ", …]";
                text += (i > 0 ? ", " : "") + scalar_text(symbols, pack.items[i]);
            }
            return text + "]";
        });
}

bool is_symbolic(const ir::Value& value) {
    const auto symbol = [](const ir::Scalar& scalar) {
        return std::holds_alternative<ir::SymId>(scalar);
    };
    return match(
        value,
        [](ir::Null) { return false; },
        [&](const ir::Scalar& scalar) { return symbol(scalar); },
        [&](const ir::Pack& pack) { return std::ranges::any_of(pack.items, symbol); });
}

class GraphMaker {
public:
    GraphMaker(const ir::Program& program, Level level)
        : program_(program), level_(level), expressions_(program.symbols) {}

    Graph run() {
        graph_.program = &program_;
        add_terminals(program_, graph_);
        visit_operations(program_, level_ == Level::Primitive, [this](ir::OpId id, Hash place) {
            add(id, place);
        });
        index_edges(graph_);
        return std::move(graph_);
    }

private:
    void add(ir::OpId id, Hash place) {
        Node node = plain_node(program_, id, place, expressions_);
        node.definition = definition_hash(program_, id);
        Hasher full("full");
        full.add(node.signature).add(node.definition);
        for (const Edge& edge : node.outputs) full.add(type_hash(program_, edge.tensor));
        node.full = full.hash();
        graph_.nodes.push_back(std::move(node));
    }
    Hash type_hash(const ir::Program& program, ir::TensorId id) {
        expressions_.begin();
        const ir::Tensor& tensor = program.tensors[id];
        Hasher hasher("type");
        hasher.add(static_cast<uint64_t>(tensor.dtype));
        for (const ir::SymId extent : tensor.shape) hasher.add(expressions_.hash(extent));
        if (tensor.quantizer) {
            hasher.add(tensor.quantizer->op);
            for (const ir::Attribute& attribute : tensor.quantizer->attributes)
                hasher.add(attribute.name).add(expressions_.hash(attribute.value));
        }
        return hasher.hash();
    }

    const ir::Program& program_;
    Level level_;
    ExprHasher expressions_;
    Graph graph_;
};

void add_edges(const std::vector<ir::Port>& ports, std::vector<Edge>& edges, Hasher& signature) {
    for (const ir::Port& port : ports) {
        const ir::Operand& operand = port.operand;
        signature.add(port.name).add(operand.packed ? 1 : 0).add(operand.items.size());
        for (size_t i = 0; i < operand.items.size(); ++i) {
            edges.push_back({operand.packed ? fmt::format("{}.{}", port.name, i) : port.name,
                             operand.items[i]});
        }
    }
}

}  // namespace

Node plain_node(const ir::Program& program, ir::OpId id, Hash place, ExprHasher& expressions) {
    const ir::Operation& op = program.operations[id];
    Node node{.op = id, .kind = op.op, .name = show::shown_name(program, op)};
    node.family = Hasher("family").add(place).add(op.op).hash();
    expressions.begin();
    Hasher signature("signature");
    signature.add(node.family);
    for (const auto& [name, dtype] : op.dtypes) {
        const auto text = std::string(tensor::dtype_name(dtype));
        node.attributes.push_back({name, text, Hasher("dtype").add(text).hash()});
    }
    for (const ir::Attribute& attribute : op.attributes) {
        node.attributes.push_back({attribute.name,
                                   value_text(program.symbols, attribute.value),
                                   expressions.hash(attribute.value),
                                   is_symbolic(attribute.value)});
    }
    for (const NamedText& attribute : node.attributes)
        signature.add(attribute.name).add(attribute.hash);
    add_edges(op.inputs, node.inputs, signature);
    add_edges(op.outputs, node.outputs, signature);
    for (const show::Body& body : show::bodies(op)) {
        signature.add(std::string_view(body.role));
        node.bodies.push_back(body.graph);
        std::vector<Edge> yields;
        add_edges(program.graphs[body.graph].outputs, yields, signature);
        for (Edge& edge : yields)
            node.inputs.push_back({fmt::format("{}.{}", body.role, edge.port), edge.tensor});
    }
    if (const auto* loop = std::get_if<ir::Loop>(&op.control))
        signature.add(expressions.hash(loop->static_count)).add(loop->carried.size());
    node.signature = signature.hash();
    return node;
}

void add_terminals(const ir::Program& program, Graph& graph) {
    Hasher ignored("terminals");
    const ir::Graph& main = program.graphs[program.main];
    const auto add = [&](const std::vector<ir::Port>& ports, std::vector<Terminal>& terminals) {
        std::vector<Edge> edges;
        add_edges(ports, edges, ignored);
        for (Edge& edge : edges) terminals.push_back({std::move(edge.port), edge.tensor});
    };
    add(main.inputs, graph.inputs);
    add(main.outputs, graph.outputs);
    for (const ir::Update& update : program.updates)
        graph.outputs.push_back(
            {"update of " + program.tensors[update.variable].name, update.value});
}

void index_edges(Graph& graph) {
    const auto number = [](const std::vector<Terminal>& terminals, auto& numbers) {
        for (size_t i = 0; i < terminals.size(); ++i)
            if (!numbers[terminals[i].tensor]) numbers[terminals[i].tensor] = i;
    };
    number(graph.inputs, graph.input_numbers);
    number(graph.outputs, graph.output_numbers);
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        graph.node_numbers[node.op] = n;
        const auto& control = graph.program->operations[node.op].control;
        if (const auto* loop = std::get_if<ir::Loop>(&control)) {
            uint64_t count = 0;
            const auto enter = [&](ir::TensorId id) {
                if (id.valid()) graph.body_inputs[id] = BodyInput{node.op, count};
                ++count;
            };
            for (const ir::TensorId id : loop->carried) enter(id);
            for (const ir::TensorId id : loop->items) enter(id);
            enter(loop->index);
        }
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i].tensor.valid()) graph.uses[node.inputs[i].tensor].push_back({n, i});
        }
        for (size_t i = 0; i < node.outputs.size(); ++i) {
            // An operation may pass on a tensor that another one makes.
            auto& producer = graph.producers[node.outputs[i].tensor];
            if (!producer) producer = Use{n, i};
        }
    }
}

Graph make_graph(Side& side, Level level) {
    if (level == Level::Formula) return make_formula_graph(side);
    return GraphMaker(side.program, level).run();
}

std::string shape_text(const ir::Program& program, ir::TensorId id) {
    std::vector<std::string> extents;
    for (const ir::SymId extent : program.tensors[id].shape)
        extents.push_back(program.symbols.text(extent));
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string type_text(const ir::Program& program, ir::TensorId id) {
    return std::string(tensor::dtype_name(program.tensors[id].dtype)) + shape_text(program, id);
}

}  // namespace lemma::diff
