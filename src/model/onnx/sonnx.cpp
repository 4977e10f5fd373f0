// SPDX-License-Identifier: Apache-2.0
// Checks ONNX models against the safety profile.
#include <fmt/format.h>

#include <filesystem>

#include "base/sha256.h"
#include "base/version.h"
#include "diag/utf8.h"
#include "model/onnx/model.h"
#include "onnx/write.h"
#include "sonnx/check.h"
#include "sonnx/fix.h"
#include "sonnx/report/report.h"
#include "sonnx/report/trace.h"
#include "tensor/files/file_io.h"

namespace lemma::model {

namespace {

// Limit for the errors of the format's rules; the profile considers all of them.
constexpr size_t kMaxBaseErrors = 10'000;

using Write = std::string (*)(const sonnx::Report&);

// The writer that the name of a file asks for.
Result<Write> writer_of(std::string_view what,
                        const std::string& path,
                        const std::vector<std::pair<std::string_view, Write>>& writers) {
    std::string endings;
    for (const auto& [ending, write] : writers) {
        if (path.ends_with(ending)) return write;
        if (!endings.empty()) endings += ending == writers.back().first ? " or " : ", ";
        endings += ending;
    }
    return std::unexpected(Error{
        fmt::format("the {} `{}` has to end with {}, which says its form", what, path, endings)});
}
Result<Write> report_writer(const std::string& path) {
    return writer_of("report",
                     path,
                     {{".md", sonnx::report_markdown},
                      {".html", sonnx::report_html},
                      {".json", sonnx::report_json}});
}
Result<Write> trace_writer(const std::string& path) {
    return writer_of("trace", path, {{".json", sonnx::trace_json}, {".csv", sonnx::trace_csv}});
}

// Reports do not reveal the folders of their author.
std::string name_of(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

// The words of the command line, without folders: `--report=/tmp/a.md` is `--report=a.md`.
std::vector<std::string> words_without_folders(const std::vector<std::string>& words) {
    std::vector<std::string> result;
    for (const std::string& word : words) {
        const size_t equals = word.starts_with("-") ? word.find('=') : std::string::npos;
        const size_t value = equals == std::string::npos ? 0 : equals + 1;
        const size_t slash = word.rfind('/');
        const bool has_folder = slash != std::string::npos && slash >= value;
        result.push_back(has_folder ? word.substr(0, value) + word.substr(slash + 1) : word);
    }
    return result;
}

sonnx::Tool tool_of(const ProfileOptions& profile) {
    sonnx::Tool tool{.name = fmt::format("lemma {}", kVersion)};
    tool.command = words_without_folders(profile.command);
    if (profile.executable.empty()) return tool;
    if (const auto bytes = tensor::read_file(profile.executable)) tool.hash = sha256(*bytes);
    return tool;
}

sonnx::Report begin_report(const OnnxModel& loaded,
                           const ModelFile& file,
                           const ProfileOptions& profile) {
    sonnx::Report report;
    report.file = name_of(file.path);
    report.tool = tool_of(profile);
    report.hash = sha256(*loaded.model.bytes);
    report.bytes = loaded.model.bytes->size();
    if (profile.relax_broadcast)
        report.deviations.emplace_back(
            "Implicit broadcasting is listed only (`--relax=broadcast`).");
    if (profile.max_concat_inputs) {
        report.deviations.push_back(fmt::format(
            "Concat may have {} inputs (`--max-concat-inputs`).", *profile.max_concat_inputs));
    }
    return report;
}

constexpr int64_t kMaxEvidenceBytes = int64_t{1} << 30;

// Evidence about another model is refused.
Result<void> check_subject(std::string_view command,
                           const sonnx::EvidenceFile& file,
                           const std::string& hash,
                           sonnx::Report& report) {
    if (hash == report.hash) return {};
    if (hash.empty()) {
        report.deviations.push_back(
            fmt::format("`{}` does not name the SHA-256 of its model.", file.name));
        return {};
    }
    return std::unexpected(
        Error{fmt::format("`{}` is about the model with SHA-256 {}, but this one has {}; run "
                          "`lemma {}` on this model",
                          file.name,
                          diag::printable(diag::shortened(hash, 80)),
                          report.hash,
                          command)});
}

// Reads the files of other commands.
Result<void> read_evidence(const ProfileOptions& profile, sonnx::Report& report) {
    std::string text;
    const auto read = [&](const std::string& path) -> Result<sonnx::EvidenceFile> {
        LEMMA_TRY(text, tensor::read_file(path, tensor::FileKind::Regular, kMaxEvidenceBytes));
        return sonnx::EvidenceFile{name_of(path), sha256(text)};
    };
    if (!profile.proofs.empty()) {
        LEMMA_TRY(sonnx::EvidenceFile file, read(profile.proofs));
        LEMMA_TRY(report.proofs, sonnx::read_proofs(std::move(file), text));
        LEMMA_TRY(check_subject("prove", report.proofs->file, report.proofs->model_hash, report));
    }
    if (!profile.tests.empty()) {
        LEMMA_TRY(sonnx::EvidenceFile file, read(profile.tests));
        LEMMA_TRY(report.tests, sonnx::read_tests(std::move(file), text));
    }
    if (!profile.certificate.empty()) {
        LEMMA_TRY(sonnx::EvidenceFile file, read(profile.certificate));
        LEMMA_TRY(report.certificate, sonnx::read_certificate(std::move(file), text));
        LEMMA_TRY(check_subject(
            "certify", report.certificate->file, report.certificate->model_hash, report));
    }
    if (!profile.certificate_text.empty()) {
        // A model that cannot be certified can be checked.
        auto made = sonnx::read_certificate({"lemma certify", sha256(profile.certificate_text)},
                                            profile.certificate_text);
        if (made) report.certificate = std::move(*made);
        if (!made) report.problems.emplace_back("ranges and errors: the model cannot be certified");
    }
    return {};
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
    report.fixed_hash = sha256(bytes);
    report.changes = std::move(fixed.changes);
    return {};
}

}  // namespace

Result<void> check_sonnx(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    const ProfileOptions& profile = options.profile;
    Write write_report = nullptr, write_trace = nullptr;
    if (!profile.report.empty()) {
        LEMMA_TRY(write_report, report_writer(profile.report));
    }
    if (!profile.trace.empty()) {
        LEMMA_TRY(write_trace, trace_writer(profile.trace));
    }
    Diagnostics base(kMaxBaseErrors);
    LEMMA_TRY(const OnnxFile onnx, open_onnx(file));
    LEMMA_TRY(const OnnxModel loaded,
              load_onnx(file, onnx, options.check, {}, {}, finding.sources, base));
    // Rules compare tensors, and the report has the digest of the file.
    LEMMA_TRY(tensor::hold_bytes(*loaded.model.bytes));
    if (options.check.data != DataMode::Ignore) check_onnx_data(loaded, base);
    sonnx::Subject subject{.model = loaded.model, .base = base};
    subject.relax_broadcast = profile.relax_broadcast;
    subject.max_concat_inputs = profile.max_concat_inputs.value_or(sonnx::kMaxConcatInputs);
    subject.composed = loaded.imported.program.has_value();
    if (subject.composed) subject.inferred = sonnx::inferred_types(*loaded.imported.program);
    sonnx::add_unchanged_types(loaded.model, subject.inferred);

    sonnx::Report report = begin_report(loaded, file, profile);
    LEMMA_TRY(read_evidence(profile, report));
    report.subject = &subject;
    report.results = sonnx::check(subject);
    report.contents = sonnx::contents_of(subject);
    if (report.certificate) sonnx::apply_certificate(*report.certificate, report.contents);
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
    if (write_report) {
        LEMMA_TRY(tensor::write_file(profile.report, write_report(report)));
    }
    if (write_trace) {
        LEMMA_TRY(tensor::write_file(profile.trace, write_trace(report)));
    }
    return {};
}

}  // namespace lemma::model
