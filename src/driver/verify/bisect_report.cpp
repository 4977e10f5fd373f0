// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "diag/json_text.h"
#include "driver/verify/bisect.h"
#include "model/files.h"

namespace lemma::driver {

namespace {

using Json = nlohmann::ordered_json;

bool by_interpreter(const BisectResult& result) { return result.against == kAgainstInterpreter; }

std::string named_text(const NamedOperation& op) {
    return fmt::format("`{}`{}", op.title, op.label.empty() ? "" : " (" + op.label + ")");
}

// Who made the difference, as far as the inputs tell.
enum class Verdict { Made, Amplified, Unknown };
Verdict verdict_of(const Culprit& culprit) {
    if (culprit.largest_input() > 0) return Verdict::Amplified;
    return culprit.inputs_known() ? Verdict::Made : Verdict::Unknown;
}

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::Made:
            return "made";
        case Verdict::Amplified:
            return "amplified";
        case Verdict::Unknown:
            return "unknown";
    }
    return "";
}

std::string verdict_text(const Culprit& culprit) {
    const double before = culprit.largest_input();
    if (culprit.only_fused)
        return "code that keeps every tensor agrees: the difference comes from operations that are "
               "computed together";
    switch (verdict_of(culprit)) {
        case Verdict::Made:
            return "its inputs are equal: this operation makes the difference";
        case Verdict::Unknown:
            return "not all of its inputs were compared: the difference may come from them";
        case Verdict::Amplified:
            break;
    }
    if (!std::isfinite(culprit.difference.amount) || !std::isfinite(before))
        return fmt::format("its inputs differ by up to {:.3g}, within the tolerance", before);
    return fmt::format(
        "its inputs differ by up to {:.3g}, within the tolerance: the result differs {:.3g} times "
        "as much",
        before,
        culprit.difference.amount / before);
}

std::string gap_text(const InputGap& gap) {
    switch (gap.kind) {
        case InputGap::Kind::Given:
            return "given";
        case InputGap::Kind::Unknown:
            return "not compared";
        case InputGap::Kind::Compared:
            break;
    }
    return gap.difference > 0 ? fmt::format("differs by up to {:.3g}", gap.difference) : "equal";
}

// What to do now, the most promising first.
std::vector<std::string> next_steps(const BisectResult& result) {
    const Culprit& culprit = *result.culprit;
    std::vector<std::string> steps;
    if (!culprit.construct.empty()) {
        steps.push_back(
            fmt::format("the tensors inside of this {} are not compared: `lemma run "
                        "--engine=interpret --dump=DIR` writes those of its {} operation{}",
                        culprit.construct == "loop" ? "loop" : "branch",
                        culprit.inside,
                        culprit.inside == 1 ? "" : "s"));
    }
    if (culprit.only_fused) {
        steps.emplace_back(
            "`lemma run --dump=loop:fuse` prints which operations are computed together");
    }
    if (by_interpreter(result)) {
        steps.emplace_back(
            "repeat it with `--numerics=strict`: if the difference vanishes, it is rounding");
        if (verdict_of(culprit) == Verdict::Amplified)
            steps.emplace_back(
                "repeat it with `--rtol=0 --atol=0`: it names the first operation that rounds "
                "differently");
    } else {
        steps.push_back(
            fmt::format("`lemma show --attributes` prints the attributes of the operation, and "
                        "`lemma ops {}` what it computes",
                        (culprit.part ? *culprit.part : culprit.operation).op));
        steps.emplace_back(
            "`lemma verify --bisect --against=interpret` says whether compiled code is the reason");
    }
    return steps;
}

std::string compared_text(const BisectResult& result) {
    return fmt::format("compared {} of {} tensors with {} (rtol {:g}, atol {:g})",
                       result.compared,
                       result.made,
                       by_interpreter(result) ? "the interpreter" : "`" + result.against + "`",
                       result.tolerance.relative,
                       result.tolerance.absolute);
}

std::string culprit_text(const BisectResult& result) {
    const Culprit& culprit = *result.culprit;
    std::string text = fmt::format("{}: the first difference is in {}, operation {} of {}{}\n",
                                   result.name,
                                   named_text(culprit.operation),
                                   culprit.number,
                                   culprit.total,
                                   culprit.step > 0 ? fmt::format(", step {}", culprit.step) : "");
    const auto line = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) text += fmt::format("  {:<8} {}\n", name, value);
    };
    line("place", culprit.operation.place);
    if (culprit.part)
        line("inside", fmt::format("{} {}", named_text(*culprit.part), culprit.part->place));
    line("tensor", fmt::format("{} {}", culprit.tensor, culprit.type));
    line("result", culprit.difference.text);
    for (const InputGap& gap : culprit.inputs)
        line("input", fmt::format("{} = {}: {}", gap.name, gap.tensor, gap_text(gap)));
    line("so", verdict_text(culprit));
    for (const std::string& step : next_steps(result)) line("next", step);
    return text;
}

Json operation_json(const NamedOperation& op) {
    return {{"operation", op.op}, {"title", op.title}, {"label", op.label}, {"place", op.place}};
}

// JSON has no infinity.
Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json culprit_json(const BisectResult& result) {
    const Culprit& culprit = *result.culprit;
    Json json = operation_json(culprit.operation);
    json["number"] = culprit.number;
    json["operations"] = culprit.total;
    json["step"] = culprit.step;
    if (culprit.part) json["part"] = operation_json(*culprit.part);
    json["tensor"] = culprit.tensor;
    json["type"] = culprit.type;
    json["difference"] = number_json(culprit.difference.amount);
    json["at"] = culprit.difference.element < 0 ? Json() : Json(culprit.at);
    json["elements"] = culprit.difference.count;
    json["message"] = culprit.difference.text;
    json["inputs"] = Json::array();
    for (const InputGap& gap : culprit.inputs) {
        const bool unknown = gap.kind == InputGap::Kind::Unknown;
        json["inputs"].push_back({{"name", gap.name},
                                  {"tensor", gap.tensor},
                                  {"given", gap.kind == InputGap::Kind::Given},
                                  {"difference", unknown ? Json() : number_json(gap.difference)}});
    }
    json["verdict"] = verdict_name(verdict_of(culprit));
    if (!culprit.construct.empty()) json["inside"] = culprit.inside;
    if (culprit.only_fused) json["only_fused"] = true;
    json["next"] = next_steps(result);
    return json;
}

}  // namespace

std::string bisect_text(const BisectResult& result) {
    std::string text;
    for (const std::string& problem : result.problems)
        text += fmt::format("{}: {}\n", result.name, problem);
    if (!result.problems.empty() || result.unusable) return model::safe_text(text);
    if (result.culprit) {
        text += culprit_text(result);
    } else {
        text += fmt::format("{}: no difference\n", result.name);
    }
    text += "  " + compared_text(result) + "\n";
    for (const std::string& failure : result.failures)
        text += fmt::format("  but the recorded outputs differ: {}\n", failure);
    if (!result.failures.empty())
        text +=
            "  next     record the intermediate tensors where the outputs come from, as NAME.npy "
            "in "
            "a folder, and repeat it with `--against=DIR`\n";
    return model::safe_text(text);
}

std::string bisect_json(const std::vector<BisectResult>& results) {
    Json cases = Json::array();
    size_t differ = 0;
    for (const BisectResult& result : results) {
        Json json = {{"case", result.name},
                     {"against", result.against},
                     {"rtol", result.tolerance.relative},
                     {"atol", result.tolerance.absolute},
                     {"tensors", result.made},
                     {"compared", result.compared},
                     {"first", result.culprit ? culprit_json(result) : Json()}};
        if (result.unusable) json["error"] = result.unusable->message;
        if (!result.problems.empty()) json["problems"] = result.problems;
        if (!result.failures.empty()) json["failures"] = result.failures;
        differ += result.culprit.has_value();
        cases.push_back(std::move(json));
    }
    return diag::json_text({{"cases", std::move(cases)}, {"differ", differ}});
}

}  // namespace lemma::driver
