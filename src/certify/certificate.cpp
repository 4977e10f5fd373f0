// SPDX-License-Identifier: Apache-2.0
#include "certify/certificate.h"

#include <algorithm>

namespace lemma::certify {

bool is_severe(Hazard hazard) { return hazard != Hazard::Wrap && hazard != Hazard::Decision; }

std::string_view hazard_name(Hazard hazard) {
    switch (hazard) {
        case Hazard::Overflow:
            return "overflow";
        case Hazard::Invalid:
            return "NaN";
        case Hazard::DivisionByZero:
            return "division by zero";
        case Hazard::Domain:
            return "domain";
        case Hazard::Wrap:
            return "integer wrap";
        case Hazard::Decision:
            return "decision";
    }
    return "";
}

std::string_view hazard_key(Hazard hazard) {
    switch (hazard) {
        case Hazard::Overflow:
            return "overflow";
        case Hazard::Invalid:
            return "nan";
        case Hazard::DivisionByZero:
            return "division_by_zero";
        case Hazard::Domain:
            return "domain";
        case Hazard::Wrap:
            return "integer_wrap";
        case Hazard::Decision:
            return "decision";
    }
    return "";
}

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::NotApplicable:
            return "not applicable";
        case Verdict::Proved:
            return "proved absent";
        case Verdict::NotEstablished:
            return "not established";
        case Verdict::Refuted:
            return "occurs";
    }
    return "";
}

bool Certificate::established() const {
    return std::ranges::all_of(nodes, [](const NodeRecord& node) {
        for (size_t i = 0; i < kHazards; ++i) {
            if (!is_severe(static_cast<Hazard>(i))) continue;
            if (node.dispositions[i].verdict > Verdict::Proved) return false;
        }
        return true;
    });
}

}  // namespace lemma::certify
