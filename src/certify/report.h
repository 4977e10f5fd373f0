// SPDX-License-Identifier: Apache-2.0
// certify/report.h — a certificate as Markdown, which also reads well in a terminal, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "certify/certificate.h"

namespace lemma::certify {

// Numbers are rounded outwards: a printed bound is a bound.
std::string as_markdown(const Certificate& certificate);

struct JsonOptions {
    bool elements = false;  // also the bounds of each element of inputs and outputs
    bool inner = false;     // also tensors inside of operations
};
// `null` in place of an infinite bound.
nlohmann::ordered_json as_json(const Certificate& certificate, JsonOptions options);

// Four digits, not below (above) the number.
std::string text_above(double x);
std::string text_below(double x);

}  // namespace lemma::certify
