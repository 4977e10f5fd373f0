// SPDX-License-Identifier: Apache-2.0
// The operator table of ONNX and the definitions in stdlib/onnx agree.
#include "onnx/operators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "base/match.h"
#include "ir/program/display_name.h"
#include "onnx/export/exporter.h"
#include "onnx/import/fold.h"
#include "onnx/import/normalise.h"
#include "onnx/validate.h"
#include "ops/library.h"

namespace lemma::onnx {

namespace {

constexpr std::string_view kLibrary = "onnx.";

// Definitions by the name of their row: `com.microsoft.QGemm`, `Conv`, `mean_of_sum`.
std::map<std::string, ops::OperatorText> library() {
    std::map<std::string, ops::OperatorText> found;
    for (const ops::ModuleText& module : ops::standard_library()) {
        if (!module.name.starts_with(kLibrary)) continue;
        const bool microsoft = module.name.starts_with("onnx.com.microsoft.");
        for (const ops::OperatorText& op : module.operators)
            found.emplace((microsoft ? "com.microsoft." : "") + op.name, op);
    }
    return found;
}

// The ONNX operator of a definition: TopK for `TopK_int`; empty for helpers.
std::string row_name(const std::string& definition) {
    const size_t name = definition.rfind('.') + 1;
    if (definition[name] < 'A' || definition[name] > 'Z') return "";
    return definition.substr(0, definition.find('_', name));
}

bool has_attribute(const ops::OperatorText& op, std::string_view name) {
    return std::ranges::any_of(op.attributes,
                               [&](const ops::ParamText& each) { return each.name == name; });
}

// The attribute of the definition that a change concerns.
std::string_view changed_attribute(const Change& change) {
    return match(
        change,
        [](const Preset& preset) { return preset.attribute; },
        [](const Rename& rename) { return rename.to; },
        [](const Respell& respell) { return respell.attribute; },
        [](const MakeInteger& whole) { return whole.attribute; },
        [](const LimitsOf&) { return std::string_view("lowest"); },
        [](const auto&) { return std::string_view(); });
}

TEST(OnnxOperators, AreSortedByName) {
    EXPECT_TRUE(std::ranges::is_sorted(onnx_operators(), std::less_equal(), &Operator::name));
    EXPECT_TRUE(std::ranges::is_sorted(microsoft_operators(), std::less_equal(), &Operator::name));
    for (const Operator& op : onnx_operators()) EXPECT_EQ(find_operator(op.name), &op);
    for (const Operator& op : microsoft_operators()) EXPECT_EQ(find_operator(op.name), &op);
    EXPECT_EQ(find_operator("Conw"), nullptr);
    EXPECT_EQ(find_operator(""), nullptr);
    EXPECT_EQ(find_operator("zzz"), nullptr);
}

TEST(OnnxOperators, EveryDefinitionHasARow) {
    size_t count = 0;
    for (const auto& [name, definition] : library()) {
        const std::string op = row_name(name);
        count += !op.empty();
        EXPECT_TRUE(op.empty() || find_operator(op)) << "no row for `" << op << "`";
    }
    EXPECT_GT(count, 200);
}

TEST(OnnxOperators, EveryRowHasItsDefinitionOrSaysWhyNot) {
    const auto definitions = library();
    for (const Operator& op : all_operators()) {
        const bool found = std::ranges::any_of(
            definitions, [&](const auto& each) { return row_name(each.first) == op.name; });
        EXPECT_EQ(found, op.meaning == Meaning::Definition) << op.name;
    }
}

// As ONNX writes them: with the domain, unless it is ONNX's own.
TEST(OnnxOperators, DefinitionsAreShownUnderTheNameOfTheirOperator) {
    for (const ops::ModuleText& module : ops::standard_library()) {
        if (!module.name.starts_with(kLibrary)) continue;
        for (const ops::OperatorText& definition : module.operators) {
            const std::string full = fmt::format("{}.{}", module.name, definition.name);
            const bool microsoft = module.name.starts_with("onnx.com.microsoft.");
            const std::string row = row_name((microsoft ? "com.microsoft." : "") + definition.name);
            const Operator* const op = row.empty() ? nullptr : find_operator(row);
            if (!op) continue;
            const std::string_view domain = microsoft ? "" : domain_name(op->domain);
            const std::string shown =
                fmt::format("{}{}{}", domain, domain.empty() ? "" : ".", op->name);
            EXPECT_EQ(ir::display_name(full), shown);
        }
    }
}

TEST(OnnxOperators, OpsetsAreInTheirOrder) {
    for (const Operator& op : all_operators()) {
        EXPECT_GE(op.since, 1) << op.name;
        EXPECT_LE(op.has_form_since(), kNewestOpset) << op.name;
        EXPECT_TRUE(op.form == 0 || op.form > op.since) << op.name;
        for (const AttributeDefault& attribute : op.attributes) {
            EXPECT_LE(attribute.since, attribute.until) << op.name << " " << attribute.name;
            EXPECT_LE(attribute.since, kNewestOpset) << op.name << " " << attribute.name;
        }
    }
}

// The C++ functions for an operator with a definition.
std::string code_of(const Operator& op) {
    std::vector<std::string_view> code;
    if (op.domain == Domain::Preview) code.push_back("import");
    if (has_normalise_code(op.name)) code.push_back("normalise");
    if (has_fold_code(std::string(op.name))) code.push_back("fold");
    if (has_export_code(op.name)) code.push_back("export");
    return fmt::format("{}", fmt::join(code, ", "));
}

// All other operators consist of a definition and a row.
TEST(OnnxOperators, FewHaveCodeOfTheirOwn) {
    std::string list;
    int count = 0;
    for (const Operator& op : all_operators()) {
        if (op.meaning != Meaning::Definition || code_of(op).empty()) continue;
        ++count;
        list += fmt::format("{}: {}\n", op.name, code_of(op));
    }
    EXPECT_LE(count, 60) << list;
}

std::string meaning_text(const Operator& op,
                         const std::map<std::string, ops::OperatorText>& definitions) {
    const auto definition = definitions.lower_bound(std::string(op.name));
    switch (op.meaning) {
        case Meaning::Definition:
            return definition == definitions.end() ? "missing"
                                                   : fmt::format("`{}`", definition->second.file);
        case Meaning::Alias:
            return fmt::format("as `{}`", made_operators(op).back());
        case Meaning::None:
            return "not supported";
        default:
            return "`src/onnx/import`";
    }
}

// docs/onnx-operators.md
std::string page() {
    const auto definitions = library();
    std::string text =
        "# Operators of ONNX\n\n"
        "`stdlib_test` writes this page from the operator table\n"
        "(`LEMMA_UPDATE_DOCS=1 build/dev/tests/stdlib_test`). The opset is the first one of its "
        "domain that\nhas the operator. Most operators are a definition and a row of\n"
        "`src/onnx/operator_table.cpp`. The last column names the C++ of the others: `normalise` "
        "changes\ncalls before they reach the definition, `fold` evaluates nodes at compile time, "
        "`export`\nwrites nodes.\n";
    for (const Domain domain :
         {Domain::Default, Domain::Ml, Domain::Preview, Domain::Training, Domain::Microsoft}) {
        const std::string_view name = domain_name(domain);
        text += fmt::format("\n## {}\n\n| operator | opset | meaning | code |\n|---|---|---|---|\n",
                            name.empty() ? "The default domain" : name);
        for (const Operator& op : all_operators()) {
            if (op.domain != domain) continue;
            text += fmt::format("| `{}` | {} | {} | {} |\n",
                                op.name.substr(op.name.rfind('.') + 1),
                                op.since,
                                meaning_text(op, definitions),
                                code_of(op));
        }
    }
    return text;
}

TEST(OnnxOperators, TheirPageIsUpToDate) {
    const auto path = std::filesystem::path(LEMMA_ERRORS_DIR).parent_path() / "onnx-operators.md";
    if (std::getenv("LEMMA_UPDATE_DOCS")) std::ofstream(path) << page();
    std::ifstream file(path);
    const std::string found{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(found == page()) << path << " is out of date; LEMMA_UPDATE_DOCS=1 writes it anew";
}

TEST(OnnxOperators, AnAliasCallsAnotherOperatorInEveryOpset) {
    for (const Operator& op : all_operators()) {
        const bool calls = std::ranges::any_of(op.changes, [](const Change& change) {
            const auto* const call = std::get_if<Call>(&change);
            return call && call->below == kAnyOpset && find_operator(call->op);
        });
        EXPECT_EQ(calls, op.meaning == Meaning::Alias) << op.name;
    }
}

// Otherwise the positions of inputs checked later would change.
TEST(OnnxOperators, RefuseTheLastInputFirst) {
    for (const Operator& op : all_operators()) {
        size_t before = SIZE_MAX;
        for (const Change& change : op.changes) {
            const auto* const refused = std::get_if<RefuseInput>(&change);
            if (!refused) continue;
            EXPECT_LT(refused->input, before) << op.name;
            before = refused->input;
        }
    }
}

// Otherwise a wrong name would show only in models with that operator.
TEST(OnnxOperators, NamesInRowsAreThoseOfDefinitions) {
    const auto definitions = library();
    for (const Operator& op : all_operators()) {
        for (const std::string_view made : made_operators(op)) {
            const bool found = definitions.contains(std::string(made)) ||
                               definitions.contains(fmt::format("com.microsoft.{}", made));
            EXPECT_TRUE(found) << op.name << " makes `" << made << "`";
        }
        const auto definition = definitions.find(std::string(op.name));
        if (definition == definitions.end()) continue;
        for (const Steering& steering : op.steering) {
            EXPECT_TRUE(has_attribute(definition->second, steering.attribute))
                << op.name << " " << steering.attribute;
        }
        for (const std::string_view own : op.own_attributes)
            EXPECT_TRUE(has_attribute(definition->second, own)) << op.name << " " << own;
        for (const Change& change : op.changes) {
            const std::string_view name = changed_attribute(change);
            EXPECT_TRUE(name.empty() || has_attribute(definition->second, name))
                << op.name << " " << name;
        }
        const auto& type = op.result_type;
        EXPECT_FALSE(type && has_attribute(definition->second, type->attribute))
            << op.name << ": the type of a result is no attribute of the definition";
    }
}

}  // namespace

}  // namespace lemma::onnx
