#include "api/report.h"

#include <fmt/format.h>

#include "diag/render.h"
#include "model/files.h"

namespace lemma::api {

namespace {

Problem problem_of(const diag::SourceMap& sources, const diag::Diagnostic& diagnostic) {
    Problem problem;
    const bool error = diagnostic.severity == diag::Severity::Error;
    problem.severity = error ? Severity::Error : Severity::Warning;
    problem.kind = diag::shown_id(diagnostic);
    problem.message = diagnostic.message;
    if (diagnostic.span.valid()) {
        const diag::LineColumn place = sources.place(diagnostic.span.file, diagnostic.span.begin);
        problem.file = sources.name(diagnostic.span.file);
        problem.line = static_cast<int>(place.line);
        problem.column = static_cast<int>(place.column);
    }
    Diagnostics alone;
    alone.add(diagnostic);
    problem.text = diag::render(sources, alone, {});
    return problem;
}

}  // namespace

void report(model::Finding& finding, Outcome& outcome) {
    outcome.status = static_cast<Status>(finding.status);
    finding.diag.sort_by_place();
    for (const diag::Diagnostic& diagnostic : finding.diag.items()) {
        outcome.problems.push_back(problem_of(finding.sources, diagnostic));
    }
    for (const diag::Note& remark : finding.remarks) {
        Problem problem;
        problem.severity = Severity::Warning;
        problem.message = remark.message;
        problem.text = model::remark_text(finding, remark);
        outcome.problems.push_back(std::move(problem));
    }
    if (finding.unusable) report_unusable(*finding.unusable, outcome);
}

void report_unusable(const Error& error, Outcome& outcome) {
    outcome.status = Status::Unusable;
    Problem problem;
    problem.kind = model::error_id(error);
    problem.message = error.message;
    problem.text = model::error_line(error);
    outcome.problems.push_back(std::move(problem));
}

void report_fault(const char* what, Outcome& outcome) {
    outcome.status = Status::Fault;
    Problem problem;
    problem.message = fmt::format("internal fault: {}", what);
    problem.text = fmt::format("lemma: {}\n", problem.message);
    outcome.problems.push_back(std::move(problem));
}

}  // namespace lemma::api
