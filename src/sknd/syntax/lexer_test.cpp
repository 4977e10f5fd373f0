// SPDX-License-Identifier: Apache-2.0
#include "sknd/syntax/lexer.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace lemma::sknd {
namespace {

struct Lexed {
    diag::SourceMap sources;
    Diagnostics diag;
    TokenList list;

    // The texts of the tokens, separated by spaces.
    std::string texts() const {
        std::string result;
        for (const Token& token : list.tokens) {
            if (token.kind == TokenKind::EndOfFile) break;
            if (!result.empty()) result += ' ';
            result += sources.text({list.file, token.begin, token.end});
        }
        return result;
    }
    std::vector<TokenKind> kinds() const {
        std::vector<TokenKind> result;
        for (const Token& token : list.tokens) result.push_back(token.kind);
        result.pop_back();
        return result;
    }
    // "line:column kind" of each diagnostic.
    std::string errors() const {
        std::string result;
        for (const diag::Diagnostic& item : diag.items()) {
            const diag::LineColumn place = sources.place(item.span.file, item.span.begin);
            if (!result.empty()) result += ", ";
            result += fmt::format("{}:{} {}", place.line, place.column, info(item.kind).id);
        }
        return result;
    }
};

Lexed lex_text(std::string text) {
    Lexed result;
    const diag::FileId file = result.sources.add("test.sknd", std::move(text));
    result.list = lex(result.sources, file, result.diag);
    return result;
}

TEST(Lexer, ClosesEveryListByEndOfFile) {
    const Lexed empty = lex_text("");
    ASSERT_EQ(empty.list.tokens.size(), 1u);
    EXPECT_EQ(empty.list.tokens[0].kind, TokenKind::EndOfFile);
    EXPECT_EQ(lex_text("  # only a comment").list.tokens.size(), 1u);
}

TEST(Lexer, PassesOverRanges) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("test.sknd", "a # b\n'c\nd e\n' f\n");
    const TextRange ranges[] = {{6, 9}, {11, 14}};
    const TokenList list = lex(sources, file, diag, SIZE_MAX, ranges);
    EXPECT_FALSE(diag.has_errors());
    ASSERT_EQ(list.tokens.size(), 4u);  // a, d, f and the end
    EXPECT_EQ(list.tokens[1].begin, 9u);
    EXPECT_TRUE(list.tokens[1].line_start);
    EXPECT_EQ(list.tokens[2].begin, 15u);
    EXPECT_EQ(list.comments.size(), 1u);
}

TEST(Lexer, TakesTheLongestOperator) {
    EXPECT_EQ(lex_text("a<?=b<?c<<d<=e<-f<>g<h").texts(), "a <?= b <? c << d <= e <- f <> g < h");
    EXPECT_EQ(lex_text("a>?=b>?c>>d>=e>f").texts(), "a >?= b >? c >> d >= e > f");
    EXPECT_EQ(lex_text("..././.../x..y").texts(), "... / . / ... / x .. y");
    EXPECT_EQ(lex_text("|=||| **=*= :=:: ??? =>==-> !=!").texts(),
              "|= || | ** = *= := : : ?? ? => == -> != !");
    EXPECT_EQ(lex_text("a<-1").kinds(),
              (std::vector{TokenKind::Identifier, TokenKind::Substitute, TokenKind::Integer}));
}

TEST(Lexer, ReadsBothSpellingsAsOneToken) {
    EXPECT_EQ(lex_text("<< <?").kinds(), (std::vector{TokenKind::Min, TokenKind::Min}));
    EXPECT_EQ(lex_text(">> >?").kinds(), (std::vector{TokenKind::Max, TokenKind::Max}));
}

TEST(Lexer, TellsKeywordsFromNames) {
    EXPECT_EQ(lex_text("operator operators _int int as").kinds(),
              (std::vector{TokenKind::KwOperator,
                           TokenKind::Identifier,
                           TokenKind::Identifier,
                           TokenKind::KwInt,
                           TokenKind::KwAs}));
    EXPECT_EQ(lex_text("is in shape null and T").kinds(),
              std::vector<TokenKind>(6, TokenKind::Identifier));
    EXPECT_TRUE(is_keyword(TokenKind::KwImport));
    EXPECT_TRUE(is_keyword(TokenKind::KwDynamic));
    EXPECT_FALSE(is_keyword(TokenKind::LParen));
}

TEST(Lexer, KnowsEveryKeyword) {
    for (int i = 0; i < 256; ++i) {
        const auto kind = static_cast<TokenKind>(i);
        if (!is_keyword(kind)) continue;
        const std::string_view quoted = describe(kind);
        const Lexed lexed = lex_text(std::string(quoted.substr(1, quoted.size() - 2)));
        EXPECT_EQ(lexed.kinds(), std::vector{kind}) << quoted;
    }
}

TEST(Lexer, ReadsNumbers) {
    EXPECT_EQ(lex_text("0 007 9223372036854775807").kinds(),
              std::vector<TokenKind>(3, TokenKind::Integer));
    EXPECT_EQ(lex_text("1.5 1. 1e-5 2E+3 1.e2 3e4").kinds(),
              std::vector<TokenKind>(6, TokenKind::Real));
    EXPECT_EQ(lex_text("1.5..(3)").texts(), "1.5 .. ( 3 )");
    EXPECT_EQ(lex_text("x[0].shape").texts(), "x [ 0 ] . shape");
}

TEST(Lexer, ReportsMalformedNumbersOnce) {
    for (const char* text : {"1.2.3", "12abc", "1e", "1.5e", "0x1F", "1_000", "3.x"}) {
        const Lexed lexed = lex_text(text);
        EXPECT_EQ(lexed.errors(), "1:1 bad-number") << text;
        EXPECT_EQ(lexed.kinds(), std::vector{TokenKind::Bad}) << text;
    }
}

TEST(Lexer, ReadsAnIntegerThatTouchesDotsAsIfASpaceStoodThere) {
    const Lexed lexed = lex_text("[1..(n)]");
    EXPECT_EQ(lexed.errors(), "1:2 bad-number");
    EXPECT_EQ(lexed.texts(), "[ 1 .. ( n ) ]");
    ASSERT_EQ(lexed.diag.items()[0].fixes.size(), 1u);
    EXPECT_EQ(lexed.diag.items()[0].fixes[0].replacement, " ");
    EXPECT_EQ(lexed.diag.items()[0].fixes[0].span.begin, 2u);
    EXPECT_EQ(lexed.diag.items()[0].fixes[0].span.end, 2u);
}

TEST(Lexer, ReportsIntegersBeyond64Bits) {
    EXPECT_EQ(lex_text("9223372036854775808").errors(), "1:1 int-range");
    EXPECT_EQ(lex_text("99999999999999999999999999").errors(), "1:1 int-range");
    EXPECT_EQ(lex_text("0000000000000000000000001").errors(), "");
}

TEST(Lexer, ReadsStringsWithEscapesOverLines) {
    const Lexed lexed = lex_text("'a\\'b' \"it's\" 'two\nlines' \"\"");
    EXPECT_EQ(lexed.kinds(), std::vector<TokenKind>(4, TokenKind::String));
    EXPECT_EQ(lexed.errors(), "");
}

TEST(Lexer, GoesOnBehindTheLineOfAnUnclosedString) {
    const Lexed lexed = lex_text("a = 'open;\nb = 1;\n");
    EXPECT_EQ(lexed.errors(), "1:5 unclosed-string");
    EXPECT_EQ(lexed.texts(), "a = 'open; b = 1 ;");
    EXPECT_EQ(lex_text("'").errors(), "1:1 unclosed-string");
    EXPECT_EQ(lex_text("'\\").errors(), "1:1 unclosed-string");
}

TEST(Lexer, FindsTheUnclosedStringAmongClosedOnes) {
    const Lexed lexed = lex_text("a: str = \"x;\nb: str = \"y\";\nc: str = \"z\";\n");
    EXPECT_EQ(lexed.errors(), "1:10 unclosed-string");
    EXPECT_EQ(lexed.texts(), "a : str = \"x; b : str = \"y\" ; c : str = \"z\" ;");
}

TEST(Lexer, KeepsComments) {
    const Lexed lexed = lex_text("# first\na # second\r\n  # third");
    ASSERT_EQ(lexed.list.comments.size(), 3u);
    EXPECT_TRUE(lexed.list.comments[0].own_line);
    EXPECT_FALSE(lexed.list.comments[1].own_line);
    EXPECT_TRUE(lexed.list.comments[2].own_line);
    const Comment second = lexed.list.comments[1];
    EXPECT_EQ(lexed.sources.text({lexed.list.file, second.begin, second.end}), "# second");
}

TEST(Lexer, MarksTheFirstTokenOfEachLine) {
    const Lexed lexed = lex_text("a b\nc\rd\r\ne f");
    std::string starts;
    for (const Token& token : lexed.list.tokens) starts += token.line_start ? '1' : '0';
    EXPECT_EQ(starts, "1011101");
}

TEST(Lexer, ReadsBlocksAndBuiltins) {
    EXPECT_EQ(lex_text("@input `sin`").kinds(),
              (std::vector{TokenKind::Block, TokenKind::Builtin}));
    EXPECT_EQ(lex_text("@ input").errors(), "1:1 bad-character");
    EXPECT_EQ(lex_text("`sin (x)").errors(), "1:1 bad-character");
    EXPECT_EQ(lex_text("``").errors(), "1:1 bad-character, 1:2 bad-character");
}

TEST(Lexer, SuggestsTheOperatorThatWasMeant) {
    for (const auto& [text, meant] :
         {std::pair("a & b", "&&"), {"a === b", "=="}, {"a !== b", "!="}}) {
        const Lexed lexed = lex_text(text);
        EXPECT_EQ(lexed.errors(), "1:3 bad-character");
        ASSERT_EQ(lexed.diag.items()[0].fixes.size(), 1u);
        EXPECT_EQ(lexed.diag.items()[0].fixes[0].replacement, meant);
    }
}

TEST(Lexer, ReportsARunOfBadCharactersOnce) {
    EXPECT_EQ(lex_text("a \xC3\xA9\xC3\xA8 b").errors(), "1:3 bad-character");
    EXPECT_EQ(lex_text(std::string("a\0\0\0b", 5)).errors(), "1:2 bad-character");
    EXPECT_EQ(lex_text("$").kinds(), std::vector{TokenKind::Bad});
}

TEST(Lexer, ChecksEncodingInStringsAndComments) {
    EXPECT_EQ(lex_text("'\xC3\xA9' # \xE2\x82\xAC").errors(), "");
    EXPECT_EQ(lex_text("'ab\xFF\xFE'").errors(), "1:4 bad-encoding");
    EXPECT_EQ(lex_text("# ab\xC3").errors(), "1:5 bad-encoding");
}

TEST(Lexer, SkipsAByteOrderMark) {
    const Lexed lexed = lex_text("\xEF\xBB\xBFimport");
    EXPECT_EQ(lexed.errors(), "");
    EXPECT_EQ(lexed.list.tokens[0].begin, 3u);
    EXPECT_TRUE(lexed.list.tokens[0].line_start);
}

TEST(Lexer, LexesARangeWithPlacesInTheFile) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("test.sknd", "'{a + 12}'");
    const TokenList list = lex_range(sources, {file, 2, 8}, diag);
    ASSERT_EQ(list.tokens.size(), 4u);
    EXPECT_EQ(list.tokens[2].begin, 6u);
    EXPECT_EQ(list.tokens[2].end, 8u);
    EXPECT_EQ(list.tokens[3].kind, TokenKind::EndOfFile);
    EXPECT_EQ(list.tokens[3].begin, 8u);
}

TEST(Lexer, StopsAtTheLimitOfTokens) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("test.sknd", "a b c d e");
    const TokenList list = lex(sources, file, diag, 3);
    EXPECT_EQ(list.tokens.size(), 5u);
    ASSERT_EQ(diag.items().size(), 1u);
    EXPECT_EQ(diag.items()[0].kind, DiagKind::TooLarge);
}

}  // namespace
}  // namespace lemma::sknd
