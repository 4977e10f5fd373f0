// SPDX-License-Identifier: Apache-2.0
#include "ops/library.h"

#include <gtest/gtest.h>

#include "ops/text.h"

namespace lemma::ops {
namespace {

constexpr const char* kText = R"(
import math;

# Opens by degrees.
operator gate {
    @attrib { slope: real = 2.0; }
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose { y = math.mul(x, slope); }
}

graph Net {
    @input { x: real[4]; }
    @output { y: real[4]; }
    @compose { y = gate(x); }
}
)";

TEST(Library, DescribesTheDefinitionsOfAText) {
    diag::SourceMap sources;
    Diagnostics diag;
    const ModuleText text = describe_text(sources, sources.add("text.sknd", kText), diag);
    ASSERT_FALSE(diag.has_errors());
    ASSERT_EQ(text.operators.size(), 2u);
    const OperatorText& gate = text.operators[0];
    EXPECT_FALSE(gate.graph);
    EXPECT_EQ(gate.qualified(), "gate");
    EXPECT_EQ(gate.summary, "Opens by degrees");
    EXPECT_EQ(gate.attributes.at(0).value, "2.0");
    EXPECT_EQ(gate.inputs.at(0).type, "real[s..]");
    EXPECT_EQ(gate.line, 5u);
    EXPECT_TRUE(text.operators[1].graph);
    EXPECT_NE(operators_json({text}).find("\"kind\": \"graph\""), std::string::npos);
}

TEST(Library, DescribesNothingOfABrokenText) {
    diag::SourceMap sources;
    Diagnostics diag;
    const ModuleText text =
        describe_text(sources, sources.add("text.sknd", "operator gate { @input { x: }"), diag);
    EXPECT_TRUE(diag.has_errors());
    EXPECT_TRUE(text.operators.empty());
}

TEST(Library, ListsOtherFormatsAndPrivateOperatorsOnRequestOnly) {
    const auto has = [](const std::vector<ModuleText>& modules, const std::string& name) {
        for (const ModuleText& module : modules) {
            for (const OperatorText& op : module.operators) {
                if (op.qualified() == name) return true;
            }
        }
        return false;
    };
    const auto listed = listed_library({}, false);
    EXPECT_TRUE(has(listed, "nn.relu"));
    for (const ModuleText& module : listed) {
        EXPECT_EQ(module.name.find('.'), std::string::npos) << module.name;
        for (const OperatorText& op : module.operators) EXPECT_FALSE(op.is_private) << op.name;
    }
    EXPECT_GT(listed_library({"onnx.Conv"}, false).size(), listed.size());
}

}  // namespace
}  // namespace lemma::ops
