// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/lexer.h"

#include <gtest/gtest.h>

#include "nnef1/syntax/parser_testing.h"

namespace lemma::nnef1 {
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
    std::string errors() const { return testing::findings(sources, diag); }
};

Lexed lex_text(std::string text, Dialect dialect = Dialect::Strict) {
    Lexed result;
    const diag::FileId file = result.sources.add("test.nnef", std::move(text));
    result.list = lex(result.sources, file, dialect, result.diag);
    return result;
}

TEST(Nnef1Lexer, ClosesEveryListByEndOfFile) {
    EXPECT_EQ(lex_text("").list.tokens.size(), 1u);
    EXPECT_EQ(lex_text("  # only a comment").list.tokens.size(), 1u);
}

TEST(Nnef1Lexer, GivesTheSameTokensPieceByPiece) {
    const Lexed whole = lex_text("a = -9223372036854775808; # b\nx: tensor<scalar>=1.0 'c' \f d");
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file =
        sources.add("test.nnef", std::string(whole.sources.text(whole.list.file)));
    TokenStream stream(sources, file, Dialect::Strict, diag, SIZE_MAX);
    std::vector<Token> tokens;
    while (tokens.empty() || tokens.back().kind != TokenKind::EndOfFile) {
        if (stream.tokens().size() > 2) stream.drop(1);
        const auto before = static_cast<ptrdiff_t>(stream.tokens().size());
        stream.read(1);
        tokens.insert(tokens.end(), stream.tokens().begin() + before, stream.tokens().end());
    }
    ASSERT_EQ(tokens.size(), whole.list.tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
        EXPECT_EQ(tokens[i].kind, whole.list.tokens[i].kind) << i;
        EXPECT_EQ(tokens[i].begin, whole.list.tokens[i].begin) << i;
    }
    EXPECT_EQ(stream.take_comments().size(), 1u);
    EXPECT_FALSE(diag.has_errors());
    stream.read(1);  // nothing follows the end
    EXPECT_EQ(stream.tokens().back().kind, TokenKind::EndOfFile);
}

TEST(Nnef1Lexer, KnowsEveryKeyword) {
    const Lexed lexed = lex_text(
        "version extension graph fragment tensor integer scalar logical string shape_of length_of "
        "range_of for in yield if else true false");
    for (const TokenKind kind : lexed.kinds()) EXPECT_TRUE(is_keyword(kind)) << describe(kind);
    EXPECT_EQ(lexed.kinds().size(), 19u);
    for (const TokenKind kind : lex_text("Version graphs i ifs fo _in tru x1 e").kinds()) {
        EXPECT_EQ(kind, TokenKind::Identifier);
    }
}

TEST(Nnef1Lexer, TakesTheLongestOperator) {
    EXPECT_EQ(lex_text("a<=b<c>=d>e==f=g!=h!i->j-k&&l||m").texts(),
              "a <= b < c >= d > e == f = g != h ! i -> j - k && l || m");
}

TEST(Nnef1Lexer, EndsATypeBeforeEquals) {
    EXPECT_EQ(lex_text("x:tensor<scalar>=1.0,y:tensor<>=2,z<?>=3,u>=1").texts(),
              "x : tensor < scalar > = 1.0 , y : tensor < > = 2 , z < ? > = 3 , u >= 1");
}

TEST(Nnef1Lexer, TellsIntegersFromScalars) {
    const Lexed lexed = lex_text("1 007 1.0 5. 1e5 1E-5 2.5e+3");
    using enum TokenKind;
    EXPECT_EQ(lexed.kinds(),
              (std::vector<TokenKind>{Integer, Integer, Scalar, Scalar, Scalar, Scalar, Scalar}));
    EXPECT_EQ(lexed.errors(), "");
}

TEST(Nnef1Lexer, RefusesMalformedNumbers) {
    for (const char* text : {".5", "1e", "1e+", "1.0f", "2x", "1.2.3", "1..2", "."}) {
        EXPECT_EQ(lex_text(text).errors(), "1:1 bad-number") << text;
    }
}

TEST(Nnef1Lexer, RefusesIntegersBeyond64Bits) {
    EXPECT_EQ(lex_text("9223372036854775807 -9223372036854775808").errors(), "");
    EXPECT_EQ(lex_text("9223372036854775808").errors(), "1:1 int-range");
    EXPECT_EQ(lex_text("-9223372036854775809").errors(), "1:2 int-range");
    EXPECT_EQ(lex_text(testing::repeated("9", 10000)).errors(), "1:1 int-range");
}

TEST(Nnef1Lexer, EndsCommentsAtLineEndsAndFormFeeds) {
    const Lexed lexed = lex_text("a # x\nb # y\fc # z\rd#");
    EXPECT_EQ(lexed.texts(), "a b c d");
    EXPECT_EQ(lexed.list.comments.size(), 4u);
}

TEST(Nnef1Lexer, TakesEveryWhiteSpace) {
    EXPECT_EQ(lex_text("a\tb\vc\fd\ne\r\nf g").texts(), "a b c d e f g");
}

TEST(Nnef1Lexer, ReportsBytesThatBeginNoToken) {
    EXPECT_EQ(lex_text(std::string("a\0b", 3)).errors(), "1:2 bad-character");
    EXPECT_EQ(lex_text("\x01 = 1").errors(), "1:1 bad-character");
    EXPECT_EQ(lex_text("$$ \x7f @").errors(),
              "1:1 bad-character, 1:4 bad-character, 1:6 bad-character");
    EXPECT_EQ(lex_text("a & b | c").errors(), "1:3 bad-character, 1:7 bad-character");
}

TEST(Nnef1Lexer, MentionsAByteOrderMark) {
    const Lexed lexed = lex_text("\xEF\xBB\xBFversion");
    EXPECT_EQ(lexed.errors(), "1:1 non-standard");
    EXPECT_FALSE(lexed.diag.has_errors());
    EXPECT_EQ(lexed.texts(), "version");
}

TEST(Nnef1Lexer, TakesStringsInBothQuotes) {
    const Lexed lexed = lex_text(R"('a' "b" 'say "c"' "it's" 'it\'s' "\"" '\\')");
    EXPECT_EQ(lexed.list.tokens.size(), 8u);
    EXPECT_EQ(lexed.errors(), "");
    EXPECT_FALSE(lexed.list.tokens[0].escaped);
    EXPECT_TRUE(lexed.list.tokens[4].escaped);
}

TEST(Nnef1Lexer, ReportsStringsThatAreNotClosed) {
    EXPECT_EQ(lex_text("'a\nb").errors(), "1:1 unclosed-string");
    EXPECT_EQ(lex_text("'a\\").errors(), "1:1 unclosed-string");
    EXPECT_EQ(lex_text("'a\\\n'").errors(), "1:1 unclosed-string, 2:1 unclosed-string");
    EXPECT_EQ(lex_text("\"a'").errors(), "1:1 unclosed-string");
    EXPECT_EQ(lex_text("'a\nb", Dialect::Khronos).texts(), "'a b");
}

TEST(Nnef1Lexer, ChecksEscapesByDialect) {
    EXPECT_EQ(lex_text(R"('a\n')").errors(), "1:3 bad-escape");
    EXPECT_EQ(lex_text(R"("a\'")").errors(), "1:3 non-standard");
    EXPECT_EQ(lex_text(R"('a\n')", Dialect::Tract).errors(), "");
    // Khronos' tools have no escapes.
    EXPECT_EQ(lex_text(R"('a\' b)", Dialect::Khronos).texts(), R"('a\' b)");
}

TEST(Nnef1Lexer, ChecksCharactersOfStrings) {
    EXPECT_EQ(lex_text("'größe'").errors(), "1:4 bad-character");
    EXPECT_EQ(lex_text("'a\tb'").errors(), "1:3 bad-character");
    EXPECT_EQ(lex_text("'gr\xf6'").errors(), "1:4 bad-encoding");
    const Lexed khronos = lex_text("'größe\n'", Dialect::Khronos);
    EXPECT_EQ(khronos.errors(), "1:4 non-standard");
    EXPECT_FALSE(khronos.diag.has_errors());
    EXPECT_EQ(lex_text("'ö\xf6'", Dialect::Tract).errors(), "1:2 non-standard, 1:3 bad-encoding");
}

TEST(Nnef1Lexer, StopsAtTheLimit) {
    Lexed result;
    const diag::FileId file = result.sources.add("test.nnef", testing::repeated("a ", 1000));
    result.list = lex(result.sources, file, Dialect::Strict, result.diag, 100);
    EXPECT_EQ(result.errors(), "1:202 too-large");
    EXPECT_EQ(result.list.tokens.back().kind, TokenKind::EndOfFile);
}

TEST(Nnef1Lexer, TakesManyUnclosedStringsInLinearTime) {
    const Lexed lexed = lex_text(testing::repeated("'\n", 200'000), Dialect::Khronos);
    EXPECT_FALSE(lexed.diag.has_errors());  // the two quotes close each other
    EXPECT_TRUE(lex_text(testing::repeated("\"\n'", 100'001)).diag.has_errors());
}

TEST(Nnef1Lexer, ReadsWhatTractAdds) {
    const Lexed lexed =
        lex_text("extension tract_assert S >= 0 % 2; i\"a \\\" b\" i inf", Dialect::Tract);
    using enum TokenKind;
    EXPECT_EQ(lexed.kinds(),
              (std::vector<TokenKind>{KwExtension,
                                      Identifier,
                                      FreeText,
                                      Semicolon,
                                      QuotedIdentifier,
                                      Identifier,
                                      Identifier}));
    EXPECT_EQ(lexed.errors(), "");
    EXPECT_EQ(lex_text("extension KHR_a, KHR_b;", Dialect::Tract).texts(),
              "extension KHR_a , KHR_b ;");
}

}  // namespace
}  // namespace lemma::nnef1
