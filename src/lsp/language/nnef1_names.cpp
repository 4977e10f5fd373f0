// SPDX-License-Identifier: Apache-2.0
// The names of an NNEF 1.0 document: fragments, their parameters, and tensors.
#include <map>

#include "base/match.h"
#include "lsp/language/names_builder.h"

namespace lemma::lsp {

namespace {

using namespace nnef1;

class DocumentNames {
public:
    explicit DocumentNames(const Document& document) : document_(document) {}

    Names run() {
        for (size_t i = 0; i < document_.fragments.size(); ++i)
            declare_fragment(document_.fragments[i], static_cast<int>(i));
        for (size_t i = 0; i < document_.fragments.size(); ++i) {
            definition_ = static_cast<int>(i);
            walk(document_.fragments[i]);
        }
        definition_ = static_cast<int>(document_.fragments.size());
        if (document_.graph) walk(*document_.graph);
        return names_.take();
    }

private:
    struct Declared {
        int thing;
        std::map<std::string_view, int> params;
    };

    bool is_tensor(TypeId id) const {
        if (!id.valid()) return false;
        const Type* type = &document_.types[id];
        while (const auto* array = std::get_if<ArrayType>(&type->node))
            type = &document_.types[array->item];
        return std::holds_alternative<TensorType>(type->node);
    }
    void declare_fragment(const Fragment& fragment, int index) {
        Declared declared{
            names_.declare(
                NameKind::Operator, fragment.name.text, fragment.name.span, fragment.span, index),
            {}};
        for (const Param& param : fragment.params) {
            const NameKind kind = is_tensor(param.type) ? NameKind::Input : NameKind::Attribute;
            const int thing =
                names_.declare(kind, param.name.text, param.name.span, param.span, index);
            if (thing >= 0) declared.params.try_emplace(param.name.text, thing);
        }
        fragments_.try_emplace(fragment.name.text, std::move(declared));
    }
    void walk(const Fragment& fragment) {
        names_.push();
        const auto found = fragments_.find(fragment.name.text);
        if (found != fragments_.end()) params_ = &found->second.params;
        for (const Result& result : fragment.results) {
            names_.declare(
                NameKind::Output, result.name.text, result.name.span, result.span, definition_);
        }
        if (fragment.body) walk(*fragment.body);
        params_ = nullptr;
        names_.pop();
    }
    // The parameters and results of a graph name tensors of its body.
    void walk(const Graph& graph) {
        names_.declare(NameKind::Graph, graph.name.text, graph.name.span, graph.span, definition_);
        names_.push();
        for (const Name& name : graph.params) kinds_[name.text] = NameKind::Input;
        for (const Name& name : graph.results) kinds_.try_emplace(name.text, NameKind::Output);
        walk(graph.body);
        for (const auto* list : {&graph.params, &graph.results}) {
            for (const Name& name : *list) names_.occur(name.span, names_.find(name.text));
        }
        kinds_.clear();
        names_.pop();
    }
    void walk(const Body& body) {
        for (const Assignment& assignment : body.assignments) {
            walk_expr(assignment.value);
            bind(assignment.target, assignment.span);
        }
    }
    void bind(ExprId root, Span whole) {
        std::vector<ExprId> pending = {root};
        while (!pending.empty()) {
            const ExprId id = pending.back();
            pending.pop_back();
            if (!id.valid()) continue;
            const Expr& expr = document_.exprs[id];
            if (const auto* name = std::get_if<Identifier>(&expr.node)) {
                assign(name->name.view(), expr.span, whole);
            } else if (const auto* array = std::get_if<Array>(&expr.node)) {
                for (const ExprId item : document_.items(array->items)) pending.push_back(item);
            } else if (const auto* tuple = std::get_if<Tuple>(&expr.node)) {
                for (const ExprId item : document_.items(tuple->items)) pending.push_back(item);
            }
        }
    }
    void assign(std::string_view name, Span place, Span whole) {
        const int existing = names_.find(name);
        if (existing >= 0) {
            names_.occur(place, existing, false, true);
            return;
        }
        const auto kind = kinds_.find(name);
        names_.declare(kind == kinds_.end() ? NameKind::Intermediate : kind->second,
                       name,
                       place,
                       whole,
                       definition_);
    }
    int find(std::string_view name) const {
        const int thing = names_.find(name);
        if (thing >= 0 || !params_) return thing;
        const auto found = params_->find(name);
        return found == params_->end() ? -1 : found->second;
    }

    // NOLINTNEXTLINE(misc-no-recursion): the parser limits the depth.
    void walk_expr(ExprId id) {
        if (!id.valid()) return;
        const Expr& expr = document_.exprs[id];
        const auto walk_all = [&](std::span<const ExprId> items) {
            for (const ExprId item : items) walk_expr(item);
        };
        match(
            expr.node,
            [&](const Identifier& name) { names_.occur(expr.span, find(name.name.view())); },
            [&](const Paren& paren) { walk_expr(paren.inner); },
            [&](const Array& array) { walk_all(document_.items(array.items)); },
            [&](const Tuple& tuple) { walk_all(document_.items(tuple.items)); },
            [&](const Subscript& subscript) {
                walk_expr(subscript.base);
                walk_expr(subscript.index);
            },
            [&](const SubscriptRange& range) {
                walk_expr(range.base);
                walk_expr(range.begin);
                walk_expr(range.end);
            },
            [&](const Unary& unary) { walk_expr(unary.operand); },
            [&](const Binary& binary) {
                walk_expr(binary.lhs);
                walk_expr(binary.rhs);
            },
            [&](const IfElse& choice) {
                walk_expr(choice.condition);
                walk_expr(choice.consequent);
                walk_expr(choice.alternative);
            },
            [&](const Comprehension& list) { walk_comprehension(list); },
            [&](const BuiltinCall& call) { walk_expr(call.argument); },
            [&](InvocationId call) { walk_call(expr, document_.invocations[call]); },
            [](const auto&) {});
    }
    void walk_comprehension(const Comprehension& list) {
        names_.push();
        for (const Iterator& iterator : document_.items(list.iterators)) {
            walk_expr(iterator.range);
            names_.declare(NameKind::LoopIndex,
                           iterator.name.text,
                           iterator.name.span,
                           iterator.name.span,
                           definition_);
        }
        walk_expr(list.condition);
        walk_expr(list.value);
        names_.pop();
    }
    void walk_call(const Expr& expr, const Invocation& call) {
        const auto found = fragments_.find(call.name.view());
        const Span place = name_span(expr, call);
        if (found != fragments_.end())
            names_.occur(place, found->second.thing);
        else
            names_.occur_external(place, {"", std::string(call.name.view()), ""});
        for (const Argument& argument : document_.items(call.args)) {
            if (!argument.name.empty()) walk_argument(argument, call, found);
            walk_expr(argument.value);
        }
    }
    void walk_argument(const Argument& argument,
                       const Invocation& call,
                       std::map<std::string_view, Declared>::const_iterator callee) {
        if (callee == fragments_.end()) {
            names_.occur_external(
                argument.name_span,
                {"", std::string(call.name.view()), std::string(argument.name.view())});
            return;
        }
        const auto param = callee->second.params.find(argument.name.view());
        if (param != callee->second.params.end()) names_.occur(argument.name_span, param->second);
    }

    const Document& document_;
    NamesBuilder names_;
    int definition_ = -1;
    std::map<std::string_view, Declared> fragments_;
    const std::map<std::string_view, int>* params_ = nullptr;  // of the walked fragment
    std::map<std::string_view, NameKind> kinds_;               // of the walked graph
};

}  // namespace

Names names_of(const nnef1::Document& document) { return DocumentNames(document).run(); }

}  // namespace lemma::lsp
