// SPDX-License-Identifier: Apache-2.0
#include "prove/function_text.h"

#include <gtest/gtest.h>

namespace lemma::prove {
namespace {

// A map from one tensor to another, as the generator writes it.
emit::CertifiedFunction map(const std::string& id,
                            const std::string& from,
                            const std::string& to,
                            const std::string& how = "sx_tanh") {
    emit::CertifiedFunction made;
    made.code.name = id + "_map";
    made.code.logic = "/*@ predicate " + id + "_at{L}(integer i) = " + to + "[i] == " + how +
                      "_of(" + from + "[i]);\n  @ predicate " + id +
                      "_holds{L} = \\forall integer i; 0 <= i < 4 ==> " + id + "_at(i);\n  @*/\n";
    made.code.contract = "/*@ assigns " + to + "[..];\n  @ ensures " + id + "_holds;\n";
    made.code.signature = "static void " + made.code.name + "(void)";
    made.code.body = "{\n    " + to + "[0] = " + how + "(" + from + "[0]);\n}\n";
    made.code.holds = id + "_holds";
    made.declarations = {"static float " + from + "[4];", "static float " + to + "[4];"};
    return made;
}

emit::CertifiedFunction caller(const std::string& name, const std::vector<std::string>& ids) {
    emit::CertifiedFunction made;
    made.code.name = name;
    made.code.logic = "/*@ predicate " + name + "_holds{L} = " + ids[0] + "_holds;\n  @*/\n";
    made.code.contract = "/*@ assigns t_b[..];\n  @ ensures " + name + "_holds;\n";
    made.code.signature = "int32_t " + name + "(void)";
    made.code.body = "{\n";
    for (const std::string& id : ids) {
        made.code.calls.push_back(id + "_map");
        made.code.body += "    " + id + "_map();\n";
    }
    made.code.body += "}\n";
    return made;
}

bool has(const std::string& text, const std::string& part) { return text.contains(part); }

TEST(FunctionText, EqualLayersHaveEqualTexts) {
    emit::CertifiedModel model;
    model.functions = {map("n0", "t_a", "t_b"), map("n17", "t_b", "t_c"), map("n18", "t_x", "t_a")};
    model.functions[2].declarations = {"extern float t_a[4];", "static float t_x[4];"};
    const auto texts = function_texts(model, "model");
    ASSERT_EQ(texts.size(), 3U);
    EXPECT_EQ(texts[1].name, "n17_map");
    EXPECT_EQ(texts[1].canonical, "n0_map");
    EXPECT_EQ(texts[0].text, texts[1].text);
    EXPECT_EQ(texts[0].text, texts[2].text);
    EXPECT_TRUE(has(texts[0].text, "extern float t0[4];\nextern float t1[4];\n")) << texts[0].text;
    EXPECT_FALSE(has(texts[0].text, "t_a"));
}

TEST(FunctionText, DifferencesRemain) {
    emit::CertifiedModel model;
    model.functions = {map("n0", "t_a", "t_b"),
                       map("n1", "t_a", "t_b", "sx_sinh"),
                       map("n2", "t_a", "t_a"),
                       map("n3", "t_a", "t_b")};
    model.functions[3].declarations[0] = "static float t_a[5];";
    const auto texts = function_texts(model, "model");
    for (size_t i = 1; i < texts.size(); ++i) EXPECT_NE(texts[0].text, texts[i].text) << i;
}

TEST(FunctionText, CallersSeeContractsAlone) {
    emit::CertifiedModel model;
    model.functions = {
        map("n0", "t_a", "t_b"), map("n1", "t_b", "t_c"), caller("model_block0_0", {"n0", "n1"})};
    const std::string text = function_texts(model, "model")[2].text;
    EXPECT_TRUE(has(text, "void n0_map(void);")) << text;
    EXPECT_TRUE(has(text, "void n1_map(void);")) << text;
    EXPECT_FALSE(has(text, "static")) << text;
    EXPECT_FALSE(has(text, "sx_tanh(t")) << text;  // no body of a called function
    EXPECT_TRUE(has(text, "predicate n1_at{L}")) << text;
    EXPECT_TRUE(has(text, "int32_t m0(void)")) << text;
    EXPECT_TRUE(has(text, "predicate m0_holds{L} = n0_holds;")) << text;
}

TEST(FunctionText, LogicOfOthersIsThereWhereItIsUsed) {
    emit::CertifiedModel model;
    model.functions = {map("n0", "t_a", "t_b"), map("n1", "t_b", "t_c"), map("n2", "t_c", "t_d")};
    // Speaks of another function without calling it.
    model.functions[2].code.contract += "  @ ensures n0_holds;\n";
    const std::string text = function_texts(model, "model")[2].text;
    EXPECT_EQ(text.find("n2_"), std::string::npos) << text;
    EXPECT_TRUE(has(text, "predicate n0_at{L}")) << text;
    EXPECT_TRUE(has(text, "predicate n1_at{L}")) << text;
}

TEST(CanonicalNames, TakeWholeIdentifiers) {
    CanonicalNames names("model");
    EXPECT_EQ(names.rename("t_x[i] = at_x + n_ + n3x + sx_add(n12_2_at, n12_at);"),
              "t0[i] = at_x + n_ + n3x + sx_add(n0_2_at, n0_at);");
    EXPECT_EQ(names.rename("n3_at n12_at t_y t_x model_run model_run_holds models"),
              "n1_at n0_at t1 t0 m0 m0_holds models");
}

}  // namespace
}  // namespace lemma::prove
