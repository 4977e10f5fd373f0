// SPDX-License-Identifier: Apache-2.0
// The rules and examples of spec 2.6.1.
#include "sknd/names/binding.h"

#include <gtest/gtest.h>

#include <set>

#include "sknd/types/checking_test.h"

namespace lemma::sknd::testing {

namespace {

using Order = std::vector<size_t>;

std::set<std::string> names_of(const NameSet& names) {
    std::set<std::string> result;
    names.for_each([&](std::string_view name) { result.emplace(name); });
    return result;
}

void expect_order(const std::string& blocks, const Order& order, const Order& unbound = {}) {
    const Checked checked("operator f { " + blocks + " }");
    const BindingOrder found = find_binding_order(checked.module(), checked.definition());
    EXPECT_EQ(found.order, order) << blocks;
    EXPECT_EQ(found.unbound, unbound) << blocks;
}

TEST(BindingOrder, TwoOpenPacksAreAmbiguous) {
    expect_order("@input { x: real[s..,t..]; }", {}, {0});
}

TEST(BindingOrder, AnAttributeTellsTheFirstLength) {
    expect_order("@attrib { r: int; } @input { x: real[s..(r),t..]; }", {0});
}

TEST(BindingOrder, AnotherInputTellsTheLength) {
    expect_order("@input { x: real[s..(d),t..]; y: real[s..(d)]; }", {1, 0});
}

TEST(BindingOrder, APackedAttributeDoesNotTell) {
    expect_order("@attrib { a: int..(d) = 0; } @input { x: real[s..(d),t..]; }", {}, {0});
}

TEST(BindingOrder, AnOptionalAttributeDoesNotTell) {
    expect_order("@attrib { d: optional int; } @input { x: real[s..(d),t..]; }", {}, {0});
}

TEST(BindingOrder, ADeferredAttributeDoesNotTell) {
    expect_order("@attrib { r: int; d: int = r; } @input { x: real[s..(d),t..]; }", {}, {0});
    expect_order("@attrib { d: int = n; } @input { x: real[n, s..(d),t..]; }", {}, {0});
}

TEST(BindingOrder, AConstantDefaultTells) {
    expect_order("@attrib { d: int = 2 + 1; } @input { x: real[s..(d),t..]; }", {0});
}

// r is known first; x has two open parts, so y comes before it and binds d.
TEST(BindingOrder, TheExampleOfTheText) {
    const Checked checked(
        "operator f { @attrib { r: int; a: optional int; b: int..(d) = 0; c: int = 2 * d + r; } "
        "@input { x: real[s..(r),z..(d),t..]; y: real[s..(r),z..(d)]; } }");
    const BindingOrder found = find_binding_order(checked.module(), checked.definition());
    EXPECT_EQ(found.order, (Order{1, 0}));
    EXPECT_TRUE(found.unbound.empty());
    EXPECT_EQ(names_of(found.known), (std::set<std::string>{"d", "r", "s", "t", "z"}));
}

TEST(BindingOrder, ExamplesOfTheTextAreAcceptedOrRefused) {
    const std::string body = " @output { w: real[s..]; }";
    EXPECT_EQ(Checked("operator f { @input { x: real[s..,t..]; }" + body + "}").kinds(),
              Kinds{"ambiguous-binding"});
    EXPECT_EQ(Checked("operator f { @attrib { a: int..(d) = 0; } @input { x: real[s..(d),t..]; }" +
                      body + "}")
                  .kinds(),
              Kinds{"ambiguous-binding"});
    EXPECT_EQ(Checked("operator f { @attrib { r: int; a: optional int; b: int..(d) = 0; c: int = 2 "
                      "* d + r; } @input { x: real[s..(r),z..(d),t..]; y: real[s..(r),z..(d)]; }" +
                      body + "}")
                  .kinds(),
              Kinds{});
}

TEST(BindingOrder, InputsKeepTheirOrderWhereTheyCan) {
    expect_order("@input { x: real[a]; y: real[s..]; z: real[]; w: real[s.., b]; }", {0, 1, 2, 3});
}

TEST(BindingOrder, SeveralRoundsMayBeNeeded) {
    expect_order("@input { x: real[p..(a),q..(b)]; y: real[q..(b),r..(c)]; z: real[r..(c)]; }",
                 {2, 1, 0});
}

TEST(BindingOrder, OptionalInputsComeLast) {
    expect_order("@input { x: optional real[n]; y: real[m]; z: optional real[m]; }", {1, 0, 2});
}

TEST(BindingOrder, AnOptionalInputDoesNotTellAnObligatoryOne) {
    expect_order("@input { x: real[s..(d),t..]; y: optional real[s..(d)]; }", {1}, {0});
}

TEST(BindingOrder, AnOptionalInputCanBeAmbiguous) {
    expect_order("@input { x: real[n]; y: optional real[s..,t..]; }", {0}, {1});
    expect_order("@input { x: real[s..]; y: optional real[s..,t..]; }", {0, 1});
}

TEST(BindingOrder, LengthsMayBeExpressions) {
    expect_order("@input { x: real[s..(2 * d), t..(d + 1)]; }", {}, {0});
    expect_order("@input { x: real[s..(2 * d), t..(d + 1)]; y: real[s..(2 * d)]; }", {1, 0});
    expect_order("@input { x: real[s..(2), t..(3), u..]; }", {0});
}

TEST(BindingOrder, TheSamePackTwiceIsOneUnknown) {
    expect_order("@input { x: real[s.., s..]; y: real[s..]; }", {1, 0});
}

TEST(BindingOrder, ACapturedRankIsKnown) {
    expect_order("@input { x: real^(r)[s..(r - 1), t..]; }", {0});
}

TEST(BindingOrder, ExtentsOfEachTensorAreNotPacksOfAxes) {
    expect_order("@input { xs: real[s.., ..t]..(k); }", {0});
}

TEST(BindingOrder, InputsWithoutShapeBindNothing) {
    const Checked checked("graph G { @input { x: real; y: real[n|3]; } @compose { z = x; } }");
    const BindingOrder found = find_binding_order(checked.module(), checked.definition());
    EXPECT_EQ(found.order, (Order{0, 1}));
    EXPECT_EQ(names_of(found.known), std::set<std::string>{"n"});
}

TEST(BindingOrder, IsPartOfWhatTheCheckFinds) {
    const Checked checked(
        "operator f { @input { x: real[s..(d),t..]; y: real[s..(d)]; } @output { z: real[t..]; } "
        "}");
    ASSERT_EQ(checked.typed.definitions.size(), 1u);
    EXPECT_EQ(checked.typed.definitions[0].binding_order, (Order{1, 0}));
}

TEST(ReadsOnly, LooksAtEveryName) {
    const Checked checked(
        "operator f { @using { a = [b, c + \"{d}\"[e:f]..][?g ? h : i.rank]; } }");
    const ExprId value = checked.definition().usings[0].rhs;
    const std::set<std::string> all = {"b", "c", "d", "e", "f", "g", "h", "i"};
    const auto all_but = [&](const std::string& left_out) {
        NameSet names;
        for (const std::string& name : all) {
            if (name != left_out) names.insert(name);
        }
        return names;
    };
    EXPECT_TRUE(reads_only(checked.module(), value, all_but("")));
    for (const std::string& name : all) {
        EXPECT_FALSE(reads_only(checked.module(), value, all_but(name))) << name;
    }
    EXPECT_TRUE(reads_only(checked.module(), ExprId{}, {}));
}

}  // namespace

}  // namespace lemma::sknd::testing
