// SPDX-License-Identifier: Apache-2.0
#include "sknd/print/printer.h"

#include <gtest/gtest.h>

#include "sknd/syntax/parser.h"

namespace lemma::sknd {
namespace {

struct Parsed {
    diag::SourceMap sources;
    Module module;
};

Parsed parse(std::string text) {
    Parsed result;
    const diag::FileId file = result.sources.add("test.sknd", std::move(text));
    Diagnostics diag;
    result.module = parse_module(result.sources, file, {}, diag);
    for (const diag::Diagnostic& item : diag.items()) {
        if (item.severity != diag::Severity::Error) continue;
        ADD_FAILURE() << item.message << " at " << item.span.begin << " in\n"
                      << result.sources.text(file);
    }
    return result;
}

std::string formatted(std::string text, Spelling spelling = Spelling::Spec) {
    const Parsed parsed = parse(std::move(text));
    const std::string printed = print(parsed.module, parsed.sources, {.spelling = spelling});
    const Parsed again = parse(printed);
    EXPECT_EQ(dump_tree(again.module), dump_tree(parsed.module));
    EXPECT_EQ(print(again.module, again.sources, {.spelling = spelling}), printed);
    return printed;
}

// The printed statements of one block, without the text around them.
std::string in_block(std::string_view block,
                     std::string_view statements,
                     Spelling spelling = Spelling::Spec) {
    const std::string text = formatted("operator f { @dtype { T: num; } " + std::string(block) +
                                           " {\n" + std::string(statements) + "\n} }",
                                       spelling);
    const std::string head =
        "operator f {\n    @dtype {\n        T: num;\n    }\n    " + std::string(block) + " {\n";
    const std::string tail = "    }\n}\n";
    EXPECT_TRUE(text.starts_with(head) && text.ends_with(tail)) << text;
    std::string body = text.substr(head.size(), text.size() - head.size() - tail.size());
    std::string result;
    for (size_t begin = 0; begin < body.size();) {  // remove eight spaces from each line
        const size_t end = body.find('\n', begin) + 1;
        const std::string line = body.substr(begin, end - begin);
        EXPECT_TRUE(line == "\n" || line.starts_with("        ")) << text;
        result += line == "\n" ? line : line.substr(8);
        begin = end;
    }
    return result;
}

std::string in_using(std::string_view expr, Spelling spelling = Spelling::Spec) {
    const std::string text = in_block("@using", "a = " + std::string(expr) + ";", spelling);
    return text.substr(4, text.size() - 6);
}

// ---- Modules ----

TEST(Printer, PrintsNothingForAnEmptyModule) { EXPECT_EQ(formatted(" \n\n"), ""); }

TEST(Printer, GivesEachImportALine) {
    EXPECT_EQ(formatted("import a, b.c\nimport d;operator f{}"),
              "import a;\nimport b.c;\nimport d;\n\noperator f {\n}\n");
}

TEST(Printer, SetsOneBlankLineBetweenDefinitions) {
    EXPECT_EQ(formatted("operator f{}operator g{}\n\n\n\npublic operator h{}"),
              "operator f {\n}\n\noperator g {\n}\n\npublic operator h {\n}\n");
}

TEST(Printer, KeepsTheOrderOfBlocksAndDropsBlankLinesBetweenThem) {
    EXPECT_EQ(formatted("graph G { @output { y: real[3]; }\n\n@input { x: real[3]; } @assert {} }"),
              "graph G {\n"
              "    @output {\n"
              "        y: real[3];\n"
              "    }\n"
              "    @input {\n"
              "        x: real[3];\n"
              "    }\n"
              "    @assert {\n"
              "    }\n"
              "}\n");
}

TEST(Printer, KeepsOneBlankLineBetweenStatements) {
    EXPECT_EQ(in_block("@using", "\n\na = 1; b = 2;\nc = 3;\n\n\n\nd = 4;\n\n"),
              "a = 1;\nb = 2;\nc = 3;\n\nd = 4;\n");
}

TEST(Printer, ReadsEveryKindOfLineEnd) {
    EXPECT_EQ(in_block("@using", "a = 1;\r\nb = 2;\r\n\r\nc = 3;\r\rd = 4;  # x \r\n"),
              "a = 1;\nb = 2;\n\nc = 3;\n\nd = 4;  # x\n");
}

// ---- Types and declarations ----

TEST(Printer, WritesTypes) {
    EXPECT_EQ(in_block("@input",
                       "x:optional real[b,c,s..(d)]..(k);"
                       "y:T^(r)[s..,..z,t|10];"
                       "z:int[~|10 ..(3),1 ..];"
                       "w:real[];"
                       "v:real[s[axis]<-5 ..];"),
              "x: optional real[b, c, s..(d)]..(k);\n"
              "y: T^(r)[s.., ..z, t|10];\n"
              "z: int[~|10 ..(3), 1 ..];\n"
              "w: real[];\n"
              "v: real[s[axis] <- 5 ..];\n");
}

TEST(Printer, WritesValuesAndBoundsOfParameters) {
    EXPECT_EQ(in_block("@constant", "I:real[n,n]=i==j?1.0:0.0,i<n,j<n;"),
              "I: real[n, n] = i == j ? 1.0 : 0.0, i < n, j < n;\n");
    EXPECT_EQ(in_block("@attrib", "a:dynamic int..(dynamic n)=[ ];"),
              "a: dynamic int..(dynamic n) = [];\n");
}

TEST(Printer, WritesLeftSides) {
    EXPECT_EQ(in_block("@using", "a..(n)=p;[b,c..]=p;[(e,f)..]=p;"),
              "a..(n) = p;\n[b, c..] = p;\n[(e, f)..] = p;\n");
}

TEST(Printer, WritesAssertions) {
    EXPECT_EQ(in_block("@assert", "a>0;a>1:'x';a>2:\"m\",\"it's\":b,c;"),
              "a > 0;\na > 1: 'x';\na > 2: \"m\", 'it\\'s': b, c;\n");
}

// ---- Expressions ----

TEST(Printer, SpacesOperators) {
    EXPECT_EQ(in_using("-a**2+b*(c-d)<<e"), "-a ** 2 + b * (c - d) << e");
    EXPECT_EQ(in_using("!b&&?c=>d"), "!b && ?c => d");
    EXPECT_EQ(in_using("x in p||q is r"), "x in p || q is r");
}

TEST(Printer, WritesRangesTight) {
    EXPECT_EQ(in_using("[0 : n - 1 : 2, p[ : : -1].., x[1 : ]..]"),
              "[0:n - 1:2, p[::-1].., x[1:]..]");
}

TEST(Printer, KeepsExpansionsApartFromNumbers) {
    EXPECT_EQ(in_using("[1 .. (n), 1. ..(2), x1 ..(2), (a , b) .., p+.. ..(3)]"),
              "[1 ..(n), 1. ..(2), x1..(2), (a, b).., p + .. ..(3)]");
}

TEST(Printer, WritesSelectionsAndFallbacks) {
    EXPECT_EQ(in_using("c?a:d?b:e"), "c ? a : d ? b : e");
    EXPECT_EQ(in_using("?a?a"), "?a ? a");
    EXPECT_EQ(in_using("a??b??c"), "a ?? b ?? c");
}

TEST(Printer, WritesFolds) {
    EXPECT_EQ(in_using("p+..==6"), "p + .. == 6");
    EXPECT_EQ(in_using("(2*p*...)+.."), "(2 * p * ...) + ..");
    EXPECT_EQ(in_using("p:=.."), "p := ..");
}

TEST(Printer, WritesIndicesAndSubstitutions) {
    EXPECT_EQ(in_using("x.shape[0]+y[k].rank"), "x.shape[0] + y[k].rank");
    EXPECT_EQ(in_using("s[[0,1]]<-t"), "s[[0, 1]] <- t");
    EXPECT_EQ(in_block("@lower", "y[i,]=x[|i|,]+z[]+w[i..]+v[|i<>0:n-1|..],i<n;"),
              "y[i,] = x[|i|,] + z[] + w[i..] + v[|i <> 0 : n - 1|..], i < n;\n");
}

TEST(Printer, WritesEachSpelling) {
    const std::string_view text = "a <? `sin`(b) >? c <? ..";
    EXPECT_EQ(in_using(text, Spelling::Spec), "a << `sin`(b) >> c << ..");
    EXPECT_EQ(in_using(text, Spelling::Khronos), "a <? sin(b) >? c <? ..");
    EXPECT_EQ(in_using("\"{a>>b} {a+b}\"", Spelling::Khronos), "\"{a >? b} {a+b}\"");
    const std::string_view lower = "y[] <= x[i,], i < n; z[] >?= x[i,], i < n;";
    EXPECT_EQ(in_block("@lower", lower, Spelling::Spec),
              "y[] <= x[i,], i < n;\nz[] >= x[i,], i < n;\n");
    EXPECT_EQ(in_block("@lower", lower, Spelling::Khronos),
              "y[] <?= x[i,], i < n;\nz[] >?= x[i,], i < n;\n");
}

TEST(Printer, WritesLocalsInEachSpelling) {
    const std::string_view text = "z = x[i,], w = z * z, y[i,] = z + w, i < n;";
    EXPECT_EQ(in_block("@lower", text), "z = x[i,],\nw = z * z,\ny[i,] = z + w, i < n;\n");
    EXPECT_EQ(in_block("@lower", text, Spelling::Khronos),
              "with z = x[i,], w = z * z: y[i,] = z + w, i < n;\n");
}

TEST(Printer, KeepsStringsAsWritten) {
    EXPECT_EQ(in_using("'a\\'b' \"c{n}\""), "'a\\'b' \"c{n}\"");
}

// ---- Compositions ----

TEST(Printer, WritesCalls) {
    EXPECT_EQ(in_block("@compose", "a,[b,c..(k)],~=l:m.op<real,T>{a=1,b=[1,2]}(x,~,[z..]);"),
              "a, [b, c..(k)], ~ = l: m.op<real, T>{a=1, b=[1, 2]}(x, ~, [z..]);\n");
    EXPECT_EQ(in_block("@quantize", "a.b:q<real>{n=2};c:r;"), "a.b: q<real>{n=2};\nc: r;\n");
}

TEST(Printer, WritesBranches) {
    EXPECT_EQ(in_block("@compose", "z=if ?x then{r=op(x);yield r;}elif c then a else{yield b;};"),
              "z = if ?x then {\n"
              "    r = op(x);\n"
              "    yield r;\n"
              "} elif c then a else {\n"
              "    yield b;\n"
              "};\n");
}

TEST(Printer, WritesLoops) {
    EXPECT_EQ(in_block("@compose",
                       "h,c=with a=h0,b:real[n]=0.0 for x:xs,y:ys while p(a) do..(i->n)"
                       "{t=f(a);yield t,b;};"
                       "z=with s=0 do..(i->) add(s,i) while q;"),
              "h, c = with a = h0, b: real[n] = 0.0 for x : xs, y : ys while p(a) do..(i -> n) {\n"
              "    t = f(a);\n"
              "    yield t, b;\n"
              "};\n"
              "z = with s = 0 do..(i ->) add(s, i) while q;\n");
}

// ---- Long lines ----

TEST(Printer, BreaksAtTheOutermostOperators) {
    EXPECT_EQ(in_block("@using",
                       "offset = first_long_operand * second_long_operand + "
                       "(third_long_operand - fourth) * fifth_one;"),
              "offset =\n"
              "    first_long_operand * second_long_operand + (third_long_operand - fourth) * "
              "fifth_one;\n");
    EXPECT_EQ(in_block("@using",
                       "offset = first_long_operand * second_long_operand_________ + "
                       "(third_long_operand - fourth) * fifth_operand;"),
              "offset =\n"
              "    first_long_operand * second_long_operand_________\n"
              "    + (third_long_operand - fourth) * fifth_operand;\n");
}

TEST(Printer, SetsBoundsOnALineOfTheirOwn) {
    EXPECT_EQ(in_block("@lower",
                       "output[bi,ni,i..]+=input[bi,ci,|stride*i+dilation*j-paddings/2|..]"
                       "*filter[ni,ci,j..],bi<b,ni<n,ci<c,i<os,j<fs;"),
              "output[bi, ni, i..] +=\n"
              "    input[bi, ci, |stride * i + dilation * j - paddings / 2|..] * "
              "filter[ni, ci, j..],\n"
              "    bi < b, ni < n, ci < c, i < os, j < fs;\n");
}

TEST(Printer, FillsListsOfShortItems) {
    std::string list = "[1";
    for (int i = 2; i < 30; ++i) list += ", " + std::to_string(i);
    EXPECT_EQ(in_block("@using", "a = " + list + "];"),
              "a = [\n"
              "    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, "
              "23, 24,\n"
              "    25, 26, 27, 28, 29\n"
              "];\n");
}

TEST(Printer, SetsPiecesOfStringsUnderOneAnother) {
    EXPECT_EQ(in_block("@assert",
                       "a > 0: 'a first piece that is rather long, so that it does not fit' "
                       "'a second piece that takes a line too', a;"),
              "a > 0:\n"
              "    'a first piece that is rather long, so that it does not fit'\n"
              "    'a second piece that takes a line too', a;\n");
}

TEST(Printer, NeverBreaksInsideAWord) {
    const Parsed parsed = parse("operator f { @using { a = [1, 2, b + c]; } }");
    EXPECT_EQ(print(parsed.module, parsed.sources, {.max_columns = 1}),
              "operator f {\n"
              "    @using {\n"
              "        a = [\n"
              "            1,\n"
              "            2,\n"
              "            b\n"
              "                + c\n"
              "        ];\n"
              "    }\n"
              "}\n");
}

// ---- Comments ----

TEST(Printer, KeepsCommentsWhereTheyStand) {
    const std::string text =
        "# Header\n"
        "\n"
        "# about a\n"
        "import a;  # trailing a\n"
        "# last import\n"
        "import b;\n"
        "\n"
        "# about f\n"
        "operator f {  # behind the brace\n"
        "    # about the input\n"
        "    @input {  # behind the input\n"
        "        # about x\n"
        "        x: real[n];  # trailing x\n"
        "\n"
        "        # one group\n"
        "        # of two\n"
        "\n"
        "        # another\n"
        "        y: real[n];\n"
        "        # before the brace\n"
        "    }  # behind the block\n"
        "    # before the last brace\n"
        "}  # behind f\n"
        "\n"
        "# the end\n";
    EXPECT_EQ(formatted(text), text);
}

TEST(Printer, KeepsCommentsInsideNestedBlocks) {
    const std::string_view text =
        "# before\n"
        "z = if c then {  # then\n"
        "    # about r\n"
        "    r = op(x);  # r\n"
        "    yield r;  # yields\n"
        "    # end\n"
        "} else {  # else\n"
        "    yield x;\n"
        "};  # behind\n";
    EXPECT_EQ(in_block("@compose", text), text);
}

TEST(Printer, MovesCommentsOutOfExpressions) {
    EXPECT_EQ(in_block("@using", "a = # one\n 1 + # two\n # three\n 2 # four\n ; # five\n b = 1;"),
              "# one\n# two\n# three\n# four\na = 1 + 2;  # five\nb = 1;\n");
}

TEST(Printer, MovesCommentsOutOfHeads) {
    EXPECT_EQ(formatted("operator # one\n f # two\n { # three\n @input # four\n { # five\n } }"),
              "# one\n# two\noperator f {  # three\n    # four\n    @input {  # five\n    }\n}\n");
}

// ---- Dumps ----

TEST(DumpTree, ShowsStatementsOnLinesAndExpressionsInPrefixForm) {
    const Parsed parsed = parse(
        "import a, b; operator f { @input { x: optional real[n, ..m|3]..(k); }"
        "@lower { y[i..] += x[|i - 1|,] * (2.50), i < n | c; } }");
    EXPECT_EQ(
        dump_tree(parsed.module),
        "(import a)\n"
        "(import b)\n"
        "(operator f\n"
        "  (@input\n"
        "    (param x (type optional real (shape (extent n) (spread m (bound 3))) (pack k))))\n"
        "  (@lower\n"
        "    (lower (+= (access y (expand i)) (* (access x (guard (- i 1))) (real 2.5)))"
        " (for i n) (if c))))\n");
}

TEST(DumpTree, IsTheSameForBothSpellings) {
    const auto dump = [](std::string text) { return dump_tree(parse(std::move(text)).module); };
    EXPECT_EQ(dump("operator f { @lower { z = `sin`(x[]), y[] >= z << 1; } }"),
              dump("operator f { @lower { with z = sin(x[]): y[] >?= (z <? 1); } }"));
}

}  // namespace
}  // namespace lemma::sknd
