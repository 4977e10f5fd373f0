// SPDX-License-Identifier: Apache-2.0
// sonnx/check.h — checks a model against every rule of the profile.
#pragma once

#include <vector>

#include "diag/diagnostic.h"
#include "sonnx/rule.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

// A result for each rule, in the order of `all_rules`. `subject.base` has the findings of
// onnx::validate and of the import.
std::vector<RuleResult> check(const Subject& subject);

// Whether there is no violation and no restriction, and every rule is decided.
bool conforms(const std::vector<RuleResult>& results);

// The findings as diagnostics `[sonnx-GR4]`; advisories are warnings. Findings about the format
// that no rule took over are passed on unchanged.
void report(const Subject& subject,
            const std::vector<RuleResult>& results,
            diag::FileId file,
            Diagnostics& diag);

}  // namespace lemma::sonnx
