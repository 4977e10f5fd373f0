// SPDX-License-Identifier: Apache-2.0
#include "sonnx/report/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "sonnx/report/evidence_json.h"

namespace lemma::sonnx {

namespace {

using nlohmann::json;

std::optional<double> number_of(const json& value) {
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
std::optional<double> number_field(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() ? std::nullopt : number_of(*found);
}

// Computed values are what the program deals with.
Result<std::vector<ValueBound>> bounds_of(const EvidenceFile& file,
                                          const json& document,
                                          const char* key) {
    LEMMA_TRY(const json* list, list_field(file, document, key));
    std::vector<ValueBound> bounds;
    for (const json& item : *list) {
        ValueBound bound{.name = text_field(item, "name"), .error = number_field(item, "error")};
        const auto range = item.is_object() ? item.find("computed") : item.end();
        if (range == item.end() || !range->is_array() || range->size() != 2)
            return bad_evidence(file, fmt::format("an item of `{}` has no range", key));
        bound.low = number_of((*range)[0]);
        bound.high = number_of((*range)[1]);
        bounds.push_back(std::move(bound));
    }
    return bounds;
}

Exclusion exclusion_of(const std::string& verdict) {
    if (verdict == "proved absent") return Exclusion::Proved;
    if (verdict == "occurs") return Exclusion::Occurs;
    if (verdict == "not applicable") return Exclusion::NotConcerned;
    return Exclusion::Open;  // also for words of other versions
}

// The worst of several kinds of trouble.
CertifiedCondition worst_of(const json& dispositions, std::initializer_list<const char*> keys) {
    CertifiedCondition worst;
    for (const char* key : keys) {
        const auto found = dispositions.is_object() ? dispositions.find(key) : dispositions.end();
        if (found == dispositions.end()) continue;
        const Exclusion exclusion = exclusion_of(text_field(*found, "verdict"));
        if (exclusion > worst.exclusion) worst = {exclusion, text_field(*found, "reason")};
    }
    return worst;
}

CertifiedNode node_of(const json& item) {
    CertifiedNode node{.outputs = text_fields(item, "outputs"),
                       .conditions = {},
                       .introduced = number_field(item, "introduced"),
                       .propagated = number_field(item, "propagated")};
    const auto found = item.is_object() ? item.find("dispositions") : item.end();
    if (found == item.end()) {
        // Without a statement, nothing is excluded.
        for (CertifiedCondition& each : node.conditions) each.exclusion = Exclusion::Open;
        return node;
    }
    node.conditions = {worst_of(*found, {"overflow"}),
                       worst_of(*found, {"nan", "domain"}),
                       worst_of(*found, {"division_by_zero"})};
    const std::string remark = text_field(item, "remark");
    if (remark.empty()) return node;
    for (CertifiedCondition& each : node.conditions) {
        if (each.exclusion == Exclusion::NotConcerned) each = {Exclusion::Open, remark};
    }
    return node;
}

void settle(const CertifiedCondition& found, Disposition& disposition) {
    const std::string why = found.reason.empty() ? "" : ": " + found.reason;
    switch (found.exclusion) {
        case Exclusion::Proved:
            // What cannot occur for any values needs no ranges.
            if (disposition.disposal == Disposal::CannotOccur ||
                disposition.disposal == Disposal::RuledOut)
                return;
            disposition = {Disposal::RuledOut, "the certificate, for the given ranges"};
            return;
        case Exclusion::Occurs:
            disposition = {Disposal::Possible, "the certificate shows it" + why};
            return;
        case Exclusion::Open:
            if (disposition.disposal == Disposal::NotEstablished)
                disposition.by += "; the certificate does not exclude it" + why;
            return;
        case Exclusion::NotConcerned:
            if (disposition.disposal == Disposal::NotEstablished)
                disposition = {Disposal::RuledOut,
                               "the certificate: the node has no step of this kind"};
            return;
    }
}

}  // namespace

Result<RangeCertificate> read_certificate(EvidenceFile file, std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    RangeCertificate certificate;
    LEMMA_TRY(const json* operations, list_field(file, document, "operations"));
    for (const json& item : *operations) certificate.nodes.push_back(node_of(item));
    LEMMA_TRY(certificate.inputs, bounds_of(file, document, "inputs"));
    LEMMA_TRY(certificate.outputs, bounds_of(file, document, "outputs"));
    certificate.model_hash = text_field(document, "sha256");
    certificate.accumulate = text_field(document, "accumulate");
    certificate.hypotheses = text_fields(document, "hypotheses");
    const auto established = document.find("established");
    certificate.established =
        established != document.end() && established->is_boolean() && established->get<bool>();
    certificate.file = std::move(file);
    return certificate;
}

void apply_certificate(const RangeCertificate& certificate, Contents& contents) {
    std::unordered_map<std::string, const CertifiedNode*> by_output;
    for (const CertifiedNode& node : certificate.nodes) {
        for (const std::string& name : node.outputs) by_output.emplace(name, &node);
    }
    for (NodeEntry& entry : contents.nodes) {
        if (entry.node->outputs.empty()) continue;
        const auto found = by_output.find(entry.node->outputs[0]);
        if (found == by_output.end()) continue;
        for (size_t i = 0; i < kConditions; ++i)
            settle(found->second->conditions[i], entry.dispositions[i]);
        entry.introduced = found->second->introduced;
        entry.propagated = found->second->propagated;
    }
}

// Adds units of the fourth digit until the printed number is not below the bound.
std::string bound_above(const std::optional<double>& bound) {
    if (!bound || !std::isfinite(*bound)) return "none";
    std::string text = fmt::format("{:.4g}", *bound);
    if (*bound == 0) return text;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(*bound))) - 3);
    for (int i = 1; i <= 3 && std::strtod(text.c_str(), nullptr) < *bound; ++i)
        text = fmt::format("{:.4g}", *bound + unit * i / 2);
    return std::strtod(text.c_str(), nullptr) < *bound ? fmt::format("{}", *bound) : text;
}

std::string bound_below(const std::optional<double>& bound) {
    if (!bound || !std::isfinite(*bound)) return "none";
    if (*bound == 0) return "0";
    const std::string above = bound_above(-*bound);
    return above.starts_with('-') ? above.substr(1) : "-" + above;
}

}  // namespace lemma::sonnx
