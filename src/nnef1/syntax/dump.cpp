// SPDX-License-Identifier: Apache-2.0
// The tree as text, for comparing documents.
#include <fmt/format.h>

#include <iterator>

#include "base/match.h"
#include "nnef1/syntax/printer.h"

namespace lemma::nnef1 {
namespace {

class Dump {
public:
    explicit Dump(const Nodes& nodes) : nodes_(nodes) {}

    std::string document(const Document& document) {
        put("version {}.{}", document.version.major_number, document.version.minor_number);
        for (const Extension& extension : document.extensions) {
            for (const Name& name : extension.names) put("\nextension {}", name.text);
            if (!extension.rest.empty()) put(" | {}", extension.rest);
        }
        for (const Fragment& item : document.fragments) fragment(item);
        if (document.graph) graph(*document.graph);
        out_ += '\n';
        return std::move(out_);
    }
    std::string expr_text(ExprId id) {
        expr(id);
        return std::move(out_);
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    void fragment(const Fragment& fragment) {
        put("\nfragment {}", fragment.name.text);
        if (const auto& generic = fragment.generic) {
            put("<?{}>", generic->default_type ? spelling(*generic->default_type) : "");
        }
        for (const Param& param : fragment.params) {
            put("\n  param {}: {}", param.name.text, print(nodes_, param.type));
            if (param.default_value) out_ += " = ";
            if (param.default_value) expr(param.default_value);
        }
        for (const Result& result : fragment.results) {
            put("\n  result {}: {}", result.name.text, print(nodes_, result.type));
        }
        if (fragment.body) body(*fragment.body);
    }
    void graph(const Graph& graph) {
        put("\ngraph {}", graph.name.text);
        for (const Name& name : graph.params) put("\n  param {}", name.text);
        for (const Name& name : graph.results) put("\n  result {}", name.text);
        body(graph.body);
    }
    void body(const Body& body) {
        out_ += "\n  body";
        for (const Assignment& assignment : body.assignments) {
            out_ += "\n    ";
            expr(assignment.target);
            out_ += " = ";
            expr(assignment.value);
        }
    }

    template <class... Ids>
    void form(std::string_view head, Ids... ids) {
        out_ += '(';
        out_ += head;
        const auto one = [&](ExprId id) {
            out_ += ' ';
            id.valid() ? expr(id) : void(out_ += '_');
        };
        (one(ids), ...);
        out_ += ')';
    }
    void list(std::string_view open, Slice<ExprId> items, char close) {
        out_ += open;
        bool first = true;
        for (const ExprId item : nodes_.items(items)) {
            if (!first) out_ += ' ';
            first = false;
            expr(item);
        }
        out_ += close;
    }

    void expr(ExprId id) {
        match(
            nodes_.exprs[id].node,
            [&](const BadExpr&) { out_ += "bad"; },
            [&](const IntegerLiteral& n) { put("{}", n.value()); },
            [&](const ScalarLiteral& n) { put("{:#}", n.value()); },
            [&](const LogicalLiteral& n) { put("{}", n.value); },
            [&](const StringLiteral& n) { put("'{}'", n.value.view()); },
            [&](const Identifier& n) { out_ += n.name.view(); },
            [&](const Paren& n) { form("paren", n.inner); },
            [&](const Array& n) { list("[", n.items, ']'); },
            [&](const Tuple& n) { list("(tuple ", n.items, ')'); },
            [&](const Subscript& n) { form("at", n.base, n.index); },
            [&](const SubscriptRange& n) { form("range", n.base, n.begin, n.end); },
            [&](const Unary& n) { form(spelling(n.op), n.operand); },
            [&](const Binary& n) { form(spelling(n.op), n.lhs, n.rhs); },
            [&](const IfElse& n) { form("if", n.condition, n.consequent, n.alternative); },
            [&](const Comprehension& n) { comprehension(n); },
            [&](const BuiltinCall& n) { form(spelling(n.function), n.argument); },
            [&](InvocationId n) { invocation(nodes_.invocations[n]); });
    }
    void comprehension(const Comprehension& node) {
        out_ += "(for";
        for (const Iterator& iterator : nodes_.items(node.iterators)) {
            put(" {}:", iterator.name.text);
            expr(iterator.range);
        }
        out_ += ' ';
        form("yield", node.condition, node.value);
        out_ += ')';
    }
    void invocation(const Invocation& node) {
        put("(call {}", node.name.view());
        if (node.type) put("<{}>", spelling(*node.type));
        for (const Argument& argument : nodes_.items(node.args)) {
            out_ += ' ';
            if (!argument.name.empty()) put("{}:", argument.name.view());
            expr(argument.value);
        }
        out_ += ')';
    }

    const Nodes& nodes_;
    std::string out_;
};

}  // namespace

std::string dump_tree(const Document& document) { return Dump(document).document(document); }
std::string dump_tree(const Nodes& nodes, ExprId expr) { return Dump(nodes).expr_text(expr); }

}  // namespace lemma::nnef1
