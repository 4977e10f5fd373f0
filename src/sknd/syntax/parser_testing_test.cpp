// SPDX-License-Identifier: Apache-2.0
// Tests the helpers of parser_testing.h.
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/syntax/parser_testing.h"

namespace lemma::sknd::testing {

std::string Parsed::findings() const {
    std::string result;
    for (const diag::Diagnostic& item : diag.items()) {
        const diag::LineColumn place = sources.place(item.span.file, item.span.begin);
        if (!result.empty()) result += ", ";
        result += fmt::format("{}:{} {}", place.line, place.column, info(item.kind).id);
    }
    return result;
}

std::string Parsed::show(ExprId id) const {
    if (!id) return "";
    const auto all = [&](const std::vector<ExprId>& ids) {
        std::vector<std::string> parts;
        for (const ExprId each : ids) parts.push_back(show(each));
        return fmt::format("{}", fmt::join(parts, ", "));
    };
    const auto source = [&](Span span) { return std::string(sources.text(span)); };
    return match(
        module.exprs[id].node,
        [&](const Paren& n) { return show(n.inner); },
        [&](const List& n) { return fmt::format("[{}]", all(n.items)); },
        [&](const Zip& n) { return fmt::format("zip({})", all(n.items)); },
        [&](const Range& n) {
            return fmt::format("{}:{}:{}", show(n.begin), show(n.end), show(n.step));
        },
        [&](const Expand& n) { return fmt::format("{}..{}", show(n.item), show(n.count)); },
        [&](const Index& n) { return fmt::format("index({}, {})", show(n.base), show(n.index)); },
        [&](const Access& n) { return fmt::format("{}[{}]", show(n.base), all(n.indices)); },
        [&](const Guard& n) {
            if (!n.below) return fmt::format("|{}|", show(n.index));
            return fmt::format("|{}<>{}:{}|", show(n.index), show(n.below), show(n.above));
        },
        [&](const Substitution& n) {
            return fmt::format("subst({}, {}, {})", show(n.base), show(n.index), show(n.value));
        },
        [&](const Unary& n) {
            const Span span = module.exprs[id].span;
            return fmt::format("({}{})", sources.text(span).front(), show(n.operand));
        },
        [&](const Binary& n) {
            return fmt::format("({} {} {})", show(n.lhs), source(n.op_span), show(n.rhs));
        },
        [&](const Select& n) {
            return fmt::format(
                "({} ? {} : {})", show(n.condition), show(n.consequent), show(n.alternative));
        },
        [&](const Coalesce& n) {
            return fmt::format("({} ?? {})", show(n.value), show(n.fallback));
        },
        [&](const NullTest& n) { return fmt::format("(?{})", show(n.operand)); },
        [&](const Fold& n) {
            return fmt::format(
                "({} {} {})", show(n.operand), source(n.op_span), n.cumulative ? "..." : "..");
        },
        [&](const Cast& n) { return fmt::format("cast {}({})", n.type.text, show(n.operand)); },
        [&](const BuiltinCall& n) {
            return fmt::format("call {}({})", n.function.text, show(n.operand));
        },
        [&](const BadExpr&) { return std::string("bad"); },
        [&](const auto&) { return source(module.exprs[id].span); });
}

std::string Parsed::show(RegionId id) const {
    const Region& region = module.regions[id];
    const std::string label = region.label ? fmt::format("{}: ", region.label->text) : "";
    return label +
           match(
               region.node,
               [&](const Invocation& n) {
                   return fmt::format("{}<{}>{{{}}}({})",
                                      n.callee.text(),
                                      n.types.size(),
                                      n.attributes.size(),
                                      n.arguments.size());
               },
               [&](const Value& n) { return show(n.expr); },
               [&](const Block& n) {
                   return fmt::format("block {} yields {}", n.components.size(), n.yields.size());
               },
               [&](const Branch& n) {
                   std::string text;
                   for (const Branch::Arm& arm : n.arms) {
                       text +=
                           fmt::format("if {} then {} ", show(arm.condition), show(arm.consequent));
                   }
                   return text + "else " + show(n.alternative);
               },
               [&](const Loop& n) {
                   return fmt::format("{} {} {} body {}",
                                      n.unroll ? "unroll" : "do",
                                      n.carried.size(),
                                      n.scans.size(),
                                      show(n.body));
               },
               [&](const BadRegion&) { return std::string("bad"); });
}

Parsed parse(std::string text, ParseLimits limits) {
    Parsed result;
    const diag::FileId file = result.sources.add("test.sknd", std::move(text));
    result.module = parse_module(result.sources, file, limits, result.diag);
    return result;
}
Parsed parse_in(std::string_view block, std::string_view statements) {
    return parse(
        fmt::format("operator f {{\n@dtype {{ T: num; }}\n{} {{\n{}\n}}\n}}\n", block, statements));
}

std::string expr(std::string_view text) {
    const Parsed parsed = parse_in("@using", fmt::format("a = {};", text));
    const std::string findings = parsed.findings();
    return findings.empty() ? parsed.show(parsed.def().usings.at(0).rhs) : findings;
}
std::string lowered(std::string_view text) {
    const Parsed parsed = parse_in("@lower", fmt::format("y[] = {};", text));
    const std::string findings = parsed.findings();
    return findings.empty() ? parsed.show(parsed.def().lowers.at(0).value) : findings;
}
std::string region(std::string_view text) {
    const Parsed parsed = parse_in("@compose", fmt::format("y = {};", text));
    const std::string findings = parsed.findings();
    return findings.empty() ? parsed.show(parsed.def().composes.at(0).body) : findings;
}

std::string repeated(std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
}

}  // namespace lemma::sknd::testing
