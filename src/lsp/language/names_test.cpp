// SPDX-License-Identifier: Apache-2.0
#include "lsp/language/names.h"

#include <gtest/gtest.h>

#include "lsp/language/cursor.h"

namespace lemma::lsp {
namespace {

std::shared_ptr<const View> view_of(std::string text, Language language = Language::SkriptND) {
    return make_view(std::make_shared<const std::string>(std::move(text)), language);
}

// The text with `|` removed, and the place of it.
struct Marked {
    std::shared_ptr<const View> view;
    uint32_t offset;
};
Marked marked(std::string text, Language language = Language::SkriptND) {
    const size_t bar = text.find('|');
    text.erase(bar, 1);
    return {view_of(std::move(text), language), static_cast<uint32_t>(bar)};
}

// How often the thing at the bar is named, and its kind.
std::pair<size_t, std::string> uses(const std::string& text,
                                    Language language = Language::SkriptND) {
    const Marked place = marked(text, language);
    const Occurrence* const here = place.view->names.at(place.offset);
    if (!here || here->thing < 0) return {0, ""};
    size_t count = 0;
    for (const Occurrence& other : place.view->names.occurrences)
        count += other.thing == here->thing ? 1 : 0;
    const Thing& thing = place.view->names.things[static_cast<size_t>(here->thing)];
    return {count, std::string(kind_text(thing.kind))};
}

using Uses = std::pair<size_t, std::string>;

TEST(Names, FindsExtentsWhereShapesDeclareThem) {
    const std::string text =
        "operator f { @attrib { k: int..(d) = 1; } @input { x: real[|s..(d)]; } "
        "@output { y: real[s..(d)]; } @lower { y[i..] = x[i..], i < s; } }";
    EXPECT_EQ(uses(text), (Uses{3, "extent"}));
}

TEST(Names, ABlockHasItsOwnNames) {
    const std::string text =
        "graph g { @input { x: real[1]; } @output { y: real[1]; } @compose { t = f(x); "
        "y = if c then { |t = f(x); yield t; } else t; } }";
    EXPECT_EQ(uses(text), (Uses{2, "tensor"}));
}

TEST(Names, CallsNameTheAttributesOfOperators) {
    const std::string text =
        "graph g { @compose { y = f{|k=1}(x); } } operator f { @attrib { k: int; } "
        "@using { a = k + 1; } }";
    EXPECT_EQ(uses(text), (Uses{3, "attribute"}));
}

TEST(Names, AnIndexBelongsToItsStatement) {
    const std::string text = "operator f { @lower { y[i] = x[i], |i < n; y[i] += 1.0, i < n; } }";
    EXPECT_EQ(uses(text), (Uses{3, "index"}));
}

TEST(Names, OfNnef1) {
    const std::string text =
        "version 1.0; graph g( |x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }";
    EXPECT_EQ(uses(text, Language::Nnef1), (Uses{3, "input"}));
}

TEST(Names, OfBrokenTextsAreThoseThatRemain) {
    EXPECT_EQ(uses("graph g { @input { |x: real[1]; } @compose { y = f(x; z = (( } "),
              (Uses{2, "input"}));
    view_of("graph");
    view_of("graph g { @compose { = } }");
    view_of("{{{{ ((( @@@ '''", Language::SkriptND);
    view_of("version", Language::Nnef1);
    view_of("graph g( -> {", Language::Nnef1);
}

Cursor cursor(const std::string& text, Language language = Language::SkriptND) {
    const Marked place = marked(text, language);
    return cursor_at(*place.view, place.offset);
}

TEST(Cursor, FindsTheCallAroundAPlace) {
    const Cursor in_list = cursor("graph g { @compose { y = nn.conv{stride=2, pad|");
    ASSERT_TRUE(in_list.call);
    EXPECT_EQ(in_list.call->callee, "nn.conv");
    EXPECT_TRUE(in_list.call->in_attributes);
    EXPECT_EQ(in_list.call->argument, 1u);
    EXPECT_EQ(in_list.prefix, "pad");
    EXPECT_EQ(in_list.block, "@compose");
    const Cursor in_arguments = cursor("graph g { @compose { y = nn.conv{stride=2}(x, [a, b], |");
    ASSERT_TRUE(in_arguments.call);
    EXPECT_EQ(in_arguments.call->callee, "nn.conv");
    EXPECT_EQ(in_arguments.call->argument, 2u);
    EXPECT_FALSE(cursor("graph g { @compose { y = nn.relu(x); z = |").call);
    EXPECT_FALSE(cursor("graph g { @compose { |").call);
}

TEST(Cursor, FindsQualifierAndBlock) {
    const Cursor place = cursor("graph g { @compose { y = onnx.conv.Co|");
    EXPECT_EQ(place.qualifier, "onnx.conv");
    EXPECT_EQ(place.prefix, "Co");
    EXPECT_TRUE(cursor("import a, b.c|").in_import);
    EXPECT_FALSE(cursor("import a; gr|").in_import);
    EXPECT_TRUE(cursor("graph g { @input { x: real[1]; } @|").in_definition);
    EXPECT_TRUE(cursor("# comment |\ngraph").in_text);
    EXPECT_TRUE(cursor("operator f { @attrib { a: str = 'x|y'; } }").in_text);
    EXPECT_EQ(cursor("graph g( x ) -> ( y ) { y = relu(|", Language::Nnef1).call->callee, "relu");
}

}  // namespace
}  // namespace lemma::lsp
