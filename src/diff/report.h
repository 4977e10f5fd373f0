// SPDX-License-Identifier: Apache-2.0
// diff/report.h — a comparison as text and as JSON (docs/diff-json.md), and the part of the view
// document that shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "diff/compare.h"
#include "diff/numbers.h"

namespace lemma::diff {

// Grows by one if a reader of the document would have to change.
inline constexpr int kDiffSchema = 1;

struct ReportOptions {
    std::string a, b;    // as the user named the models
    bool names = false;  // renamed operations and tensors are differences
    bool order = false;  // so is another order of operations
    bool colour = false;
};

// Whether the models count as equal.
bool is_equal(const Comparison& comparison, const Numbers* numbers, const ReportOptions& options);
// `equal`, `equal up to names`, `2 operations changed, 1 only in B`.
std::string summary(const Comparison& comparison,
                    const Numbers* numbers,
                    const ReportOptions& options);
// The summary, then the differences. `numbers` may be missing.
std::string report_text(const Comparison& comparison,
                        const Numbers* numbers,
                        const ReportOptions& options);
std::string report_json(const Comparison& comparison,
                        const Numbers* numbers,
                        const ReportOptions& options);

// Numbers of operations in a view document.
using ViewIds = Table<ir::OpId, int64_t>;
// Those of `view`: an operation has its number in the program.
ViewIds operation_ids(const ir::Program& program);
// The member `diff` of a view document, without `a` and `b`, the graphs: the caller adds them.
nlohmann::ordered_json view_diff(const Comparison& comparison,
                                 const Numbers* numbers,
                                 const ViewIds& a,
                                 const ViewIds& b);

}  // namespace lemma::diff
