// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/signature.h"

#include <gtest/gtest.h>

#include <deque>

#include "sknd/types/checking_test.h"

namespace lemma::sknd::testing {

namespace {

// Keeps the syntax tree alive, which signatures refer to.
Signature signature_of(const std::string& text) {
    static std::deque<Checked> kept;
    const Checked& checked = kept.emplace_back(text);
    return make_signature(checked.module(), checked.definition());
}

TEST(Signature, ListsParametersInTheOrderWritten) {
    const Signature signature = signature_of(
        "operator f { @output { y: real[]; z: int[]; } @input { x: real[n]; w: bool[]; } @attrib { "
        "b: int; a: str; } }");
    EXPECT_FALSE(signature.graph);
    ASSERT_EQ(signature.attributes.size(), 2u);
    EXPECT_EQ(signature.attributes[0].name, "b");
    EXPECT_EQ(signature.attributes[1].name, "a");
    ASSERT_EQ(signature.inputs.size(), 2u);
    EXPECT_EQ(signature.inputs[1].type.base, BaseType::Bool);
    ASSERT_EQ(signature.outputs.size(), 2u);
    EXPECT_EQ(signature.outputs[0].name, "y");
}

TEST(Signature, KnowsGraphsAndTheirMissingShapes) {
    const Signature signature = signature_of(
        "graph G { @input { x: real; z: real[3]; } @output { y: real; } @compose { y = x; } }");
    EXPECT_TRUE(signature.graph);
    EXPECT_TRUE(signature.inputs[0].shape_omitted);
    EXPECT_FALSE(signature.inputs[1].shape_omitted);
    EXPECT_TRUE(signature.outputs[0].shape_omitted);
}

TEST(Signature, KeepsModifiers) {
    const Signature signature = signature_of(
        "operator f { @attrib { a: optional int..; b: int..(2) = 0; } @input { x: optional "
        "real[n]..(3); d: real[] = 1.0; } }");
    const Parameter& a = signature.attributes[0];
    EXPECT_TRUE(a.type.optional && a.type.packed && !a.type.tensor);
    EXPECT_FALSE(a.length_marked || a.has_default);
    const Parameter& b = signature.attributes[1];
    EXPECT_TRUE(b.length_marked && b.has_default && !b.type.optional);
    const Parameter& x = signature.inputs[0];
    EXPECT_TRUE(x.type.optional && x.type.packed && x.type.tensor && x.length_marked);
    EXPECT_FALSE(x.has_default);
    EXPECT_TRUE(signature.inputs[1].has_default);
}

TEST(Signature, FindsAttributesByName) {
    const Signature signature = signature_of("operator f { @attrib { a: int; b: real; } }");
    ASSERT_NE(signature.attribute("b"), nullptr);
    EXPECT_EQ(signature.attribute("b")->type.base, BaseType::Real);
    EXPECT_EQ(signature.attribute("c"), nullptr);
    EXPECT_EQ(signature.attribute(""), nullptr);
}

TEST(Signature, DefaultsThatReadOptionalAttributesMayBeNull) {
    const Signature signature = signature_of(
        "operator f { @attrib { o: optional int; a: int = 1; b: int = o; c: int = a; d: int.. = "
        "[0:a + (o ?? 1)]; } }");
    EXPECT_FALSE(signature.attribute("o")->default_may_be_null);
    EXPECT_FALSE(signature.attribute("a")->default_may_be_null);
    EXPECT_TRUE(signature.attribute("b")->default_may_be_null);
    EXPECT_FALSE(signature.attribute("c")->default_may_be_null);
    EXPECT_TRUE(signature.attribute("d")->default_may_be_null);
}

TEST(Signature, ResolvesGenericTypes) {
    const Signature signature = signature_of(
        "operator f { @dtype { T: num; S: type = str; } @attrib { a: S; } @input { x: T[n]; z: "
        "real[]; } @output { y: S[n]; } }");
    ASSERT_EQ(signature.generics.size(), 2u);
    EXPECT_EQ(signature.generics[0].name, "T");
    EXPECT_EQ(signature.generics[0].bound, Bound::Num);
    EXPECT_EQ(signature.generics[0].fallback, BaseType::Bad);
    EXPECT_EQ(signature.generics[1].fallback, BaseType::Str);
    EXPECT_EQ(signature.inputs[0].type.base, BaseType::Generic);
    EXPECT_EQ(signature.inputs[0].type.generic, 0);
    EXPECT_EQ(signature.outputs[0].type.generic, 1);
    EXPECT_EQ(signature.attributes[0].type.generic, 1);
    EXPECT_EQ(signature.inputs[1].type.base, BaseType::Real);
}

TEST(Signature, WhatIsNoTypeIsBadAndNotReportedHere) {
    const Checked checked(
        "operator f { @dtype { T: int; } @attrib { a: num; b: nothing; c: T; } }");
    const size_t before = checked.diag.items().size();
    const Signature signature = make_signature(checked.module(), checked.definition());
    EXPECT_EQ(checked.diag.items().size(), before);
    for (const Parameter& parameter : signature.attributes) {
        EXPECT_TRUE(parameter.type.bad()) << parameter.name;
    }
    EXPECT_TRUE(signature.generics[0].bad);
}

TEST(Signature, DefinitionsAreOrderedByModuleAndPlace) {
    const DefRef a{make_id<ModuleId>(0), 1};
    const DefRef b{make_id<ModuleId>(1), 0};
    EXPECT_LT(a, b);
    EXPECT_EQ(a, a);
}

}  // namespace

}  // namespace lemma::sknd::testing
