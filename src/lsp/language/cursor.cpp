// SPDX-License-Identifier: Apache-2.0
#include "lsp/language/cursor.h"

#include <algorithm>

namespace lemma::lsp {

namespace {

class Scanner {
public:
    Scanner(const View& view, uint32_t offset) : view_(view), offset_(offset) {
        for (const ViewToken& token : view.tokens) {
            if (token.place.begin >= offset) break;
            if (token.kind == TokenClass::Comment) {
                in_text_ = offset <= token.place.end;
                continue;
            }
            if (token.kind == TokenClass::End) break;
            tokens_.push_back(token);
        }
    }

    Cursor run() {
        Cursor cursor;
        cursor.in_text = in_text_;
        cursor.word = {offset_, offset_};
        if (!tokens_.empty() && tokens_.back().kind == TokenClass::String)
            cursor.in_text = cursor.in_text || offset_ < tokens_.back().place.end ||
                             is_open_string(tokens_.back());
        if (cursor.in_text) return cursor;
        take_word(cursor);
        size_t end = take_qualifier(cursor);
        if (end > 0) cursor.before = text(end - 1);
        cursor.in_import = is_import(end);
        scan_brackets(end, cursor);
        return cursor;
    }

private:
    std::string_view text(size_t i) const { return view_.source(tokens_[i].place); }
    bool is_word(size_t i) const {
        const TokenClass kind = tokens_[i].kind;
        return kind == TokenClass::Name || kind == TokenClass::Keyword ||
               kind == TokenClass::Type || kind == TokenClass::Builtin;
    }
    bool is_open_string(const ViewToken& token) const {
        const std::string_view literal = view_.source(token.place);
        return literal.size() < 2 || literal.front() != literal.back();
    }

    void take_word(Cursor& cursor) {
        if (tokens_.empty()) return;
        const ViewToken last = tokens_.back();
        const std::string_view written = text(tokens_.size() - 1);
        const bool word = is_word(tokens_.size() - 1) || last.kind == TokenClass::Block ||
                          written == "@" || last.kind == TokenClass::Number;
        if (!word || last.place.end < offset_) return;
        cursor.word = {last.place.begin, offset_};
        cursor.prefix = view_.source(cursor.word);
        tokens_.pop_back();
    }
    // Names and points before the word. Returns the number of tokens before them.
    size_t take_qualifier(Cursor& cursor) {
        size_t end = tokens_.size();
        while (end >= 2 && text(end - 1) == "." && is_word(end - 2)) {
            cursor.qualifier = std::string(text(end - 2)) +
                               (cursor.qualifier.empty() ? "" : "." + cursor.qualifier);
            end -= 2;
        }
        return end;
    }
    bool is_import(size_t end) const {
        while (end > 0) {
            const std::string_view before = text(--end);
            if (before == "import") return true;
            if (before != "," && before != "." && !is_word(end)) return false;
            if (tokens_[end].kind == TokenClass::Keyword) return false;
        }
        return false;
    }

    // The names that end before `end`, with points between them; `begin` is their first token.
    std::string qualified_before(size_t end, size_t& begin) const {
        if (end == 0 || tokens_[end - 1].kind != TokenClass::Name) return "";
        std::string name(text(end - 1));
        begin = end - 1;
        while (begin >= 2 && text(begin - 1) == "." && is_word(begin - 2)) {
            name = std::string(text(begin - 2)) + "." + name;
            begin -= 2;
        }
        return name;
    }
    // The token before the one that closes at `close`, a bracket, or `close` itself if it is none.
    size_t before_group(size_t close, std::string_view opening, std::string_view closing) const {
        if (close == 0 || text(close - 1) != closing) return close;
        int depth = 0;
        for (size_t i = close; i-- > 0;) {
            if (text(i) == closing) ++depth;
            if (text(i) == opening && --depth == 0) return i;
            if (close - i > kMaxTokens) break;
        }
        return close;
    }

    // The callee of a list that opens at token `open`; empty if it is another bracket.
    std::string callee_before(size_t open) const {
        size_t end = open;
        if (text(open) == "(") end = before_group(end, "{", "}");
        end = before_group(end, "<", ">");
        size_t begin = 0;
        const std::string name = qualified_before(end, begin);
        if (name.empty()) return "";
        const std::string_view before = begin > 0 ? text(begin - 1) : "";
        const bool declares = before == "graph" || before == "operator" || before == "fragment";
        return declares ? "" : name;
    }

    void scan_brackets(size_t end, Cursor& cursor) {
        std::vector<std::string_view> closed;
        CallAround call;
        bool searching = true;  // for the innermost call
        std::string last_name;
        for (size_t i = end, steps = 0; i-- > 0 && steps < kMaxTokens; ++steps) {
            const std::string_view at = text(i);
            if (at == ")" || at == "]" || at == "}") {
                closed.push_back(at);
                if (at == "}" && closed.size() == 1) searching = searching && i + 1 != end;
            } else if (at == "(" || at == "[" || at == "{") {
                if (!closed.empty()) {
                    closed.pop_back();
                    continue;
                }
                if (searching && at != "[") {
                    call.callee = callee_before(i);
                    call.in_attributes = at == "{";
                    if (!call.callee.empty()) {
                        cursor.call = call;
                        searching = false;
                    }
                }
                if (at == "{" && callee_before(i).empty()) {
                    searching = false;
                    note_block(i, cursor);
                    if (cursor.in_definition) return;
                }
                if (searching) call = CallAround{};
            } else if (closed.empty() && searching) {
                if (at == ",") {
                    ++call.argument;
                    last_name.clear();
                }
                if (at == ";") searching = false;
                if (at == "=" && i > 0 && tokens_[i - 1].kind == TokenClass::Name) {
                    call.given.emplace_back(text(i - 1));
                    if (call.argument == 0 && call.name.empty()) call.name = text(i - 1);
                }
            }
        }
    }
    // An open brace that is no list of attributes: of a block, a definition, or control flow.
    void note_block(size_t open, Cursor& cursor) const {
        if (open > 0 && tokens_[open - 1].kind == TokenClass::Block) {
            if (cursor.block.empty()) cursor.block = text(open - 1);
        } else if (open > 1 && (text(open - 2) == "graph" || text(open - 2) == "operator")) {
            cursor.in_definition = true;
        } else if (view_.language == Language::Nnef1) {
            cursor.in_definition = true;
        }
    }

    static constexpr size_t kMaxTokens = 200'000;
    const View& view_;
    uint32_t offset_;
    bool in_text_ = false;
    std::vector<ViewToken> tokens_;  // before the place, without comments
};

}  // namespace

Cursor cursor_at(const View& view, uint32_t offset) { return Scanner(view, offset).run(); }

}  // namespace lemma::lsp
