// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/dispositions.h"

#include <gtest/gtest.h>

#include "sonnx/test_models.h"

namespace lemma::sonnx {

namespace {

using namespace test;

constexpr int64_t kFloat = 1, kInt32 = 6, kUint8 = 2;

// One node over `a` and `b` of a type; `b` is a constant if it has values.
struct OneNode {
    onnx::Model model;
    Diagnostics base;

    OneNode(const std::string& op, int64_t type, const std::vector<float>& constant = {}) {
        TestGraph graph;
        graph.inputs = {{"a", {2}}};
        graph.outputs = {{"y", {2}}};
        if (constant.empty()) {
            graph.inputs.push_back({"b", {2}});
        } else {
            graph.initializers = {
                floats_tensor("b", {static_cast<int64_t>(constant.size())}, constant)};
        }
        graph.nodes = {{op, {"a", "b"}, {"y"}}};
        model = read(onnx::test::model_bytes(graph));
        for (onnx::ValueInfo& input : main_graph(model).inputs) input.elem_type = type;
    }
    Dispositions get() {
        const Subject subject{.model = model, .base = base};
        const View view(subject);
        return static_dispositions(main_graph(model).nodes[0], view);
    }
    Disposal of(Condition condition) { return get()[static_cast<size_t>(condition)].disposal; }
};

TEST(Dispositions, FloatsFollowIeee754) {
    EXPECT_EQ(OneNode("Add", kFloat).of(Condition::Overflow), Disposal::Nominal);
    EXPECT_EQ(OneNode("Add", kFloat).of(Condition::Invalid), Disposal::Nominal);
    EXPECT_EQ(OneNode("Add", kFloat).of(Condition::DivisionByZero), Disposal::CannotOccur);
    EXPECT_EQ(OneNode("Mul", kFloat).get()[1].by,
              "E_MUL_FLOAT_FUNC_0010 (2026-10): 0 * inf gives NaN");
    EXPECT_EQ(OneNode("Div", kFloat).of(Condition::DivisionByZero), Disposal::Nominal);
}

TEST(Dispositions, IntegersWrap) {
    EXPECT_EQ(OneNode("Add", kInt32).of(Condition::Overflow), Disposal::Nominal);
    EXPECT_EQ(OneNode("Add", kInt32).of(Condition::Invalid), Disposal::CannotOccur);
    EXPECT_EQ(OneNode("Add", kUint8).get()[0].by,
              "E_ADD_UINT_FUNC_0010 (2026-10): wraps modulo 2^n");
    EXPECT_EQ(OneNode("Div", kInt32).of(Condition::DivisionByZero), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Div", kInt32).of(Condition::Overflow), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Div", kUint8).of(Condition::Overflow), Disposal::CannotOccur);
    EXPECT_EQ(OneNode("Abs", kInt32).of(Condition::Overflow), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Abs", kUint8).of(Condition::Overflow), Disposal::CannotOccur);
}

TEST(Dispositions, ConstantsRuleOut) {
    EXPECT_EQ(OneNode("Div", kFloat, {1, 2}).of(Condition::DivisionByZero), Disposal::RuledOut);
    EXPECT_EQ(OneNode("Div", kFloat, {1, 0}).of(Condition::DivisionByZero), Disposal::Nominal);
    EXPECT_EQ(OneNode("Div", kInt32, {1, 2}).of(Condition::DivisionByZero), Disposal::RuledOut);
    EXPECT_EQ(OneNode("Div", kInt32, {1, 2}).of(Condition::Overflow), Disposal::RuledOut);
    EXPECT_EQ(OneNode("Div", kInt32, {1, -1}).of(Condition::Overflow), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Pow", kFloat, {2, 3}).of(Condition::Invalid), Disposal::RuledOut);
    EXPECT_EQ(OneNode("Pow", kFloat, {2, 0.5F}).of(Condition::Invalid), Disposal::Nominal);
}

TEST(Dispositions, VariancesOfNormalisationAreRead) {
    OneNode node("BatchNormalization", kFloat, {1, 2});
    main_graph(node.model).nodes[0].inputs = {"a", "b", "b", "b", "b"};
    EXPECT_EQ(node.of(Condition::DivisionByZero), Disposal::RuledOut);
    OneNode negative("BatchNormalization", kFloat, {1, -2});
    main_graph(negative.model).nodes[0].inputs = {"a", "b", "b", "b", "b"};
    EXPECT_EQ(negative.of(Condition::DivisionByZero), Disposal::NotEstablished);
    EXPECT_EQ(negative.of(Condition::Invalid), Disposal::NotEstablished);
}

TEST(Dispositions, UnknownOperatorsAndTypesAreOpen) {
    EXPECT_EQ(OneNode("LpNormalization", kFloat).of(Condition::Overflow), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Add", 0).of(Condition::Overflow), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Sqrt", kFloat).of(Condition::Invalid), Disposal::NotEstablished);
    EXPECT_EQ(OneNode("Relu", kFloat).of(Condition::Invalid), Disposal::CannotOccur);
}

}  // namespace

}  // namespace lemma::sonnx
