// SPDX-License-Identifier: Apache-2.0
#include "sknd/eval/eval_cases_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "diag/source.h"
#include "sknd/syntax/parser.h"

namespace lemma::sknd {
namespace {

using ir::ScalarType;

class Names : public Environment {
public:
    explicit Names(ir::SymbolPool& symbols) {
        const auto sym = [&](const char* name, ScalarType type, ir::Interval range) {
            return Scalar(symbols.symbol(name, type, range));
        };
        const Scalar n = sym("n", ScalarType::Int, {0, 100});
        const Scalar m = sym("m", ScalarType::Int, {1, 50});
        values["n"] = n;
        values["m"] = m;
        values["z"] = sym("z", ScalarType::Int, {INT64_MIN, INT64_MAX});
        values["c"] = sym("c", ScalarType::Bool, {0, 1});
        values["w"] = sym("w", ScalarType::Real, {INT64_MIN, INT64_MAX});
        values["u"] = sym("u", ScalarType::Str, {INT64_MIN, INT64_MAX});
        values["dims"] = Pack{.items = {n, Scalar(int64_t{3}), m}};
        values["two"] = Scalar(symbols.integer(2));  // a constant as an expression
        values["nil"] = Null{};
        values["k"] = Scalar(int64_t{3});
        values["r"] = Scalar(2.5);
        values["t"] = Scalar(true);
        values["f"] = Scalar(false);
        values["s"] = Scalar(std::string("hello"));
        values["g"] = Scalar(std::string("grün 中文"));
        std::vector<Scalar> numbers;
        for (int64_t i = 10; i < 15; ++i) numbers.emplace_back(i);
        values["a"] = make_pack(numbers, symbols);
        values["no_reals"] = Pack{.items = {}, .uniform = {}, .type = ScalarType::Real};
        values["no_bools"] = Pack{.items = {}, .uniform = {}, .type = ScalarType::Bool};
        shape = make_pack({int64_t{2}, int64_t{3}, int64_t{4}}, symbols);
        rank = Scalar(int64_t{3});
        size = Scalar(int64_t{2});
    }
    const CompileValue* lookup(std::string_view name) const override {
        const auto at = values.find(name);
        return at == values.end() ? nullptr : &at->second;
    }
    const CompileValue* member(std::string_view name, MemberKind member) const override {
        if (name == "xs") return member == MemberKind::Size ? &size : nullptr;
        if (name != "x" || member == MemberKind::Size) return nullptr;
        return member == MemberKind::Shape ? &shape : &rank;
    }
    std::optional<ScalarType> type(std::string_view name) const override {
        if (name == "T") return ScalarType::Real;
        if (name == "I") return ScalarType::Int;
        return std::nullopt;
    }

    std::map<std::string, CompileValue, std::less<>> values;
    CompileValue shape, rank, size;
};

}  // namespace

Outcome run(const std::string& expression, const EvalLimits& limits) {
    diag::SourceMap sources;
    Diagnostics diag;
    const std::string source =
        "operator f { @dtype { T: type; I: type; U: type; } @using { v = " + expression + "; } }";
    const auto file = sources.add("test.sknd", source);
    const Module module = parse_module(sources, file, {.max_expr_depth = 100'000}, diag);
    if (diag.has_errors()) return {"syntax error", "", diag.items()[0].message, "", {}};
    ir::SymbolPool symbols;
    const Names names(symbols);
    Diagnostics found;
    const auto value =
        evaluate(module, module.definitions.at(0).usings.at(0).rhs, names, symbols, limits, found);
    // A value with a report would be two answers.
    if (value)
        return {found.has_errors() ? "value and error" : to_text(*value, symbols), "", "", "", {}};
    if (!found.has_errors()) return {"unknown", "", "", "", {}};
    const auto& item = found.items()[0];
    Outcome outcome{"error",
                    std::string(diag::info(item.kind).id),
                    item.message,
                    std::string(sources.text(item.span)),
                    {}};
    for (const auto& note : item.notes)
        outcome.notes.push_back(
            fmt::format("{}: {}", note.span.valid() ? sources.text(note.span) : "", note.message));
    return outcome;
}

void check(const Rows& rows) {
    for (const Row& row : rows) {
        const Outcome outcome = run(row.expression);
        EXPECT_EQ(outcome.text, row.text) << row.expression << "  " << outcome.message;
    }
}

void check(const ErrorRows& rows) {
    for (const ErrorRow& row : rows) {
        const Outcome outcome = run(row.expression);
        EXPECT_EQ(outcome.text, "error") << row.expression;
        EXPECT_EQ(outcome.kind, row.kind) << row.expression;
        EXPECT_EQ(outcome.message, row.message) << row.expression;
        EXPECT_EQ(outcome.at, row.at) << row.expression;
    }
}

}  // namespace lemma::sknd
