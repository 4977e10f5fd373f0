// SPDX-License-Identifier: Apache-2.0
// Documents as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "diag/page.h"
#include "diag/utf8.h"
#include "diag/wrap.h"

namespace lemma::diag {

namespace {

class MarkdownPage final : public Page {
public:
    void heading(int level, const Text& text, std::string_view) override {
        out_ += fmt::format("{} {}\n\n", std::string(static_cast<size_t>(level), '#'), safe(text));
    }
    void paragraph(const Text& text) override {
        out_ += wrapped(safe(text), {.markdown = true}) + "\n\n";
    }
    void banner(Tone, const Text& text) override {
        out_ += wrapped("**" + safe(text) + "**", {.markdown = true}) + "\n\n";
    }
    void table(const PageTable& table) override {
        if (!table.caption.empty()) paragraph(table.caption);
        row({table.header.begin(), table.header.end()});
        out_ += '|';
        for (size_t i = 0; i < table.header.size(); ++i) out_ += "---|";
        out_ += '\n';
        for (const TableRow& each : table.rows) row(each.cells);
        out_ += '\n';
    }
    void list(const std::vector<Text>& items, bool numbered) override {
        size_t number = 0;
        for (const Text& item : items) {
            const std::string mark = numbered ? fmt::format("{}. ", ++number) : "- ";
            out_ += wrapped(mark + safe(item), {.indent = mark.size(), .markdown = true}) + "\n";
        }
        out_ += '\n';
    }
    void new_page() override {}
    std::string take() override {
        while (out_.ends_with("\n\n")) out_.pop_back();
        return std::move(out_);
    }

private:
    static std::string safe(const Text& text) {
        std::string result;
        for (const Run& run : text.runs) result += escaped(run.text);
        return result;
    }
    // Code in backticks stays unchanged, unless a name contains a backtick.
    static std::string escaped(const std::string& text) {
        const std::string plain = printable(text);
        const bool has_code = std::ranges::count(plain, '`') % 2 == 0;
        bool in_code = false;
        std::string result;
        for (const char c : plain) {
            if (c == '`' && has_code) in_code = !in_code;
            const bool is_mark = std::string_view("<>*_[]&#\\").contains(c);
            if (c == '|' || (c == '`' && !has_code) || (is_mark && !in_code)) result += '\\';
            result += c;
        }
        return result;
    }
    void row(const std::vector<Text>& cells) {
        out_ += '|';
        for (const Text& cell : cells) out_ += " " + safe(cell) + " |";
        out_ += '\n';
    }
    std::string out_;
};

}  // namespace

std::unique_ptr<Page> markdown_page() { return std::make_unique<MarkdownPage>(); }

}  // namespace lemma::diag
