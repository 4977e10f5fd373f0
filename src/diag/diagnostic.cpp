// SPDX-License-Identifier: Apache-2.0
#include "diag/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "diag/utf8.h"

namespace lemma::diag {
namespace {

std::string identity(const Diagnostic& diagnostic) {
    const Span span = diagnostic.span;
    return fmt::format("{}:{}:{}:{}:{}{}:{}\n{}",
                       span.file.value,
                       span.begin,
                       span.end,
                       static_cast<int>(diagnostic.severity),
                       static_cast<int>(diagnostic.kind),
                       diagnostic.code,
                       diagnostic.path,
                       diagnostic.message);
}

}  // namespace

const std::vector<KindInfo>& all_kinds() {
    static const std::vector<KindInfo> kKinds = {
#define LEMMA_KIND(name, id, summary) KindInfo{DiagKind::name, id, summary},
#include "diag/kinds.def"
#undef LEMMA_KIND
    };
    return kKinds;
}

const KindInfo& info(DiagKind kind) {
    const auto index = static_cast<size_t>(kind);
    LEMMA_CHECK(index < all_kinds().size());
    return all_kinds()[index];
}

std::string_view shown_id(const Diagnostic& diagnostic) {
    return diagnostic.code.empty() ? info(diagnostic.kind).id : std::string_view(diagnostic.code);
}

Report& Report::note(Span span, std::string message) {
    if (!diagnostic_) return *this;
    message = shortened(std::move(message), Diagnostics::kMaxTextBytes);
    diagnostic_->notes.push_back({.span = span, .message = std::move(message)});
    return *this;
}

Report& Report::did_you_mean(Span span, std::string_view replacement) {
    if (replacement.empty()) return *this;
    return note(fmt::format("did you mean `{}`?", replacement)).fix(span, std::string(replacement));
}

Report& Report::fix(Span span, std::string replacement) {
    if (!diagnostic_) return *this;
    diagnostic_->fixes.push_back({.span = span, .replacement = std::move(replacement)});
    return *this;
}

Report Diagnostics::error(Span span, DiagKind kind, std::string message) {
    Diagnostic diagnostic;
    diagnostic.kind = kind;
    diagnostic.span = span;
    diagnostic.message = std::move(message);
    return add(std::move(diagnostic));
}

Report Diagnostics::warning(Span span, DiagKind kind, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::Warning;
    diagnostic.kind = kind;
    diagnostic.span = span;
    diagnostic.message = std::move(message);
    return add(std::move(diagnostic));
}

Report Diagnostics::add(Diagnostic diagnostic) {
    const bool is_error = diagnostic.severity == Severity::Error;
    size_t& kept = is_error ? error_count_ : warning_count_;
    size_t& dropped = is_error ? dropped_errors_ : dropped_warnings_;

    diagnostic.message = shortened(std::move(diagnostic.message), kMaxTextBytes);
    std::string key = identity(diagnostic);
    if (seen_.contains(key)) return Report(nullptr);
    // Dropped diagnostics are not remembered, so a hostile file cannot fill the memory.
    if (max_errors_ != 0 && kept >= max_errors_) {
        ++dropped;
        return Report(nullptr);
    }
    ++kept;
    seen_.insert(std::move(key));
    items_.push_back(std::move(diagnostic));
    return Report(&items_.back());
}

void Diagnostics::sort_by_place() {
    std::stable_sort(items_.begin(), items_.end(), [](const Diagnostic& a, const Diagnostic& b) {
        if (a.span.file != b.span.file) return a.span.file < b.span.file;
        return a.span.begin < b.span.begin;
    });
}

}  // namespace lemma::diag
