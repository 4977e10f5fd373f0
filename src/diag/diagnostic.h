// SPDX-License-Identifier: Apache-2.0
// diag/diagnostic.h — messages to users: kinds, severities, notes, fix-its, and the list that every
// step reports into. Nothing is printed here; see render.h.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "diag/span.h"

namespace lemma::diag {

enum class DiagKind : uint8_t {
#define LEMMA_KIND(name, id, summary) name,
#include "diag/kinds.def"
#undef LEMMA_KIND
};

struct KindInfo {
    DiagKind kind;
    std::string_view id;
    std::string_view summary;
};
const KindInfo& info(DiagKind kind);
const std::vector<KindInfo>& all_kinds();

enum class Severity : uint8_t { Warning, Error };

struct Note {
    Span span;  // invalid: a note without a place
    std::string message;
};

// Replaces the span by the text; an empty span inserts.
struct FixIt {
    Span span;
    std::string replacement;
};

struct Diagnostic {
    Severity severity = Severity::Error;
    DiagKind kind{};
    std::string code = {};  // id of a profile's rule, shown instead of the id of the kind
    Span span;              // invalid if the problem has no place in a text
    std::string path;       // a place inside a binary file, such as `graph/node[12]:Conv`
    std::string message;
    std::vector<Note> notes;
    std::vector<FixIt> fixes;
};

// The id in brackets after the message: `sonnx-GR3`, or the id of the kind.
std::string_view shown_id(const Diagnostic& diagnostic);

// Adds notes and fix-its to the diagnostic just reported. Chain calls; do not keep it.
class Report {
public:
    explicit Report(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
    Report& note(Span span, std::string message);
    Report& note(std::string message) { return note(Span{}, std::move(message)); }
    // "did you mean `{replacement}`?" as a note, and the edit. Does nothing for an empty text.
    Report& did_you_mean(Span span, std::string_view replacement);
    Report& fix(Span span, std::string replacement);

private:
    Diagnostic* diagnostic_;  // null if it was dropped
};

// Collects diagnostics in the order they are found. Repeats at the same place with the same kind
// and message are dropped. After `max_errors` errors further ones are counted, not kept, and
// likewise warnings; 0 is no limit. Texts longer than kMaxTextBytes are cut.
class Diagnostics {
public:
    static constexpr size_t kDefaultMaxErrors = 100;
    static constexpr size_t kMaxTextBytes = 4096;

    explicit Diagnostics(size_t max_errors = kDefaultMaxErrors) : max_errors_(max_errors) {}

    Report error(Span span, DiagKind kind, std::string message);
    Report warning(Span span, DiagKind kind, std::string message);
    Report add(Diagnostic diagnostic);

    const std::vector<Diagnostic>& items() const { return items_; }
    // The number of diagnostics kept.
    size_t error_count() const { return error_count_; }
    size_t warning_count() const { return warning_count_; }
    bool has_errors() const { return error_count_ > 0; }
    // The number of diagnostics beyond the limit.
    size_t dropped_errors() const { return dropped_errors_; }
    size_t dropped_warnings() const { return dropped_warnings_; }
    // True once the limit is reached: a step may stop early.
    bool full() const { return max_errors_ != 0 && error_count_ >= max_errors_; }

    // Sorts by file and position (stable), so that the output reads top to bottom. Diagnostics
    // without a place come last.
    void sort_by_place();

private:
    std::vector<Diagnostic> items_;
    std::unordered_set<std::string> seen_;  // place, kind and message of each item
    size_t max_errors_;
    size_t error_count_ = 0;
    size_t warning_count_ = 0;
    size_t dropped_errors_ = 0;
    size_t dropped_warnings_ = 0;
};

// The candidate most similar to `name`, if it is a likely slip: edit distance with transpositions
// at most a third of the length, where a wrong case costs less. Empty if there is none. The first
// of equally similar ones; never `name` itself.
std::string_view nearest_name(std::string_view name,
                              const std::vector<std::string_view>& candidates);

}  // namespace lemma::diag

namespace lemma {
using diag::DiagKind;
using diag::Diagnostics;
}  // namespace lemma
