// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diag/wrap.h"
#include "driver/explain/pages.h"

namespace lemma::driver {

namespace {

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// `[text](target)` as `text`. Code in backticks stays as it is.
std::string without_targets(std::string_view line) {
    std::string text;
    bool code = false;
    for (size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '`') code = !code;
        const size_t middle = line[at] == '[' && !code ? line.find("](", at) : std::string::npos;
        const size_t end = middle == std::string::npos ? std::string::npos : line.find(')', middle);
        if (end == std::string::npos) {
            text += line[at];
            continue;
        }
        text += line.substr(at + 1, middle - at - 1);
        at = end;
    }
    return text;
}

class Printer {
public:
    explicit Printer(const TerminalStyle& style) : style_(style) {}

    std::string print(std::string_view markdown) {
        for (const std::string_view line : lines_of(markdown)) add(line);
        end_paragraph();
        return std::move(text_);
    }

private:
    void add(std::string_view line) {
        if (line.starts_with("```")) {
            end_paragraph();
            code_ = !code_;
        } else if (code_ || line.starts_with("    ")) {
            end_paragraph();
            const std::string_view code = code_ ? line : line.substr(4);
            text_ += line.empty() ? "\n" : fmt::format("    {}{}{}\n", dim(), code, plain());
        } else if (line.empty()) {
            end_paragraph();
            text_ += "\n";
        } else if (line.starts_with("#")) {
            const std::string_view title = line.substr(line.find_first_not_of("# "));
            text_ += fmt::format("{}{}{}\n", bold(), title, plain());
        } else if (line.starts_with("|")) {
            if (!paragraph_.empty()) end_paragraph();
            add_row(line);
        } else {
            const bool item = line.starts_with("- ");
            if (item) end_paragraph();
            indent_ = item ? 2 : paragraph_.empty() ? 0 : indent_;
            if (!paragraph_.empty()) paragraph_ += ' ';
            paragraph_ += without_targets(item || indent_ == 0 ? line : trimmed(line));
        }
    }
    static std::string_view trimmed(std::string_view line) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        return line.substr(0, line.find_last_not_of(' ') + 1);
    }
    // The line below the heading of a table is left out. `\\|` is no end of a cell.
    void add_row(std::string_view line) {
        if (line.find_first_not_of("|-: ") == std::string_view::npos) return;
        const std::string row = without_targets(line);
        std::vector<std::string> cells;
        std::string cell;
        for (size_t at = 1; at < row.size(); ++at) {
            const bool escaped = row[at] == '\\' && at + 1 < row.size() && row[at + 1] == '|';
            if (row[at] == '|') {
                cells.emplace_back(trimmed(cell));
                cell.clear();
            } else {
                cell += row[escaped ? ++at : at];
            }
        }
        rows_.push_back(std::move(cells));
    }
    void end_table() {
        std::vector<size_t> widths;
        for (const auto& row : rows_) {
            widths.resize(std::max(widths.size(), row.size()));
            for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
        }
        for (const auto& row : rows_) {
            std::string line = "   ";
            for (size_t i = 0; i < row.size(); ++i)
                line += fmt::format(" {:<{}}", row[i], widths[i] + 1);
            text_ += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
        rows_.clear();
    }
    void end_paragraph() {
        if (!rows_.empty()) end_table();
        if (paragraph_.empty()) return;
        text_ += diag::wrapped(paragraph_,
                               {.columns = style_.columns, .indent = indent_, .markdown = true});
        text_ += "\n";
        paragraph_.clear();
        indent_ = 0;
    }
    const char* bold() const { return style_.colour ? kBold : ""; }
    const char* dim() const { return style_.colour ? kDim : ""; }
    const char* plain() const { return style_.colour ? kPlain : ""; }

    TerminalStyle style_;
    std::string text_, paragraph_;
    std::vector<std::vector<std::string>> rows_;  // of the current table, by cells
    size_t indent_ = 0;
    bool code_ = false;
};

}  // namespace

std::string terminal_text(std::string_view markdown, const TerminalStyle& style) {
    return Printer(style).print(markdown);
}

std::string summary_of(const ErrorPage& page) {
    for (const std::string_view line : lines_of(page.text)) {
        if (line.empty() || line.starts_with("#")) continue;
        return without_targets(line.ends_with(".") ? line.substr(0, line.size() - 1) : line);
    }
    return {};
}

}  // namespace lemma::driver
