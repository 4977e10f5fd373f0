// SPDX-License-Identifier: Apache-2.0
// diag/page.h — documents for people: headings, paragraphs, lists and tables, written as Markdown
// or as one HTML file. Text is plain; the writers escape it, so that no name can become markup.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lemma::diag {

// The meaning of a colour. The words beside it say the same.
enum class Tone : uint8_t { None, Good, Bad, Warning, Neutral };

// A stretch of text. Code in backticks is shown as code.
struct Run {
    std::string text;
    Tone tone = Tone::None;  // HTML shows any other tone as a badge
    std::string link = {};   // the anchor of another part of the document
};

// Text of several runs. A plain text is one run.
struct Text {
    std::vector<Run> runs;

    Text() = default;
    Text(std::string text) : runs{{std::move(text)}} {}         // NOLINT: converts on purpose
    Text(std::string_view text) : runs{{std::string(text)}} {}  // NOLINT
    Text(const char* text) : runs{{std::string(text)}} {}       // NOLINT
    Text(Run run) : runs{std::move(run)} {}                     // NOLINT
    Text(std::vector<Run> all) : runs(std::move(all)) {}        // NOLINT
    Text& operator+=(const Text& more);
};
Run badge(Tone tone, std::string_view words);
Run link(std::string anchor, std::string_view words);

struct TableRow {
    std::vector<Text> cells;
    std::string anchor = {};  // unique in the document; may be empty
};
struct PageTable {
    std::vector<std::string> header;
    std::vector<TableRow> rows;
    std::string caption = {};
    bool facts = false;             // the first column names what the others say
    bool signed_by_hand = false;    // leaves room for handwriting
    std::vector<size_t> keep = {};  // HTML: columns of short words, which are not broken
};

class Page {
public:
    virtual ~Page() = default;
    virtual void heading(int level, const Text& text, std::string_view anchor) = 0;
    virtual void paragraph(const Text& text) = 0;
    // A paragraph that stands out.
    virtual void banner(Tone tone, const Text& text) = 0;
    virtual void table(const PageTable& table) = 0;
    virtual void list(const std::vector<Text>& items, bool numbered) = 0;
    // The next part begins on a new page when printed.
    virtual void new_page() = 0;
    virtual std::string take() = 0;
};

std::unique_ptr<Page> markdown_page();

struct HtmlOptions {
    std::string title;
    std::string footer;  // printed at the foot of each page, beside the page number
};
std::unique_ptr<Page> html_page(const HtmlOptions& options);

// An anchor from any name: letters, digits and dashes. Different names give different anchors.
std::string anchor_of(std::string_view prefix, std::string_view name);
// Plain text as HTML, on one line.
std::string html_escaped(std::string_view text);

}  // namespace lemma::diag
