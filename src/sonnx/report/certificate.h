// SPDX-License-Identifier: Apache-2.0
// sonnx/report/certificate.h — the certificate of `lemma certify --json` as evidence: bounds of
// values and errors, and the conditions of nodes that given ranges exclude.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sonnx/report/contents.h"
#include "sonnx/report/evidence.h"

namespace lemma::sonnx {

// Bounds of all elements of a tensor; empty: there is none.
struct ValueBound {
    std::string name;
    std::optional<double> low, high, error;
};

enum class Exclusion : uint8_t {
    NotConcerned,  // the node has no step of this kind
    Proved,        // it cannot occur within the ranges
    Open,          // the bounds do not exclude it
    Occurs,        // values within the ranges show it
};
struct CertifiedCondition {
    Exclusion exclusion = Exclusion::NotConcerned;
    std::string reason;
};
struct CertifiedNode {
    std::vector<std::string> outputs;
    std::array<CertifiedCondition, kConditions> conditions;  // by Condition
    std::optional<double> introduced, propagated;            // bounds of the errors
};

struct RangeCertificate {
    EvidenceFile file;
    std::string model_hash;
    std::string accumulate;  // "f32", "f64"
    bool established = false;
    std::vector<ValueBound> inputs;
    std::vector<ValueBound> outputs;
    std::vector<CertifiedNode> nodes;
    std::vector<std::string> hypotheses;
};
Result<RangeCertificate> read_certificate(EvidenceFile file, std::string_view text);

// Settles dispositions that do not follow from the operators alone.
void apply_certificate(const RangeCertificate& certificate, Contents& contents);

// Four digits, not below (above) the number; "none" without a bound.
std::string bound_above(const std::optional<double>& bound);
std::string bound_below(const std::optional<double>& bound);

}  // namespace lemma::sonnx
