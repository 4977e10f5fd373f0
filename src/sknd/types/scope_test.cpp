// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/scope.h"

#include <gtest/gtest.h>

namespace lemma::sknd {

namespace {

Symbol symbol(std::string_view name, SymbolKind kind = SymbolKind::Attribute) {
    Symbol result;
    result.name = name;
    result.kind = kind;
    return result;
}

TEST(Scopes, FindWhatIsDeclared) {
    Scopes scopes;
    const SymbolId id = scopes.declare(symbol("a", SymbolKind::Input));
    EXPECT_EQ(scopes.find("a"), id);
    EXPECT_EQ(scopes[id].kind, SymbolKind::Input);
    EXPECT_FALSE(scopes.find("b").valid());
    EXPECT_FALSE(scopes.find("").valid());
}

TEST(Scopes, InnerNamesHideOuterOnes) {
    Scopes scopes;
    const SymbolId outer = scopes.declare(symbol("a"));
    scopes.push();
    EXPECT_EQ(scopes.find("a"), outer);
    EXPECT_FALSE(scopes.find_here("a").valid());
    const SymbolId inner = scopes.declare(symbol("a"));
    EXPECT_EQ(scopes.find("a"), inner);
    EXPECT_EQ(scopes.find_here("a"), inner);
    scopes.pop();
    EXPECT_EQ(scopes.find("a"), outer);
}

TEST(Scopes, NamesOfAClosedScopeAreGone) {
    Scopes scopes;
    scopes.push();
    scopes.declare(symbol("a"));
    scopes.pop();
    EXPECT_FALSE(scopes.find("a").valid());
}

TEST(Scopes, ALaterDeclarationTakesTheName) {
    Scopes scopes;
    scopes.declare(symbol("a"));
    const SymbolId second = scopes.declare(symbol("a", SymbolKind::Output));
    EXPECT_EQ(scopes.find("a"), second);
}

TEST(Scopes, SymbolsCanBeChanged) {
    Scopes scopes;
    const SymbolId id = scopes.declare(symbol("a"));
    scopes[id].assigned = false;
    EXPECT_FALSE(scopes[scopes.find("a")].assigned);
}

TEST(Scopes, VisibleNamesAreSortedAndWithoutPlaceholders) {
    Scopes scopes;
    scopes.declare(symbol("b"));
    scopes.push();
    scopes.declare(symbol("a"));
    Symbol unknown = symbol("c");
    unknown.placeholder = true;
    scopes.declare(unknown);
    EXPECT_EQ(scopes.visible_names(), (std::vector<std::string_view>{"a", "b"}));
    EXPECT_TRUE(scopes.find("c").valid());
}

TEST(Scopes, EveryKindHasAText) {
    for (int kind = 0; kind <= static_cast<int>(SymbolKind::ScanItem); ++kind) {
        const std::string_view text = kind_text(static_cast<SymbolKind>(kind));
        EXPECT_TRUE(text.starts_with("a ") || text.starts_with("an ")) << text;
        EXPECT_NE(text, "a name");
    }
}

}  // namespace

}  // namespace lemma::sknd
