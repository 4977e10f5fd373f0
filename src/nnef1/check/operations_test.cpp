// SPDX-License-Identifier: Apache-2.0
#include "nnef1/check/operations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lemma::nnef1 {
namespace {

constexpr std::string_view kStandard = R"(# Some operations.

# Taken from outside
fragment external<? = scalar>( shape: integer[] ) -> ( output: tensor<?> );

fragment relu( x: tensor<scalar> ) -> ( y: tensor<scalar> );

# On two lines
fragment clamp( x: tensor<scalar>,
    a: tensor<scalar>, b: tensor<scalar> ) -> ( y: tensor<scalar> );
fragment add( x: tensor<scalar>, y: tensor<scalar> ) -> ( z: tensor<scalar> );
)";

// The operations that are read for a document, with their lines.
struct Used {
    explicit Used(const std::string& text) {
        const diag::FileId file = sources.add("graph.nnef", text);
        const Document document = parse_document(sources, file, {}, diag);
        const Document standard =
            parse_used_standard(sources, kStandard, document, QuantFile{}, diag);
        for (const Fragment& fragment : standard.fragments) {
            const diag::LineColumn place = sources.place(standard.file, fragment.span.begin);
            names.push_back(std::to_string(place.line) + " " + std::string(fragment.name.text));
        }
        Operations(standard, document, Dialect::Strict, diag);
    }
    diag::SourceMap sources;
    Diagnostics diag;
    std::vector<std::string> names;
};

std::string graph(const std::string& statement, const std::string& before = "") {
    return "version 1.0;\n" + before +
           "graph g( x ) -> ( y ) {\n    x = external(shape = [1]);\n    " + statement + "\n}\n";
}

using Names = std::vector<std::string>;

TEST(Nnef1Operations, AreThoseThatTheDocumentInvokesWhereTheyStand) {
    EXPECT_EQ(Used(graph("y = relu(x);")).names, (Names{"4 external", "6 relu"}));
    EXPECT_EQ(Used(graph("y = clamp(x, 0.0, 1.0);")).names, (Names{"4 external", "9 clamp"}));
}

TEST(Nnef1Operations, AreAllWhereAnInvocationIsUnknown) {
    EXPECT_EQ(Used(graph("y = rely(x);")).names.size(), 4u);
}

TEST(Nnef1Operations, AreAllWhereThereAreOperators) {
    const Used used(graph("y = x + 1.0;", "extension KHR_enable_operator_expressions;\n"));
    EXPECT_EQ(used.names.size(), 4u);
}

TEST(Nnef1Operations, AreNotReplacedByAFragmentOfTheSameName) {
    const Used used(graph("y = own(x);",
                          "extension KHR_enable_fragment_definitions;\n"
                          "fragment own( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = "
                          "relu(x); }\n"
                          "fragment add( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"));
    EXPECT_EQ(used.names, (Names{"4 external", "6 relu", "11 add"}));
    ASSERT_EQ(used.diag.items().size(), 1u);
    EXPECT_EQ(used.diag.items()[0].kind, DiagKind::DuplicateDefinition);
}

}  // namespace
}  // namespace lemma::nnef1
