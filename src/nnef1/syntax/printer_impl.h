// nnef1/syntax/printer_impl.h — the printer behind printer.h. What fits the rest of a line is
// written there; what does not is broken at its own commas and operators, and its parts are tried
// again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nnef1/syntax/printer.h"
#include "nnef1/syntax/printer_comments.h"

namespace lemma::nnef1 {

class Printer {
public:
    Printer(const Nodes& nodes, const diag::SourceMap& sources, PrintOptions options)
        : nodes_(nodes), sources_(sources), options_(options), comments_(no_comments_, {}) {}
    Printer(const Document& document, const diag::SourceMap& sources, PrintOptions options);

    std::string print_document(const Document& document);
    std::string print_expr(ExprId id);
    std::string print_type(TypeId id);

private:
    // How tightly an expression holds together; what is written inside another one and is looser
    // than wanted gets parentheses.
    enum Level : int { kAny, kIn, kLogical, kCompare, kSum, kProduct, kSign, kPower, kPostfix };
    enum class Layout : uint8_t { Flat, Broken };

    // ---- Expressions: printer_expr.cpp ----
    // `tail`: how many characters have to fit behind it on the same line.
    void expr(ExprId id, int least, size_t tail = 0);
    void node(ExprId id, Layout layout);
    void binary(const Binary& node, Layout layout);
    void unary(const Unary& node, Layout layout);
    void if_else(const IfElse& node, Layout layout);
    void comprehension(const Comprehension& node, Layout layout);
    void subscript(ExprId base, ExprId begin, ExprId end, bool range);
    void invocation(const Invocation& node, Layout layout);
    void argument(const Argument& argument);
    void scalar(ExprId id, double value);
    void string(ExprId id, std::string_view value);
    void name(std::string_view text);
    int level_of(ExprId id) const;
    bool is_number(ExprId id) const;
    bool ends_in_sign(ExprId id) const;
    static int level_of(BinaryOp op);
    std::string_view source_text(Span span) const;

    // Items with commas: on this line, or side by side on as many lines as it takes.
    template <class Items, class Item>
    void list(const Items& items, Layout layout, Item item) {
        Indent indent(*this, layout == Layout::Broken);
        for (size_t i = 0; i < items.size() && !given_up(); ++i) {
            const bool last = i + 1 == items.size();
            const auto write = [&] { item(items[i]); };
            if (i > 0) out_ += ',';
            if (layout == Layout::Flat) {
                if (i > 0) out_ += ' ';
                write();
            } else if (!(i > 0 ? fits_here(" ", write, last ? 2 : 1) : false)) {
                new_line();
                write();
            }
        }
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
    void on_one_line(const Items& items, Item item);
    template <class Items, class Item>
    void on_lines(const Items& items, uint32_t end, Item item);

    // A line for an item, behind the comments before it and inside it.
    enum class Gap : uint8_t { Keep, Blank };
    void begin_item(Span item, uint32_t comments_end, Gap gap);
    void end_item(Span item, char separator = '\0');
    void own_lines(uint32_t end);
    void begin_line(uint32_t begin, Gap gap);
    void comment_behind(uint32_t offset, char separator = '\0');

    // ---- The text ----
    class Indent {
    public:
        explicit Indent(Printer& printer, bool deeper = true) : printer_(printer), deeper_(deeper) {
            if (deeper_) ++printer_.indent_;
        }
        ~Indent() {
            if (deeper_) --printer_.indent_;
        }
        Indent(const Indent&) = delete;
        Indent& operator=(const Indent&) = delete;

    private:
        Printer& printer_;
        const bool deeper_;
    };

    void new_line() {
        out_ += '\n';
        line_begin_ = out_.size();
        out_.append(4 * indent_, ' ');
    }
    size_t column() const { return out_.size() - line_begin_; }
    // Inside an attempt that is too long already.
    bool given_up() const { return flat_ > 0 && column() > options_.max_columns; }
    // Writes it on this line, or takes it back and returns false.
    template <class Write>
    bool fits_here(std::string_view before, Write write, size_t tail) {
        const size_t mark = out_.size();
        out_ += before;
        ++flat_;
        write();
        --flat_;
        if (column() + tail <= options_.max_columns) return true;
        if (flat_ > 0) return true;  // an outer attempt takes it back
        out_.resize(mark);
        return false;
    }

    const Nodes& nodes_;
    const diag::SourceMap& sources_;
    const PrintOptions options_;
    const std::vector<Comment> no_comments_;
    Comments comments_;

    std::string out_;
    size_t line_begin_ = 0;
    size_t indent_ = 0;
    int flat_ = 0;  // attempts to write on one line
    enum class Previous : uint8_t { Nothing, Brace, Comment, Item };
    Previous previous_ = Previous::Nothing;
    uint32_t last_end_ = 0;  // where the last line written ends in the source
};

}  // namespace lemma::nnef1
