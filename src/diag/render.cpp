// SPDX-License-Identifier: Apache-2.0
#include "diag/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diag/excerpt.h"
#include "diag/utf8.h"

namespace lemma::diag {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kMagenta = "\x1b[1;35m";
constexpr std::string_view kCyan = "\x1b[1;36m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kIndent = "   ";  // indentation of notes and hints without a place

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

class Renderer {
public:
    Renderer(const SourceMap& sources, RenderOptions options)
        : sources_(sources), options_(options) {}

    void add(const Diagnostic& diagnostic);
    void add_dropped(size_t count, std::string_view what);
    std::string take() { return std::move(out_); }

private:
    // A span with the line where it begins.
    struct Located {
        Span span;
        LineColumn place;
    };
    Located locate(Span span) const;
    std::string place_text(const Located& at) const;
    std::string header_place(const Diagnostic& diagnostic, const std::optional<Located>& at) const;
    std::string coloured(std::string_view colour, std::string_view text) const;
    void add_excerpt(const Located& at, const std::vector<FixIt>& fixes);
    std::string fixed_line(const Located& at,
                           const Excerpt& excerpt,
                           const std::vector<FixIt>& fixes,
                           size_t room) const;
    void add_note(const Note& note);
    void add_help(const FixIt& fix, const std::optional<Located>& at);

    const SourceMap& sources_;
    RenderOptions options_;
    std::string out_;
};

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

// The replacement of a fix-it, without surrounding line ends.
std::string_view new_text(const FixIt& fix) {
    std::string_view text = fix.replacement;
    while (text.starts_with('\n')) text.remove_prefix(1);
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

// A note such as "did you mean `relu`?" already shows the fix-it.
bool is_told_by_note(const FixIt& fix, const std::vector<Note>& notes) {
    if (new_text(fix).empty()) return false;
    const std::string quoted = fmt::format("`{}`", new_text(fix));
    return std::any_of(notes.begin(), notes.end(), [&quoted](const Note& note) {
        return note.message.find(quoted) != std::string::npos;
    });
}

Renderer::Located Renderer::locate(Span span) const {
    return {.span = span, .place = sources_.place(span.file, span.begin)};
}

std::string Renderer::place_text(const Located& at) const {
    const std::string file = printable(sources_.name(at.span.file));
    if (sources_.is_binary(at.span.file)) {
        return fmt::format("{}:{}", file, printable(sources_.line(at.span.file, at.place.line)));
    }
    return fmt::format("{}:{}:{}", file, at.place.line, at.place.column);
}

// The text before the severity. The place in a binary file is a path, not a line.
std::string Renderer::header_place(const Diagnostic& diagnostic,
                                   const std::optional<Located>& at) const {
    if (at) return place_text(*at) + ": ";
    std::string place;
    if (diagnostic.span.valid()) place = printable(sources_.name(diagnostic.span.file)) + ":";
    if (!diagnostic.path.empty()) place += printable(diagnostic.path) + ":";
    return place.empty() ? place : place + " ";
}

std::string Renderer::coloured(std::string_view colour, std::string_view text) const {
    if (!options_.colour || text.empty()) return std::string(text);
    return fmt::format("{}{}{}", colour, text, kReset);
}

void Renderer::add(const Diagnostic& diagnostic) {
    std::optional<Located> at;
    if (diagnostic.span.valid() && diagnostic.path.empty()) at = locate(diagnostic.span);
    const bool is_error = diagnostic.severity == Severity::Error;
    out_ += coloured(kBold, header_place(diagnostic, at));
    out_ += coloured(is_error ? kRed : kMagenta, is_error ? "error:" : "warning:");
    out_ += ' ';
    out_ += coloured(kBold, printable(diagnostic.message));
    out_ += fmt::format(" [{}]\n", shown_id(diagnostic));
    if (options_.brief) return;

    if (at) add_excerpt(*at, diagnostic.fixes);
    for (const Note& note : diagnostic.notes) add_note(note);
    for (const FixIt& fix : diagnostic.fixes) {
        if (!is_told_by_note(fix, diagnostic.notes)) add_help(fix, at);
    }
}

// The line, the caret below it, and the replacements of the fix-its below the caret.
void Renderer::add_excerpt(const Located& at, const std::vector<FixIt>& fixes) {
    if (sources_.is_binary(at.span.file)) return;
    const std::string number = fmt::format("{:>5}", at.place.line);
    const std::string margin(number.size(), ' ');
    const size_t gutter = number.size() + 3;
    const size_t room = options_.max_columns > gutter ? options_.max_columns - gutter : 0;

    const uint32_t line_begin = sources_.line_begin(at.span.file, at.place.line);
    const std::string_view line = sources_.line(at.span.file, at.place.line);
    const Mark mark{.begin = std::min<size_t>(at.span.begin - line_begin, line.size()),
                    .end = std::max(at.span.begin, at.span.end) - line_begin};
    const Excerpt excerpt(line, mark, room);

    std::string text = fmt::format("{} | {}", number, excerpt.text());
    trim_right(text);
    out_ += text + '\n';
    out_ += fmt::format("{} | {}{}\n", margin, excerpt.indent(), coloured(kGreen, excerpt.caret()));
    const std::string fixed = fixed_line(at, excerpt, fixes, room);
    if (!fixed.empty()) out_ += fmt::format("{} | {}\n", margin, coloured(kGreen, fixed));
}

// The replacements, each below the text that it replaces, as long as they fit side by side.
std::string Renderer::fixed_line(const Located& at,
                                 const Excerpt& excerpt,
                                 const std::vector<FixIt>& fixes,
                                 size_t room) const {
    const uint32_t line_begin = sources_.line_begin(at.span.file, at.place.line);
    std::string text;
    size_t columns = 0;
    for (const FixIt& fix : fixes) {
        const bool here = fix.span.file == at.span.file && fix.span.begin >= line_begin &&
                          excerpt.shows(fix.span.begin - line_begin);
        if (!here || is_blank(fix.replacement)) continue;
        if (fix.replacement.find('\n') != std::string::npos) continue;
        const size_t column = excerpt.column(fix.span.begin - line_begin);
        const size_t width = printable_columns(fix.replacement);
        if (column < columns || column + width > room) continue;
        text += std::string(column - columns, ' ') + printable(fix.replacement);
        columns = column + width;
    }
    return text;
}

void Renderer::add_note(const Note& note) {
    const std::string word = coloured(kCyan, "note:");
    const std::string message = printable(note.message);
    if (!note.span.valid()) {
        out_ += fmt::format("{}{} {}\n", kIndent, word, message);
        return;
    }
    const Located at = locate(note.span);
    out_ += fmt::format("{} {} {}\n", coloured(kBold, place_text(at) + ":"), word, message);
    add_excerpt(at, {});
}

std::string edit_text(const FixIt& fix) {
    if (fix.replacement.empty()) return "remove this";
    const std::string_view verb = fix.span.begin == fix.span.end ? "insert" : "replace with";
    if (fix.replacement == " ") return fmt::format("{} a space", verb);
    const std::string_view text = new_text(fix);
    if (text.empty()) return fmt::format("{} a line break", verb);
    const bool line = text.size() < fix.replacement.size();
    return fmt::format("{}{} `{}`", verb, line ? " the line" : "", printable(text));
}

void Renderer::add_help(const FixIt& fix, const std::optional<Located>& at) {
    std::string place;
    if (fix.span.valid()) {
        const Located there = locate(fix.span);
        const bool same_line =
            at && at->span.file == fix.span.file && at->place.line == there.place.line;
        if (!same_line) place = fmt::format("at {}: ", place_text(there));
    }
    out_ += fmt::format("{}{} {}{}\n", kIndent, coloured(kGreen, "help:"), place, edit_text(fix));
}

void Renderer::add_dropped(size_t count, std::string_view what) {
    if (count == 0) return;
    const std::string_view plural = count == 1 ? "" : "s";
    out_ += fmt::format("… and {} more {}{} (--max-errors=N shows more)\n", count, what, plural);
}

}  // namespace

std::string render(const SourceMap& sources,
                   const Diagnostics& diagnostics,
                   RenderOptions options) {
    Renderer renderer(sources, options);
    for (const Diagnostic& diagnostic : diagnostics.items()) renderer.add(diagnostic);
    renderer.add_dropped(diagnostics.dropped_errors(), "error");
    renderer.add_dropped(diagnostics.dropped_warnings(), "warning");
    return renderer.take();
}

}  // namespace lemma::diag
