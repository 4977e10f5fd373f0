// SPDX-License-Identifier: Apache-2.0
#include "nnef1/syntax/quant_file.h"

#include <gtest/gtest.h>

#include "nnef1/syntax/parser_testing.h"

namespace lemma::nnef1 {
namespace {

struct ParsedQuant {
    diag::SourceMap sources;
    Diagnostics diag;
    QuantFile file;

    std::string findings() const { return testing::findings(sources, diag); }
    std::string entries() const {
        std::string result;
        for (const QuantEntry& entry : file.entries) {
            result += fmt::format("{}: {}\n", entry.tensor.text, dump_tree(file, entry.quantizer));
        }
        return result;
    }
};

ParsedQuant parse_quant(std::string text, Dialect dialect = Dialect::Strict) {
    ParsedQuant result;
    const diag::FileId file = result.sources.add("graph.quant", std::move(text));
    result.file = parse_quant_file(result.sources, file, {.dialect = dialect}, result.diag);
    return result;
}

TEST(Nnef1QuantFile, ReadsEntries) {
    const ParsedQuant parsed = parse_quant(
        "# comment\n\"filter1\": linear_quantize(min = -2.0, max = 2.5, bits = 8);\n"
        "'bias1' : q ( zero_point = [0, 1], scale = [[0.5], [1.5]],\n signed = true ) ; \"c\": r(a "
        "= 1);");
    EXPECT_EQ(parsed.findings(), "");
    EXPECT_EQ(parsed.entries(),
              "filter1: (call linear_quantize min:-2.0 max:2.5 bits:8)\n"
              "bias1: (call q zero_point:[0 1] scale:[[0.5] [1.5]] signed:true)\n"
              "c: (call r a:1)\n");
    EXPECT_EQ(parsed.sources.text(parsed.file.entries[0].tensor.span), "\"filter1\"");
    EXPECT_EQ(parse_quant("").findings(), "");
}

TEST(Nnef1QuantFile, ReportsEachBadEntry) {
    const ParsedQuant parsed = parse_quant(
        "a: q(b = 1);\n"
        "\"b\" q(b = 1);\n"
        "\"c\": ;\n"
        "\"d\": q;\n"
        "\"e\": q(b = 1)\n"
        "\"f\": q(1);\n"
        "\"g\": q(b = 1 + 2);\n"
        "\"h\": q(b = x);\n"
        "\"i\": q();\n"
        "\"j': q(b = 1);\n"
        "\"k\": q(b = 1;\n"
        "\"l\": q(b = 1);\n"
        "\"l\": q(b = 2);\n"
        "version 1.0;\n");
    EXPECT_EQ(parsed.findings(),
              "10:1 unclosed-string, 1:1 unexpected-token, 2:5 unexpected-token, "
              "3:6 unexpected-token, 4:7 unexpected-token, 5:13 missing-semicolon, "
              "6:8 unexpected-token, 7:12 unexpected-token, 8:12 unexpected-token, "
              "9:8 unexpected-token, 11:7 unclosed-bracket, 14:1 unexpected-token, "
              "13:1 duplicate-name");
    EXPECT_EQ(parsed.entries(),
              "e: (call q b:1)\nf: (call q 1)\ng: (call q b:(+ 1 2))\nh: (call q b:x)\n"
              "l: (call q b:1)\n");
}

TEST(Nnef1QuantFile, TakesTractsNames) {
    const ParsedQuant parsed = parse_quant("a: q(b = 1);\ni\"b c\": q(b = inf);\n", Dialect::Tract);
    EXPECT_EQ(parsed.findings(), "");
    EXPECT_EQ(parsed.entries(), "a: (call q b:1)\nb c: (call q b:inf)\n");
}

TEST(Nnef1QuantFile, SurvivesTruncationAndNesting) {
    const std::string text = "\"a\": q(b = [(1, -2.0), 'c'], d = true);";
    for (size_t size = 1; size < text.size(); ++size) {
        EXPECT_TRUE(parse_quant(text.substr(0, size)).diag.has_errors()) << size;
    }
    EXPECT_EQ(parse_quant("\"a\": q(b = " + testing::repeated("[", 100'000)).findings(),
              "1:268 too-deep");
}

}  // namespace
}  // namespace lemma::nnef1
