// SPDX-License-Identifier: Apache-2.0
// sonnx/report/document.h — the report as a document: one walk over its parts, for Markdown and
// HTML. Only the files document*.cpp include it.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/page.h"
#include "sonnx/report/places.h"
#include "sonnx/report/report.h"
#include "sonnx/report/summary.h"

namespace lemma::sonnx {

using diag::badge;
using diag::link;
using diag::Page;
using diag::PageTable;
using diag::TableRow;
using diag::Text;
using diag::Tone;

class Document {
public:
    Document(const Report& report, Page& page);

    void write();

private:
    void section(std::string_view title, std::string_view anchor);
    void add_rest(size_t all, size_t shown, std::string_view what);
    Text place(onnx::PathSpan span) const;

    // document.cpp
    void add_summary();
    void add_counts();
    void add_contents();
    void add_identity();
    void add_operators();
    void add_tensors();
    void add_limits();
    void add_changes();
    void add_review();
    // document_rules.cpp
    void add_rules();
    void add_family(std::string_view family);
    void add_findings();
    void add_findings_of(const RuleResult& result);
    // document_evidence.cpp
    void add_evidence_summary();
    void add_dispositions();
    void add_evidence();
    void add_proofs(const Proofs& proofs);
    void add_tests(const Tests& tests);
    void add_certificate(const RangeCertificate& certificate);

    const Report& report_;
    Page& page_;
    Places places_;
    std::map<size_t, std::vector<const FunctionProof*>> functions_;  // by node
    int sections_ = 0;
};

Tone tone_of(Disposal disposal);

inline std::string code(std::string_view text) { return fmt::format("`{}`", text); }
inline std::string number(int64_t value) { return fmt::format("{}", value); }

}  // namespace lemma::sonnx
