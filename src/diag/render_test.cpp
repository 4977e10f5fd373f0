// SPDX-License-Identifier: Apache-2.0
#include "diag/render.h"

#include <gtest/gtest.h>

namespace lemma::diag {
namespace {

// One source text with the spans of its words.
class Case {
public:
    explicit Case(std::string text) : file_(sources.add("net.sknd", std::move(text))) {}

    Span span(std::string_view part) const {
        const size_t begin = sources.text(file_).find(part);
        return at(begin, begin + part.size());
    }
    Span at(size_t begin, size_t end) const {
        return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    }
    Report error(Span span, std::string message = "wrong") {
        return diag.error(span, DiagKind::TypeMismatch, std::move(message));
    }
    std::string text(RenderOptions options = {}) const { return render(sources, diag, options); }
    // The n-th line of the output, from 0.
    std::string line(int n, RenderOptions options = {}) const {
        std::string rest = text(options);
        while (n-- > 0) rest.erase(0, rest.find('\n') + 1);
        return rest.substr(0, rest.find('\n'));
    }

    SourceMap sources;
    Diagnostics diag;

private:
    FileId file_;
};

TEST(Render, ShowsPlaceExcerptAndNotes) {
    Case c("graph main {\n    filter: real[3];\n    y = nn.conv(x, w3);\n}\n");
    c.diag.error(c.span("w3"), DiagKind::ExtentMismatch, "axis 1 of `filter` has extent 3")
        .note(c.span("filter"), "`filter` declared here")
        .note("called from nowhere");
    EXPECT_EQ(c.text(),
              "net.sknd:3:20: error: axis 1 of `filter` has extent 3 [extent-mismatch]\n"
              "    3 |     y = nn.conv(x, w3);\n"
              "      |                    ^~\n"
              "net.sknd:2:5: note: `filter` declared here\n"
              "    2 |     filter: real[3];\n"
              "      |     ^~~~~~\n"
              "   note: called from nowhere\n");
}

TEST(Render, PrintsOneLinePerDiagnosticIfBrief) {
    Case c("x y\n");
    c.error(c.span("x")).note("n").note(c.span("y"), "here").fix(c.span("x"), "z");
    c.diag.warning(c.span("y"), DiagKind::MixedLogical, "odd");
    EXPECT_EQ(c.text({.brief = true}),
              "net.sknd:1:1: error: wrong [type-mismatch]\n"
              "net.sknd:1:3: warning: odd [mixed-logical]\n");
}

TEST(Render, PrintsPlacesOfBinaryFilesAsPaths) {
    SourceMap sources;
    Diagnostics diag;
    Diagnostic item;
    item.message = "wrong";
    diag.add(item);
    item.path = "graph/node[12]:Conv/pads";
    diag.add(item);
    item.span = {sources.add("m.onnx", ""), 0, 0};
    diag.add(item);
    EXPECT_EQ(render(sources, diag, {}),
              "error: wrong [unreadable-file]\n"
              "graph/node[12]:Conv/pads: error: wrong [unreadable-file]\n"
              "m.onnx:graph/node[12]:Conv/pads: error: wrong [unreadable-file]\n");
}

TEST(Render, ShowsFixesUnderTheCaretAndAsHelp) {
    Case c("y = nn.rely(x)\nz = 1\n");
    c.error(c.span("nn.rely")).fix(c.span("nn.rely"), "nn.relu").fix(c.at(14, 14), ";");
    EXPECT_EQ(c.text(),
              "net.sknd:1:5: error: wrong [type-mismatch]\n"
              "    1 | y = nn.rely(x)\n"
              "      |     ^~~~~~~\n"
              "      |     nn.relu   ;\n"
              "   help: replace with `nn.relu`\n"
              "   help: insert `;`\n");
}

TEST(Render, SaysAFixOnceIfANoteSaysIt) {
    Case c("y = rely(x)\n");
    c.error(c.span("rely")).did_you_mean(c.span("rely"), "relu");
    EXPECT_EQ(c.text(),
              "net.sknd:1:5: error: wrong [type-mismatch]\n"
              "    1 | y = rely(x)\n"
              "      |     ^~~~\n"
              "      |     relu\n"
              "   note: did you mean `relu`?\n");
}

TEST(Render, NamesThePlaceOfAFixInAnotherLine) {
    Case c("a b\nc\n");
    c.error(c.span("a")).fix(c.span("c"), "d").fix(c.span("b"), "").fix(c.span("b"), "e\nf");
    EXPECT_EQ(c.text(),
              "net.sknd:1:1: error: wrong [type-mismatch]\n"
              "    1 | a b\n"
              "      | ^\n"
              "   help: at net.sknd:2:1: replace with `d`\n"
              "   help: remove this\n"
              "   help: replace with `e<0a>f`\n");
}

TEST(Render, NamesALineThatIsMissingWithoutItsEnds) {
    Case c("a b\nc\n");
    c.error(c.span("c")).fix(c.at(3, 3), "\nd").fix(c.at(4, 4), "e\n").fix(c.at(5, 5), "\n");
    EXPECT_EQ(c.text(),
              "net.sknd:2:1: error: wrong [type-mismatch]\n"
              "    2 | c\n"
              "      | ^\n"
              "   help: at net.sknd:1:4: insert the line `d`\n"
              "   help: insert the line `e`\n"
              "   help: insert a line break\n");
}

TEST(Render, NamesASpaceThatIsMissing) {
    Case c("[1..(3)]\n");
    c.error(c.span("1.")).fix(c.at(2, 2), " ");
    EXPECT_EQ(c.text(),
              "net.sknd:1:2: error: wrong [type-mismatch]\n"
              "    1 | [1..(3)]\n"
              "      |  ^~\n"
              "   help: insert a space\n");
}

TEST(Render, AlignsTheCaretBehindTabs) {
    Case c("\tx\ty;\n");
    c.error(c.span("y"));
    EXPECT_EQ(c.line(0), "net.sknd:1:4: error: wrong [type-mismatch]");
    EXPECT_EQ(c.line(1), "    1 |     x    y;");
    EXPECT_EQ(c.line(2), "      |          ^");
}

TEST(Render, CountsWideCharactersAsTwoColumnsOnScreen) {
    Case c("'漢字é' yy\n");
    c.error(c.span("yy"));
    EXPECT_EQ(c.line(0), "net.sknd:1:7: error: wrong [type-mismatch]");
    EXPECT_EQ(c.line(2), "      |         ^~");
    Case marked("漢字 x\n");
    marked.error(marked.span("漢字"));
    EXPECT_EQ(marked.line(2), "      | ^~~~");
    Case combining("e\u0301 yy\n");
    combining.error(combining.span("yy"));
    EXPECT_EQ(combining.line(2), "      |   ^~");
}

TEST(Render, ShowsBytesThatAreNoTextAsEscapes) {
    Case c(std::string("a\x80\x1b[31m\0z\u202e\x7f!", 14));
    c.error(c.span("z"));
    EXPECT_EQ(c.line(1), "    1 | a<80><1b>[31m<00>z<U+202E><7f>!");
    EXPECT_EQ(c.line(2), "      |                  ^");
}

TEST(Render, MarksAnEscapedByteOverItsWholeWidth) {
    Case c("a\xff b\n");
    c.error(c.at(1, 2));
    EXPECT_EQ(c.line(1), "    1 | a<ff> b");
    EXPECT_EQ(c.line(2), "      |  ^~~~");
}

TEST(Render, LetsNoControlCharacterThroughInMessagesAndNames) {
    SourceMap sources;
    Diagnostics diag;
    const FileId file = sources.add("a\x1b.sknd", "x");
    diag.error({file, 0, 1}, DiagKind::BadEscape, "bad `\x1b[2J\n`").note("\x07");
    EXPECT_EQ(render(sources, diag, {}),
              "a<1b>.sknd:1:1: error: bad `<1b>[2J<0a>` [bad-escape]\n"
              "    1 | x\n"
              "      | ^\n"
              "   note: <07>\n");
}

TEST(Render, MarksASpanOfSeveralLinesToTheEndOfItsFirst) {
    Case c("a = (b +\n  c);\n");
    c.error(c.span("(b +\n  c)"));
    EXPECT_EQ(c.line(1), "    1 | a = (b +");
    EXPECT_EQ(c.line(2), "      |     ^~~~");
}

TEST(Render, PointsBehindTheLastCharacter) {
    Case c("a = b\r\nc\n");
    c.error(c.at(5, 5), "at the line end");
    c.error(c.at(9, 9), "at the end of the file");
    EXPECT_EQ(c.text(),
              "net.sknd:1:6: error: at the line end [type-mismatch]\n"
              "    1 | a = b\n"
              "      |      ^\n"
              "net.sknd:3:1: error: at the end of the file [type-mismatch]\n"
              "    3 |\n"
              "      | ^\n");
}

TEST(Render, CutsLongLinesAroundTheCaret) {
    Case c(std::string(300, 'a') + " bad " + std::string(300, 'z'));
    c.error(c.span("bad"));
    EXPECT_EQ(c.line(1, {.max_columns = 38}), "    1 | …aaaaaaaaaaa bad zzzzzzzzzzzz…");
    EXPECT_EQ(c.line(2, {.max_columns = 38}), "      |              ^~~");
}

TEST(Render, CutsOnlyTheSideThatIsTooLong) {
    Case start("bad " + std::string(300, 'z'));
    start.error(start.span("bad"));
    EXPECT_EQ(start.line(1, {.max_columns = 30}), "    1 | bad zzzzzzzzzzzzzzzz…");
    Case end(std::string(300, 'a') + " bad");
    end.error(end.span("bad"));
    EXPECT_EQ(end.line(1, {.max_columns = 30}), "    1 | …aaaaaaaaaaaaaaaa bad");
    EXPECT_EQ(end.line(2, {.max_columns = 30}), "      |                   ^~~");
}

TEST(Render, MarksALongSpanUpToTheCut) {
    Case c(std::string(50, 'a') + " " + std::string(300, 'b'));
    c.error(c.at(51, 351));
    EXPECT_EQ(c.line(1, {.max_columns = 30}), "    1 | …aaaa bbbbbbbbbbbbbbb…");
    EXPECT_EQ(c.line(2, {.max_columns = 30}), "      |       ^~~~~~~~~~~~~~~");
}

TEST(Render, TakesOnlyTheShownPartOfAGiantLine) {
    constexpr size_t kSize = 100'000'000;
    std::string text(kSize, 'a');
    text[kSize / 2] = '?';
    Case c(std::move(text));
    for (size_t i = 0; i < 50; ++i) c.error(c.at(kSize / 2 + i, kSize));
    const std::string out = c.text();
    EXPECT_LT(out.size(), 20'000u);
    EXPECT_TRUE(out.starts_with("net.sknd:1:50000001: error: "));
}

TEST(Render, ColoursOnlyIfAsked) {
    Case c("x\n");
    c.error(c.span("x")).note("n");
    EXPECT_EQ(c.text().find('\x1b'), std::string::npos);
    EXPECT_EQ(c.text({.colour = true}),
              "\x1b[1mnet.sknd:1:1: \x1b[0m\x1b[1;31merror:\x1b[0m \x1b[1mwrong\x1b[0m "
              "[type-mismatch]\n"
              "    1 | x\n"
              "      | \x1b[1;32m^\x1b[0m\n"
              "   \x1b[1;36mnote:\x1b[0m n\n");
}

TEST(Render, CountsDroppedErrors) {
    SourceMap sources;
    Diagnostics diag(1);
    for (uint32_t i = 0; i < 4; ++i) {
        diag.error({}, DiagKind::BadNumber, std::string(i + 1, 'x'));
    }
    EXPECT_EQ(render(sources, diag, {.brief = true}),
              "error: x [bad-number]\n"
              "… and 3 more errors (--max-errors=N shows more)\n");
}

TEST(RenderJson, WritesPlacesNotesAndFixes) {
    Case c("é = rely(x)\n");
    c.error(c.span("rely")).did_you_mean(c.span("rely"), "relu");
    EXPECT_EQ(render_json(c.sources, c.diag), R"({
  "diagnostics": [
    {
      "severity": "error",
      "kind": "type-mismatch",
      "message": "wrong",
      "file": "net.sknd",
      "line": 1,
      "column": 5,
      "end_line": 1,
      "end_column": 9,
      "begin": 5,
      "end": 9,
      "notes": [
        {
          "message": "did you mean `relu`?"
        }
      ],
      "fixes": [
        {
          "replacement": "relu",
          "file": "net.sknd",
          "line": 1,
          "column": 5,
          "end_line": 1,
          "end_column": 9,
          "begin": 5,
          "end": 9
        }
      ]
    }
  ],
  "errors": 1,
  "warnings": 0,
  "dropped": 0,
  "dropped_warnings": 0
}
)");
}

TEST(Render, NamesPlacesOfBinaryFilesByPath) {
    SourceMap sources;
    const FileId file = sources.add_paths("net.onnx", "graph\ngraph/node[1]:Conv \"c\"\n");
    Diagnostics diag;
    diag.error({file, 6, 19}, DiagKind::BadArgument, "wrong").note({file, 0, 5}, "in here");
    EXPECT_EQ(render(sources, diag, {}),
              "net.onnx:graph/node[1]:Conv \"c\": error: wrong [bad-argument]\n"
              "net.onnx:graph: note: in here\n");
    const std::string json = render_json(sources, diag);
    EXPECT_NE(json.find(R"("path": "graph/node[1]:Conv \"c\"")"), std::string::npos);
    EXPECT_EQ(json.find("\"line\""), std::string::npos);
}

TEST(RenderJson, ReplacesBytesThatAreNotUtf8) {
    SourceMap sources;
    Diagnostics diag;
    Diagnostic item;
    item.message = "byte `\xff`";
    item.path = "node[\x80]";
    diag.add(item);
    const std::string json = render_json(sources, diag);
    EXPECT_NE(json.find("byte `\ufffd`"), std::string::npos);
    EXPECT_NE(json.find("node[\ufffd]"), std::string::npos);
}

}  // namespace
}  // namespace lemma::diag
