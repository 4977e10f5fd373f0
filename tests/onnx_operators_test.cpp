// The operator table of ONNX and the definitions in stdlib/onnx agree.
#include "onnx/operators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/match.h"
#include "driver/ops/library.h"
#include "onnx/export/exporter.h"
#include "onnx/import/fold.h"
#include "onnx/import/normalise.h"
#include "onnx/validate.h"

namespace lemma::onnx {

namespace {

constexpr std::string_view kLibrary = "onnx.";

// Definitions by the name that a row would have: `com.microsoft.QGemm`, `Conv`, `mean_of_sum`.
std::map<std::string, driver::OperatorText> library() {
    std::map<std::string, driver::OperatorText> found;
    for (const driver::ModuleText& module : driver::standard_library()) {
        if (!module.name.starts_with(kLibrary)) continue;
        const bool microsoft = module.name.starts_with("onnx.com.microsoft.");
        for (const driver::OperatorText& op : module.operators)
            found.emplace((microsoft ? "com.microsoft." : "") + op.name, op);
    }
    return found;
}

// The operator of ONNX that a definition is for: TopK of `TopK_int`; empty for helpers.
std::string row_name(const std::string& definition) {
    const size_t name = definition.rfind('.') + 1;
    if (definition[name] < 'A' || definition[name] > 'Z') return "";
    return definition.substr(0, definition.find('_', name));
}

bool has_attribute(const driver::OperatorText& op, std::string_view name) {
    return std::ranges::any_of(op.attributes,
                               [&](const driver::ParamText& each) { return each.name == name; });
}

// The attribute of the definition that a change is about.
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
    EXPECT_TRUE(std::ranges::is_sorted(operators(), std::less_equal(), &Operator::name));
    for (const Operator& op : operators()) EXPECT_EQ(find_operator(op.name), &op);
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
    for (const Operator& op : operators()) {
        const bool found = std::ranges::any_of(
            definitions, [&](const auto& each) { return row_name(each.first) == op.name; });
        EXPECT_EQ(found, op.meaning == Meaning::Definition) << op.name;
    }
}

TEST(OnnxOperators, OpsetsAreInTheirOrder) {
    for (const Operator& op : operators()) {
        EXPECT_GE(op.since, 1) << op.name;
        EXPECT_LE(op.has_form_since(), kNewestOpset) << op.name;
        EXPECT_TRUE(op.form == 0 || op.form > op.since) << op.name;
        for (const AttributeDefault& attribute : op.attributes) {
            EXPECT_LE(attribute.since, attribute.until) << op.name << " " << attribute.name;
            EXPECT_LE(attribute.since, kNewestOpset) << op.name << " " << attribute.name;
        }
    }
}

// Every other operator is a definition and a row.
TEST(OnnxOperators, FewHaveCodeOfTheirOwn) {
    std::map<std::string, std::string> code;
    for (const Operator& op : operators()) {
        if (op.meaning != Meaning::Definition) continue;
        std::string what;
        if (has_normalise_code(op.name)) what += " normalise";
        if (has_fold_code(std::string(op.name))) what += " fold";
        if (has_export_code(op.name)) what += " export";
        if (op.domain == Domain::Preview) what += " import";
        if (!what.empty()) code[std::string(op.name)] = what;
    }
    std::string list;
    for (const auto& [op, what] : code) list += fmt::format("{}:{}\n", op, what);
    EXPECT_LE(code.size(), 62) << list;
}

TEST(OnnxOperators, AnAliasCallsAnotherOperatorInEveryOpset) {
    for (const Operator& op : operators()) {
        const bool calls = std::ranges::any_of(op.changes, [](const Change& change) {
            const auto* const call = std::get_if<Call>(&change);
            return call && call->below == kAnyOpset && find_operator(call->op);
        });
        EXPECT_EQ(calls, op.meaning == Meaning::Alias) << op.name;
    }
}

// Otherwise, the places of those that are looked at later would have changed.
TEST(OnnxOperators, RefuseTheLastInputFirst) {
    for (const Operator& op : operators()) {
        size_t before = SIZE_MAX;
        for (const Change& change : op.changes) {
            const auto* const refused = std::get_if<RefuseInput>(&change);
            if (!refused) continue;
            EXPECT_LT(refused->input, before) << op.name;
            before = refused->input;
        }
    }
}

// A wrong name here would show in models of one operator only.
TEST(OnnxOperators, NamesInRowsAreThoseOfDefinitions) {
    const auto definitions = library();
    for (const Operator& op : operators()) {
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
