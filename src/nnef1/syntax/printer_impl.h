// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/printer_impl.h — the implementation of printer.h: one class that walks the tree and
// writes into a text::Layout. Expressions are groups: one that does not fit on the line breaks at
// its own commas and operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nnef1/syntax/printer.h"
#include "text/item_printer.h"

namespace lemma::nnef1 {

class Printer : text::ItemPrinter {
public:
    // Without a document there are no comments.
    Printer(const Nodes& nodes, const diag::SourceMap& sources, PrintOptions options);
    Printer(const Document& document, const diag::SourceMap& sources, PrintOptions options);

    std::string print_document(const Document& document);
    std::string print_expr(ExprId id);
    std::string print_type(TypeId id);

private:
    // Precedence of an expression. An operand looser than its position allows gets parentheses.
    enum Level : int { kAny, kIn, kLogical, kCompare, kSum, kProduct, kSign, kPower, kPostfix };

    // ---- Expressions: printer_expr.cpp ----
    void expr(ExprId id, int least);
    bool can_break(ExprId id) const;
    void node(ExprId id);
    void binary(const Binary& node);
    void unary(const Unary& node);
    void if_else(const IfElse& node);
    void comprehension(const Comprehension& node);
    void part(std::string_view keyword, ExprId id);
    void subscript(ExprId base, ExprId begin, ExprId end, bool range);
    void invocation(const Invocation& node);
    void argument(const Argument& argument);
    void scalar(ExprId id, double value);
    void string(ExprId id, std::string_view value);
    void name(std::string_view text);
    int level_of(ExprId id) const;
    bool is_number(ExprId id) const;
    bool ends_in_sign(ExprId id) const;
    static int level_of(BinaryOp op);
    std::string_view source_text(Span span) const;

    template <class Items, class Item>
    void separated(const Items& items, Item item) {
        bool first = true;
        for (const auto& each : items) {
            if (!first) {
                out_.text(",");
                out_.line();
            }
            first = false;
            item(each);
        }
    }
    // Items with commas: on this line, or side by side on several lines.
    template <class Items, class Item>
    void list(const Items& items, Item item) {
        out_.nest([&] {
            out_.soft_line();
            out_.fill([&] { separated(items, item); });
        });
    }

    // ---- Types, declarations, documents: printer_document.cpp ----
    void type(TypeId id);
    void version(const Version& version);
    void extension(const Extension& extension);
    void fragment(const Fragment& fragment);
    void graph(const Graph& graph);
    void param(const Param& param);
    void result(const Result& result);
    void body(const Body& body);
    template <class Params, class Results, class Param, class Result>
    void head(const Params& params,
              const Results& results,
              uint32_t arrow,
              uint32_t end,
              Param param,
              Result result);
    template <class Items, class Item>
    void in_parentheses(const Items& items, Item item);
    template <class Items, class Item>
    void on_lines(const Items& items, uint32_t end, Item item);

    const Nodes& nodes_;
    const diag::SourceMap& sources_;
    const PrintOptions options_;
};

}  // namespace lemma::nnef1
