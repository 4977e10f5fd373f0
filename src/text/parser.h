// SPDX-License-Identifier: Apache-2.0
// text/parser.h — shared by the recursive-descent parsers of all text formats: a position among the
// tokens, messages, recovery and the limit on depth.
//
// After an error the parser panics: it reports nothing more, and its functions return until the
// loop over statements skips to the next one. A `fail` panics, and is silent if the statement
// already has an error; a `report` only reports.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "diag/utf8.h"
#include "text/lexer.h"
#include "text/tokens.h"

namespace lemma::text {

// `Derived` is the parser of a language. Its namespace has `describe(Kind)`, a name for messages.
// The class has `found()`, the current token worded for a message, and `statement_may_start()`. A
// function of `Derived` replaces one of the same name here, also in calls from this class.
template <class Derived, class Kind>
class Parser {
protected:
    using Token = text::Token<Kind>;

    // The position in a list of tokens that EndOfFile ends, or in a part of one.
    struct Cursor {
        const Token* tokens = nullptr;
        size_t last = 0;  // index of the last one
        size_t pos = 0;
        Token previous;  // the last token taken
    };

    // Counts one level of nesting during its lifetime; `ok` is false beyond the limit.
    class Nest {
    public:
        explicit Nest(Parser& parser) : ok(++parser.depth_ <= parser.max_depth_), parser_(parser) {
            if (!ok) parser.self().too_deep(parser.span(parser.peek()), parser.max_depth_);
        }
        ~Nest() { --parser_.depth_; }
        Nest(const Nest&) = delete;
        Nest& operator=(const Nest&) = delete;
        const bool ok;

    private:
        Parser& parser_;
    };

    Parser(const diag::SourceMap& sources, diag::FileId file, int max_depth, Diagnostics& diag)
        : file_(file), text_(sources.text(file)), max_depth_(max_depth), diag_(diag) {}

    // ---- Tokens -------------------------------------------------------------------------------
    const Token& peek() const { return cursor_.tokens[cursor_.pos]; }
    const Token& peek(size_t ahead) const {
        return cursor_.tokens[std::min(cursor_.pos + ahead, cursor_.last)];
    }
    const Token& previous() const { return cursor_.previous; }
    bool at(Kind kind) const { return peek().kind == kind; }
    bool at(Kind kind, size_t ahead) const { return peek(ahead).kind == kind; }
    bool at_word(std::string_view word) const {
        return at(Kind::Identifier) && text(peek()) == word;
    }
    Token advance() {
        cursor_.previous = peek();
        if (cursor_.pos < cursor_.last) ++cursor_.pos;
        return cursor_.previous;
    }
    bool accept(Kind kind) {
        if (!at(kind)) return false;
        self().advance();
        return true;
    }
    std::string_view text(const Token& token) const {
        return {text_.data() + token.begin, token.end - token.begin};
    }
    std::string_view text(Span span) const {
        return {text_.data() + span.begin, span.end - span.begin};
    }
    Span span(const Token& token) const { return {file_, token.begin, token.end}; }
    // From there to the end of the last token taken.
    Span span_from(uint32_t begin) const { return {file_, begin, std::max(begin, previous().end)}; }
    // For a message: the first line, shortened.
    std::string shown(Span span) const {
        const std::string_view whole = text(span);
        return diag::shortened(diag::printable(whole.substr(0, whole.find('\n'))), kMaxShownBytes);
    }

    // ---- Messages -----------------------------------------------------------------------------
    // Reports, and continues parsing.
    diag::Report report(Span span, DiagKind kind, std::string message) {
        if (panic_) return diag::Report(nullptr);
        return diag_.error(span, kind, std::move(message));
    }
    // Reports, and gives up on the statement. Silent if the lexer or an earlier report on this
    // statement has already reported the problem.
    diag::Report fail(Span span, DiagKind kind, std::string message) {
        if (at(Kind::Bad) || previous().kind == Kind::Bad || has_error()) panic_ = true;
        const diag::Report result = self().report(span, kind, std::move(message));
        panic_ = true;
        return result;
    }
    diag::Report fail_expected(std::string_view wanted) {
        return fail(span(peek()),
                    DiagKind::UnexpectedToken,
                    fmt::format("expected {}, found {}", wanted, self().found()));
    }
    bool expect(Kind kind) {
        if (accept(kind)) return true;
        self().fail_expected(describe(kind));
        return false;
    }
    // Fails if the current token belongs elsewhere.
    bool fail_misplaced() { return false; }
    // Takes the bracket that closes `open`; `list`: a comma could follow as well.
    bool close(const Token& open, Kind closer, bool list) {
        if (accept(closer)) return true;
        if (panic_ || self().fail_misplaced()) return false;
        if (closer_follows(closer)) {
            self().fail_expected(list ? fmt::format("`,` or {}", describe(closer))
                                      : std::string(describe(closer)));
        } else {
            self().fail_unclosed(open, closer);
        }
        return false;
    }
    diag::Report fail_unclosed(const Token& open, Kind closer) {
        diag::Report report = fail(span(open),
                                   DiagKind::UnclosedBracket,
                                   fmt::format("{} is never closed", describe(open.kind)));
        report.note(span(peek()),
                    fmt::format("expected {}, found {}", describe(closer), self().found()));
        return report;
    }
    // Whether this bracket closes the current list later in this statement.
    bool closer_follows(Kind closer) const {
        int depth = 0;
        for (size_t i = cursor_.pos; i < cursor_.last; ++i) {
            const Kind kind = cursor_.tokens[i].kind;
            if (self().ends_list(kind)) return false;
            if (opens(kind)) ++depth;
            if (closes(kind) && depth-- == 0) return kind == closer;
        }
        return false;
    }
    // A token after which no list continues.
    static bool ends_list(Kind kind) { return kind == Kind::Semicolon; }
    static bool opens(Kind kind) {
        return kind == Kind::LParen || kind == Kind::LBracket || kind == Kind::LBrace;
    }
    static bool closes(Kind kind) {
        return kind == Kind::RParen || kind == Kind::RBracket || kind == Kind::RBrace;
    }
    // Reports, and gives up on the statement.
    void too_deep(Span span, int limit) {
        self()
            .report(span, DiagKind::TooDeep, fmt::format("nesting is deeper than {} levels", limit))
            .note("the limit is set by `--max-depth`");
        panic_ = true;
    }

    // ---- Recovery -----------------------------------------------------------------------------
    void begin_statement() { statement_errors_ = diag_.error_count(); }
    bool has_error() const { return diag_.error_count() > statement_errors_; }
    // Takes the `;` of a statement. If it was only forgotten, parsing continues as if it were
    // there.
    void end_statement() {
        if (panic_ || accept(Kind::Semicolon)) return;
        const Token last = previous();
        const bool next_line = self().statement_may_start();
        if (last.kind == Kind::Bad && next_line) return;  // an unclosed string contains it
        if (has_error() && next_line) return;
        if (self().fail_misplaced()) return;
        if (!next_line) {
            self().fail_expected("`;`");
            return;
        }
        self()
            .report(span(last),
                    DiagKind::MissingSemicolon,
                    fmt::format("expected `;`, found {}", self().found()))
            .fix({file_, last.end, last.end}, ";");
    }

    const diag::FileId file_;
    std::string_view text_;
    const int max_depth_;
    Diagnostics& diag_;
    Cursor cursor_;
    int depth_ = 0;                // living Nests
    bool panic_ = false;           // an error was reported: silent up to the end of the statement
    bool fatal_ = false;           // the same for longer: the parser says how long
    size_t statement_errors_ = 0;  // how many there were when this statement began

private:
    Derived& self() { return static_cast<Derived&>(*this); }
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace lemma::text
