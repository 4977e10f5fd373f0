// SPDX-License-Identifier: Apache-2.0
// Documents as one HTML file: no scripts, no other files, colours for light and dark screens, and a
// style for paper.
#include <fmt/format.h>

#include <algorithm>

#include "diag/html_style.h"
#include "diag/page.h"
#include "diag/utf8.h"

namespace lemma::diag {

namespace {

std::string_view tone_class(Tone tone) {
    switch (tone) {
        case Tone::Good:
            return "good";
        case Tone::Bad:
            return "bad";
        case Tone::Warning:
            return "warning";
        case Tone::Neutral:
            return "neutral";
        case Tone::None:
            break;
    }
    return "plain";
}

// Code in backticks becomes <code>; with an odd number of them, they are ordinary characters.
std::string with_code(const std::string& text) {
    const std::string plain = html_escaped(text);
    if (std::ranges::count(plain, '`') % 2 != 0) return plain;
    std::string result;
    bool in_code = false;
    for (const char c : plain) {
        if (c != '`') {
            result += c;
            continue;
        }
        result += in_code ? "</code>" : "<code>";
        in_code = !in_code;
    }
    return result;
}

std::string run_html(const Run& run) {
    std::string text = with_code(run.text);
    if (run.tone != Tone::None)
        text = fmt::format("<span class=\"badge {}\">{}</span>", tone_class(run.tone), text);
    if (!run.link.empty())
        text = fmt::format("<a href=\"#{}\">{}</a>", html_escaped(run.link), text);
    return text;
}

std::string html_of(const Text& text) {
    std::string result;
    for (const Run& run : text.runs) result += run_html(run);
    return result;
}

std::string id_attribute(std::string_view anchor) {
    return anchor.empty() ? "" : fmt::format(" id=\"{}\"", html_escaped(anchor));
}

// A string of CSS: quotes, backslashes and everything unusual are left out.
std::string css_text(std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || std::string_view(" .,:;-_()+/").contains(c);
        if (plain) result += c;
    }
    return result;
}

class HtmlPage final : public Page {
public:
    explicit HtmlPage(const HtmlOptions& options) {
        out_ = fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>{}</title>\n<style>\n{}@page {{ @bottom-left {{ content: \"{}\"; }} }}\n"
            "</style>\n</head>\n<body>\n<main>\n",
            html_escaped(options.title),
            html_style(),
            css_text(options.footer));
    }
    void heading(int level, const Text& text, std::string_view anchor) override {
        out_ += fmt::format("<h{0}{1}>{2}</h{0}>\n", level, id_attribute(anchor), html_of(text));
    }
    void paragraph(const Text& text) override { out_ += fmt::format("<p>{}</p>\n", html_of(text)); }
    void banner(Tone tone, const Text& text) override {
        out_ += fmt::format(
            "<p class=\"banner {}\" role=\"status\">{}</p>\n", tone_class(tone), html_of(text));
    }
    void table(const PageTable& table) override {
        const std::string_view kind = table.facts            ? "facts"
                                      : table.signed_by_hand ? "signed"
                                                             : "list";
        out_ += fmt::format("<div class=\"scroll\"><table class=\"{}\">\n", kind);
        if (!table.caption.empty())
            out_ += fmt::format("<caption>{}</caption>\n", html_escaped(table.caption));
        out_ += "<thead><tr>";
        for (const std::string& each : table.header)
            out_ += fmt::format("<th scope=\"col\">{}</th>", html_escaped(each));
        out_ += "</tr></thead>\n<tbody>\n";
        for (const TableRow& row : table.rows) add_row(table, row);
        out_ += "</tbody></table></div>\n";
    }
    void list(const std::vector<Text>& items, bool numbered) override {
        const std::string_view mark = numbered ? "ol" : "ul";
        out_ += fmt::format("<{}>\n", mark);
        for (const Text& item : items) out_ += fmt::format("<li>{}</li>\n", html_of(item));
        out_ += fmt::format("</{}>\n", mark);
    }
    void new_page() override { out_ += "<div class=\"new-page\"></div>\n"; }
    std::string take() override { return std::move(out_) + "</main>\n</body>\n</html>\n"; }

private:
    void add_row(const PageTable& table, const TableRow& row) {
        out_ += fmt::format("<tr{}>", id_attribute(row.anchor));
        for (size_t i = 0; i < row.cells.size(); ++i) {
            const bool keep = std::ranges::find(table.keep, i) != table.keep.end();
            const std::string_view style = keep ? " class=\"keep\"" : "";
            const std::string text = html_of(row.cells[i]);
            out_ += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", style, text)
                           : fmt::format("<td{}>{}</td>", style, text);
        }
        out_ += "</tr>\n";
    }
    std::string out_;
};

}  // namespace

Text& Text::operator+=(const Text& more) {
    runs.insert(runs.end(), more.runs.begin(), more.runs.end());
    return *this;
}

Run badge(Tone tone, std::string_view words) { return {.text = std::string(words), .tone = tone}; }
Run link(std::string anchor, std::string_view words) {
    return {.text = std::string(words), .link = std::move(anchor)};
}

std::string anchor_of(std::string_view prefix, std::string_view name) {
    std::string anchor(prefix);
    anchor += '-';
    for (const char c : name) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        anchor += plain ? std::string(1, c) : fmt::format("_{:02x}", static_cast<unsigned char>(c));
    }
    return anchor;
}

std::string html_escaped(std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
        switch (c) {
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

std::unique_ptr<Page> html_page(const HtmlOptions& options) {
    return std::make_unique<HtmlPage>(options);
}

}  // namespace lemma::diag
