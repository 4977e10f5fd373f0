// SPDX-License-Identifier: Apache-2.0
// Types, declarations and documents as text, with their comments.
#include <fmt/format.h>

#include "base/match.h"
#include "nnef1/syntax/printer_impl.h"

namespace lemma::nnef1 {
namespace {

const std::vector<Comment> kNoComments;

text::TextRange range_of(Span span) {
    return span.valid() ? text::TextRange{span.begin, span.end} : text::TextRange{};
}
// Without the comments inside.
text::TextRange place_of(Span span) { return {range_of(span).begin, range_of(span).begin}; }

}  // namespace

std::string print(const Document& document, const diag::SourceMap& sources, PrintOptions options) {
    return Printer(document, sources, options).print_document(document);
}

std::string print(const Nodes& nodes,
                  ExprId expr,
                  const diag::SourceMap& sources,
                  PrintOptions options) {
    return Printer(nodes, sources, options).print_expr(expr);
}

std::string print(const Nodes& nodes, TypeId type) {
    return Printer(nodes, {}, {}).print_type(type);
}

Printer::Printer(const Nodes& nodes, const diag::SourceMap& sources, PrintOptions options)
    : ItemPrinter(kNoComments, {}, sources, options.max_columns),
      nodes_(nodes),
      sources_(sources),
      options_(options) {}

Printer::Printer(const Document& document, const diag::SourceMap& sources, PrintOptions options)
    : ItemPrinter(document.comments, document.file, sources, options.max_columns),
      nodes_(document),
      sources_(sources),
      options_(options) {}

std::string Printer::print_expr(ExprId id) {
    expr(id, kAny);
    return out_.take();
}

std::string Printer::print_type(TypeId id) {
    type(id);
    return out_.take();
}

std::string Printer::print_document(const Document& document) {
    if (!document.version.text.empty()) version(document.version);
    Gap gap = Gap::Blank;
    for (const Extension& item : document.extensions) {
        begin_item(range_of(item.span), std::exchange(gap, Gap::Keep));
        extension(item);
        end_item(range_of(item.span).end);
    }
    gap = Gap::Blank;
    for (const Fragment& item : document.fragments) {
        begin_item(place_of(item.span), item.body ? Gap::Blank : gap);
        fragment(item);
        end_item(range_of(item.span).end);
        gap = item.body ? Gap::Blank : Gap::Keep;
    }
    if (document.graph) {
        begin_item(place_of(document.graph->span), Gap::Blank);
        graph(*document.graph);
        end_item(range_of(document.graph->span).end);
    }
    own_lines(comments_.take_rest(), Gap::Keep);
    if (previous_ != Previous::Nothing) out_.hard_line();
    return out_.take();
}

// ---- Types ------------------------------------------------------------------------------------

void Printer::type(TypeId id) {
    match(
        nodes_.types[id].node,
        [&](const BadType&) { out_.text("~bad~"); },
        [&](const PrimitiveType& n) { out_.text(spelling(n.name)); },
        [&](const TensorType& n) {
            out_.text("tensor<");
            if (n.item) out_.text(spelling(*n.item));
            out_.text(">");
        },
        [&](const ArrayType& n) {
            type(n.item);
            out_.text("[]");
        },
        [&](const TupleType& n) {
            out_.text("(");
            bool first = true;
            for (const TypeId item : nodes_.items(n.items)) {
                if (!first) out_.text(",");
                first = false;
                type(item);
            }
            out_.text(")");
        });
}

// ---- Declarations -----------------------------------------------------------------------------

void Printer::version(const Version& version) {
    begin_item(range_of(version.span), Gap::Keep);
    out_.text(fmt::format("version {};", version.text));
    end_item(range_of(version.span).end);
}

// One statement per name: in a list, Khronos' tools require commas and the specification spaces.
void Printer::extension(const Extension& extension) {
    bool first = true;
    for (const Name& item : extension.names) {
        if (!first) {
            out_.text(";");
            out_.hard_line();
        }
        first = false;
        out_.text("extension ");
        name(item.text);
    }
    if (!extension.rest.empty()) {
        out_.text(" ");
        out_.text(extension.rest);
    }
    out_.text(";");
}

// `( a, b )`, or one item per line.
template <class Items, class Item>
void Printer::in_parentheses(const Items& items, Item item) {
    if (items.empty()) return out_.text("()");
    out_.text("(");
    out_.nest([&] {
        out_.line();
        separated(items, item);
    });
    out_.line();
    out_.text(")");
}

// One item per line, with the comments before and after it.
template <class Items, class Item>
void Printer::on_lines(const Items& items, uint32_t end, Item item) {
    out_.text("(");
    out_.nest([&] {
        previous_ = Previous::Brace;
        for (size_t i = 0; i < items.size(); ++i) {
            const Span span = items[i].span;
            const bool last = i + 1 == items.size();
            own_lines(comments_.take_before(range_of(span).end), Gap::Keep);
            out_.hard_line();
            item(items[i]);
            if (!last) out_.text(",");
            previous_ = Previous::Brace;  // blank lines are not kept
            if (span.valid()) comment_behind(span.end, last ? ')' : ',');
        }
        own_lines(comments_.take_before(end), Gap::Keep);
    });
    out_.hard_line();
    out_.text(")");
}

// The parameters and results of a fragment or graph, after its head. Comments between them stay
// with the item that they follow or precede.
template <class Params, class Results, class Param, class Result>
void Printer::head(const Params& params,
                   const Results& results,
                   uint32_t arrow,
                   uint32_t end,
                   Param param,
                   Result result) {
    const auto write_results = [&] { out_.group([&] { in_parentheses(results, result); }); };
    if (!comments_.any_before(end)) {
        return out_.group([&] {
            in_parentheses(params, param);
            out_.text(" -> ");
            write_results();
        });
    }
    on_lines(params, arrow, param);
    out_.text(" -> ");
    comments_.any_before(end) ? on_lines(results, end, result) : write_results();
}

void Printer::fragment(const Fragment& fragment) {
    out_.text("fragment ");
    name(fragment.name.text);
    if (const auto& generic = fragment.generic) {
        out_.text(generic->default_type ? fmt::format("<? = {}>", spelling(*generic->default_type))
                                        : "<?>");
    }
    const uint32_t end = fragment.body ? fragment.body->span.begin : fragment.span.end;
    head(
        fragment.params,
        fragment.results,
        fragment.arrow,
        end,
        [&](const Param& p) { param(p); },
        [&](const Result& r) { result(r); });
    if (!fragment.body) return out_.text(";");
    body(*fragment.body);
}

void Printer::param(const Param& param) {
    result({.span = param.span, .name = param.name, .type = param.type});
    if (!param.default_value) return;
    out_.text(" = ");
    expr(param.default_value, kAny);
}

void Printer::result(const Result& result) {
    name(result.name.text);
    out_.text(": ");
    type(result.type);
}

void Printer::graph(const Graph& graph) {
    out_.text("graph ");
    name(graph.name.text);
    const auto item = [&](const Name& n) { name(n.text); };
    head(graph.params, graph.results, graph.arrow, graph.body.span.begin, item, item);
    body(graph.body);
}

void Printer::body(const Body& body) {
    out_.hard_line();
    const text::TextRange range = range_of(body.span);
    braces({range.begin + (body.span.valid() ? 1 : 0), range.end}, Gap::Keep, [&] {
        for (const Assignment& assignment : body.assignments) {
            begin_item(range_of(assignment.span), Gap::Keep);
            expr(assignment.target, kAny);
            out_.text(" = ");
            expr(assignment.value, kAny);
            out_.text(";");
            end_item(range_of(assignment.span).end);
        }
    });
}

}  // namespace lemma::nnef1
