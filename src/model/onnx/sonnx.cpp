// Checks ONNX models against the safety profile.
#include <fmt/format.h>

#include <filesystem>

#include "base/version.h"
#include "model/onnx/model.h"
#include "onnx/write.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
#include "sonnx/report.h"
#include "sonnx/sha256.h"
#include "tensor/files/file_io.h"

namespace lemma::model {

namespace {

// Limit for the errors of the format's rules; the profile considers all of them.
constexpr size_t kMaxBaseErrors = 10'000;

enum class ReportForm : uint8_t { Markdown, Html };
Result<ReportForm> form_of(const std::string& path) {
    if (path.ends_with(".md")) return ReportForm::Markdown;
    if (path.ends_with(".html") || path.ends_with(".htm")) return ReportForm::Html;
    return std::unexpected(Error{
        fmt::format("the report `{}` has to end with .md or .html, which says its form", path)});
}

// Reports do not reveal the folders of their author.
std::string name_of(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

sonnx::Report begin_report(const OnnxModel& loaded,
                           const ModelFile& file,
                           const LoadOptions& options) {
    sonnx::Report report;
    report.file = name_of(file.path);
    report.tool = fmt::format("lemma {}", kVersion);
    report.hash = sonnx::sha256(*loaded.model.bytes);
    report.bytes = loaded.model.bytes->size();
    report.model = &loaded.model;
    if (options.profile.relax_broadcast)
        report.deviations.emplace_back("implicit broadcasting is listed only (--relax=broadcast)");
    if (options.profile.max_concat_inputs) {
        report.deviations.push_back(fmt::format("Concat may have {} inputs (--max-concat-inputs)",
                                                *options.profile.max_concat_inputs));
    }
    return report;
}

// Adds the problems that keep rules undecided.
void add_problems(const OnnxModel& loaded, const Diagnostics& base, sonnx::Report& report) {
    if (!loaded.imported.undecided.empty())
        report.problems.push_back(undecided_text(loaded.imported));
    for (const diag::Diagnostic& item : base.items()) {
        if (item.kind == DiagKind::NotSupported) report.problems.push_back(item.message);
    }
}

Result<void> write_fixed(const OnnxModel& loaded,
                         const sonnx::Subject& subject,
                         const std::string& path,
                         sonnx::Report& report,
                         Finding& finding) {
    if (subject.base.has_errors()) {
        finding.remarks.push_back(
            {{loaded.file, 0, 0},
             fmt::format("`{}` is not written: the model is not valid ONNX", path)});
        return {};
    }
    sonnx::Fixed fixed = sonnx::make_explicit(subject);
    const std::string bytes = onnx::write_model(fixed.model);
    LEMMA_TRY(tensor::write_file(path, bytes));
    for (const sonnx::Change& change : fixed.changes) {
        finding.remarks.push_back({{loaded.file, change.place.begin, change.place.end},
                                   fmt::format("fixed {}: {}", change.rule, change.message)});
    }
    report.fixed_file = name_of(path);
    report.fixed_hash = sonnx::sha256(bytes);
    report.changes = std::move(fixed.changes);
    return {};
}

}  // namespace

Result<void> check_sonnx(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    const ProfileOptions& profile = options.profile;
    auto form = ReportForm::Markdown;
    if (!profile.report.empty()) {
        LEMMA_TRY(form, form_of(profile.report));
    }
    Diagnostics base(kMaxBaseErrors);
    LEMMA_TRY(const OnnxModel loaded, load_onnx(file, options.check, {}, finding.sources, base));
    // Rules compare tensors, and the report has the digest of the file.
    LEMMA_TRY(tensor::hold_bytes(*loaded.model.bytes));
    if (options.check.data != DataMode::Ignore) check_onnx_data(loaded, base);
    sonnx::Subject subject{.model = loaded.model, .base = base};
    subject.relax_broadcast = profile.relax_broadcast;
    subject.max_concat_inputs = profile.max_concat_inputs.value_or(sonnx::kMaxConcatInputs);
    subject.composed = loaded.imported.program.has_value();
    if (subject.composed) subject.inferred = sonnx::inferred_types(*loaded.imported.program);

    sonnx::Report report = begin_report(loaded, file, options);
    report.results = sonnx::check(subject);
    sonnx::report(subject, report.results, loaded.file, finding.diag);
    add_problems(loaded, base, report);
    if (!profile.fix.empty()) {
        LEMMA_TRY(write_fixed(loaded, subject, profile.fix, report, finding));
    }
    finding.remarks.push_back(
        {{loaded.file, 0, 0},
         fmt::format("profile sonnx ({}): {}", sonnx::kReading, sonnx::conclusion(report))});
    finding.conformity = sonnx::report_json(report);
    if (sonnx::conclusion(report) != "conforms") finding.status = kWrong;
    if (profile.report.empty()) return {};
    return tensor::write_file(
        profile.report,
        form == ReportForm::Html ? sonnx::report_html(report) : sonnx::report_markdown(report));
}

}  // namespace lemma::model
