// Types, declarations and documents as text, with their comments.
#include <fmt/format.h>

#include "base/match.h"
#include "nnef1/syntax/printer_impl.h"

namespace lemma::nnef1 {
namespace {

std::string_view text_of(const Document& document, const diag::SourceMap& sources) {
    const bool known = document.file.valid() && document.file.value < sources.size();
    return known ? sources.text(document.file) : std::string_view{};
}

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

Printer::Printer(const Document& document, const diag::SourceMap& sources, PrintOptions options)
    : nodes_(document),
      sources_(sources),
      options_(options),
      comments_(document.comments, text_of(document, sources)) {}

std::string Printer::print_expr(ExprId id) {
    expr(id, kAny);
    return std::move(out_);
}

std::string Printer::print_type(TypeId id) {
    type(id);
    return std::move(out_);
}

std::string Printer::print_document(const Document& document) {
    if (!document.version.text.empty()) version(document.version);
    Gap gap = Gap::Blank;
    for (const Extension& item : document.extensions) {
        begin_item(item.span, item.span.end, std::exchange(gap, Gap::Keep));
        extension(item);
        end_item(item.span);
    }
    gap = Gap::Blank;
    for (const Fragment& item : document.fragments) {
        begin_item(item.span, item.span.begin, item.body ? Gap::Blank : gap);
        fragment(item);
        end_item(item.span);
        gap = item.body ? Gap::Blank : Gap::Keep;
    }
    if (document.graph) {
        begin_item(document.graph->span, document.graph->span.begin, Gap::Blank);
        graph(*document.graph);
        end_item(document.graph->span);
    }
    own_lines(UINT32_MAX);
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
}

// ---- Types ------------------------------------------------------------------------------------

void Printer::type(TypeId id) {
    match(
        nodes_.types[id].node,
        [&](const BadType&) { out_ += "~bad~"; },
        [&](const PrimitiveType& n) { out_ += spelling(n.name); },
        [&](const TensorType& n) {
            out_ += "tensor<";
            if (n.item) out_ += spelling(*n.item);
            out_ += '>';
        },
        [&](const ArrayType& n) {
            type(n.item);
            out_ += "[]";
        },
        [&](const TupleType& n) {
            out_ += '(';
            bool first = true;
            for (const TypeId item : nodes_.items(n.items)) {
                if (!first) out_ += ',';
                first = false;
                type(item);
            }
            out_ += ')';
        });
}

// ---- Declarations -----------------------------------------------------------------------------

void Printer::version(const Version& version) {
    begin_item(version.span, version.span.end, Gap::Keep);
    out_ += fmt::format("version {};", version.text);
    end_item(version.span);
}

// A statement for each: Khronos' tools want commas in a list, the specification wants spaces.
void Printer::extension(const Extension& extension) {
    bool first = true;
    for (const Name& item : extension.names) {
        if (!first) {
            out_ += ';';
            new_line();
        }
        first = false;
        out_ += "extension ";
        name(item.text);
    }
    if (!extension.rest.empty()) {
        out_ += ' ';
        out_ += extension.rest;
    }
    out_ += ';';
}

// `( a, b )`
template <class Items, class Item>
void Printer::on_one_line(const Items& items, Item item) {
    if (items.empty()) {
        out_ += "()";
        return;
    }
    out_ += "( ";
    for (size_t i = 0; i < items.size() && !given_up(); ++i) {
        if (i > 0) out_ += ", ";
        item(items[i]);
    }
    out_ += " )";
}

// Each item on a line of its own, with the comments before and behind it.
template <class Items, class Item>
void Printer::on_lines(const Items& items, uint32_t end, Item item) {
    out_ += '(';
    {
        Indent indent(*this);
        previous_ = Previous::Brace;
        for (size_t i = 0; i < items.size(); ++i) {
            const Span span = items[i].span;
            if (span.valid()) own_lines(span.end);
            new_line();
            item(items[i]);
            if (i + 1 < items.size()) out_ += ',';
            previous_ = Previous::Brace;  // blank lines are not kept
            if (span.valid()) comment_behind(span.end, i + 1 < items.size() ? ',' : ')');
        }
        own_lines(end);
    }
    new_line();
    out_ += ')';
}

// The parameters and results of a fragment or graph, whose head ends there. Comments between them
// stay with the item that they follow or precede.
template <class Params, class Results, class Param, class Result>
void Printer::head(const Params& params,
                   const Results& results,
                   uint32_t arrow,
                   uint32_t end,
                   Param param,
                   Result result) {
    const auto both = [&] {
        on_one_line(params, param);
        out_ += " -> ";
        on_one_line(results, result);
    };
    if (!comments_.any_before(end) && fits_here("", both, 1)) return;
    on_lines(params, arrow, param);
    out_ += " -> ";
    const auto one_line = [&] { on_one_line(results, result); };
    if (comments_.any_before(end) || !fits_here("", one_line, 1)) on_lines(results, end, result);
}

void Printer::fragment(const Fragment& fragment) {
    out_ += "fragment ";
    name(fragment.name.text);
    if (const auto& generic = fragment.generic) {
        out_ += generic->default_type ? fmt::format("<? = {}>", spelling(*generic->default_type))
                                      : "<?>";
    }
    const uint32_t end = fragment.body ? fragment.body->span.begin : fragment.span.end;
    head(
        fragment.params,
        fragment.results,
        fragment.arrow,
        end,
        [&](const Param& p) { param(p); },
        [&](const Result& r) { result(r); });
    if (!fragment.body) {
        out_ += ';';
        return;
    }
    body(*fragment.body);
}

void Printer::param(const Param& param) {
    result({.span = param.span, .name = param.name, .type = param.type});
    if (!param.default_value) return;
    out_ += " = ";
    expr(param.default_value, kAny);
}

void Printer::result(const Result& result) {
    name(result.name.text);
    out_ += ": ";
    type(result.type);
}

void Printer::graph(const Graph& graph) {
    out_ += "graph ";
    name(graph.name.text);
    const auto item = [&](const Name& n) { name(n.text); };
    head(graph.params, graph.results, graph.arrow, graph.body.span.begin, item, item);
    body(graph.body);
}

void Printer::body(const Body& body) {
    new_line();
    out_ += '{';
    if (body.span.valid()) comment_behind(body.span.begin + 1);
    previous_ = Previous::Brace;
    {
        Indent indent(*this);
        for (const Assignment& assignment : body.assignments) {
            begin_item(assignment.span, assignment.span.end, Gap::Keep);
            expr(assignment.target, kAny, 2);
            out_ += " = ";
            expr(assignment.value, kAny, 1);
            out_ += ';';
            end_item(assignment.span);
        }
        if (body.span.valid()) own_lines(body.span.end);
    }
    new_line();
    out_ += '}';
}

// ---- Lines and comments -----------------------------------------------------------------------

void Printer::begin_item(Span item, uint32_t comments_end, Gap gap) {
    if (item.valid()) {
        // Comments before it keep their distance; those inside it come right above it.
        const bool blank = gap == Gap::Blank && previous_ == Previous::Item;
        const bool comments = comments_.any_before(item.begin);
        if (comments && blank) {
            out_ += '\n';
            previous_ = Previous::Brace;  // no second blank line
        }
        own_lines(item.begin);
        begin_line(item.begin, comments ? Gap::Keep : gap);
        if (comments_.any_before(comments_end)) {
            bool first = true;
            for (const Comment& comment : comments_.take_before(comments_end)) {
                if (!first) new_line();
                first = false;
                out_ += comments_.text(comment);
            }
            new_line();
        }
    } else {
        begin_line(0, gap);
    }
    previous_ = Previous::Item;
}

void Printer::end_item(Span item, char separator) {
    previous_ = Previous::Item;
    if (!item.valid()) return;
    last_end_ = item.end;
    comment_behind(item.end, separator);
}

// The comments that begin before `end`, each on a line of its own.
void Printer::own_lines(uint32_t end) {
    for (const Comment& comment : comments_.take_before(end)) {
        begin_line(comment.begin, Gap::Keep);
        out_ += comments_.text(comment);
        previous_ = Previous::Comment;
        last_end_ = comment.end;
    }
}

// A new line, with a blank one above it if the source has one there or the gap wants it.
void Printer::begin_line(uint32_t begin, Gap gap) {
    if (previous_ == Previous::Nothing && out_.empty()) return;
    const bool kept =
        previous_ != Previous::Brace && comments_.blank_line_between(last_end_, begin);
    if (kept || (gap == Gap::Blank && previous_ == Previous::Item)) out_ += '\n';
    new_line();
}

void Printer::comment_behind(uint32_t offset, char separator) {
    const std::optional<Comment> comment = comments_.take_behind(offset, separator);
    if (!comment) return;
    out_ += "  ";
    out_ += comments_.text(*comment);
    last_end_ = comment->end;
}

}  // namespace lemma::nnef1
