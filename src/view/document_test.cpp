// SPDX-License-Identifier: Apache-2.0
#include "view/document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/read.h"
#include "view/definitions.h"

namespace lemma::view {
namespace {

// The operations of the main graph of a program in text form.
Json operations(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("test.ir", text);
    const auto program = ir::read_program(sources, file, diag);
    EXPECT_TRUE(program) << (diag.items().empty() ? "" : diag.items()[0].message);
    if (!program) return Json::array();
    const Definitions definitions(nullptr, sources);
    std::set<std::string> used;
    return viewed_graph(*program, {}, definitions, used)["operations"];
}

// Copies `x` once for each label.
std::string labelled(const std::vector<std::string>& labels) {
    std::string text = "program p\ninput %x: f32[2]\ngraph g (x = %x) {\n";
    for (size_t i = 0; i < labels.size(); ++i) {
        text += fmt::format(
            "y %y{0}: f32[2] = copy \"{1}\" (x = %x) {{\n%y{0}[i] = %x[i]  for i < 2\n}}\n",
            i,
            labels[i]);
    }
    return text + "yield y = %y0\n}\n";
}

Json scopes(const std::vector<std::string>& labels) {
    Json list = Json::array();
    for (const Json& op : operations(labelled(labels))) list.push_back(op.value("scope", Json()));
    return list;
}

TEST(Document, FindsTheScopesOfExporters) {
    EXPECT_EQ(scopes({"/conv1/Conv",
                      "/layer1/layer1.0/conv1/Conv",
                      "/layer1/layer1.0/Add",
                      "/layer1/layer1.1/Add"}),
              Json({nullptr, {"layer1", "layer1.0"}, {"layer1", "layer1.0"}, {"layer1"}}));
    EXPECT_EQ(scopes({"block.norm", "block.dense", "Conv_12", ""}),
              Json({{"block"}, {"block"}, nullptr, nullptr}));
}

TEST(Document, TakesOddLabels) {
    const std::string deep(1000, '/');
    std::string many;
    for (int i = 0; i < 500; ++i) many += "a/";
    const Json found = scopes({deep, "/", "//", "a//b", "a//b", many + "x", many + "x"});
    EXPECT_EQ(found[0], nullptr);
    EXPECT_LE(found[5].size(), 32u);
}

TEST(Document, NumbersOperationsAtAnyDepth) {
    const Json ops = operations(labelled({"a", "b", "c"}));
    std::set<uint32_t> ids;
    for (const Json& op : ops) ids.insert(op["id"].get<uint32_t>());
    EXPECT_EQ(ids.size(), 3u);
}

TEST(Document, WritesFormulasOverTheNamesOfPorts) {
    const Json ops = operations(labelled({"a"}));
    EXPECT_EQ(ops[0]["formulas"][0]["text"], "y[i] = x[i]  for i < 2");
}

TEST(Document, LeavesOutFormulasThatAreTooManyOrTooLong) {
    std::string many =
        "program p\ninput %x: f32[64]\ngraph g (x = %x) {\ny %y: f32[64] = f (x = %x) {\n";
    for (int i = 0; i < 40; ++i) many += fmt::format("%y[{0}] = %x[{0}]\n", i);
    const Json several = operations(many + "}\nyield y = %y\n}\n")[0];
    EXPECT_EQ(several["formulas"].size() + several["formulas_left_out"].get<size_t>(), 40u);
    EXPECT_LE(several["formulas"].size(), 16u);

    // Each let doubles the text.
    std::string lets =
        "program p\ninput %x: f32[2]\ngraph g (x = %x) {\ny %y: f32[2] = f (x = %x) {\n";
    lets += "let t0 = %x[i]\n";
    for (int i = 1; i < 200; ++i) lets += fmt::format("let t{0} = t{1} * exp(t{1})\n", i, i - 1);
    const Json doubled = operations(lets + "%y[i] = t199  for i < 2\n}\nyield y = %y\n}\n")[0];
    EXPECT_EQ(doubled["formulas_left_out"], 1);
}

TEST(Document, KeepsTheNamesOfIndicesApartFromExtents) {
    const Json ops = operations(
        "program p\nsymbol n: int in [0, 8]\ninput %x: f32[n]\ngraph g (x = %x) {\n"
        "y %y: f32[n] = f (x = %x) {\n%y[i] = %x[i] + real(n)  for i < n\n}\nyield y = %y\n}\n");
    EXPECT_EQ(ops[0]["formulas"][0]["ranges"], Json({{"i", "0", "n"}}));
}

}  // namespace
}  // namespace lemma::view
