// sonnx/check.h — a model against every rule of the profile.
#pragma once

#include <vector>

#include "diag/diagnostic.h"
#include "sonnx/rule.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

// A result for each rule, in the order of `all_rules`. `subject.base` is what onnx::validate and
// the import reported.
std::vector<RuleResult> check(const Subject& subject);

// Whether no violation and no restriction was found, and every rule could be decided.
bool conforms(const std::vector<RuleResult>& results);

// The findings as diagnostics `[sonnx-GR4]`: advisories are warnings. What the rules of the format
// reported and no rule took over is handed on as it is.
void report(const Subject& subject,
            const std::vector<RuleResult>& results,
            diag::FileId file,
            Diagnostics& diag);

}  // namespace lemma::sonnx
