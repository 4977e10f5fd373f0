// SPDX-License-Identifier: Apache-2.0
#include "prove/wp_output.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace lemma::prove {

namespace {

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Removes the prefix, if the text has it.
bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::optional<int64_t> take_number(std::string_view& text) {
    text = trimmed(text);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

// The times in `Valid (Qed:20ms) (1.9s) (1108464)`: the largest one in seconds. Numbers without a
// unit are steps of a prover.
double slowest_in(std::string_view text) {
    double slowest = 0;
    for (size_t open = text.find('('); open != std::string_view::npos;
         open = text.find('(', open + 1)) {
        std::string_view part = text.substr(open + 1);
        part = part.substr(0, part.find(')'));
        if (part.starts_with("Qed:")) continue;
        double number = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (error != std::errc()) continue;
        const std::string_view unit(end, static_cast<size_t>(part.data() + part.size() - end));
        const double seconds = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 0;
        slowest = std::max(slowest, number * seconds);
    }
    return slowest;
}

using ByProver = std::map<std::string, int64_t>;

// `[Z3 4.8.12] Goal typed_n0_ensures : Valid (20ms)`; newer versions leave out the word Goal for
// goals that are not proved.
void read_goal(std::string_view line, WpOutput& output, ByProver& by) {
    std::string_view prover;
    if (take(line, "[")) {
        const size_t close = line.find("] ");
        if (close == std::string_view::npos) return;
        prover = line.substr(0, std::min(line.find(' '), close));
        line.remove_prefix(close + 2);
        if (!take(line, "Goal ") && !line.starts_with("typed_")) return;
    } else if (!take(line, "Goal ")) {
        return;
    }
    const size_t end = line.find(' ');
    const std::string_view name = line.substr(0, end);
    const std::string_view verdict = end == std::string_view::npos ? "" : line.substr(end);
    if (trimmed(verdict).starts_with(": Valid")) {
        output.slowest = std::max(output.slowest, slowest_in(verdict));
        ++by[std::string(prover)];
    } else {
        output.unproved.emplace_back(name);
    }
}

// `  Z3 4.8.12:       5  (300ms-720ms-1s)` in the summary.
void read_prover(std::string_view line, WpOutput& output) {
    line = trimmed(line);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = line.substr(0, line.find_first_of(" :"));
    std::string_view rest = line.substr(colon + 1);
    const auto count = take_number(rest);
    if (!name.empty() && count && *count > 0) output.by[std::string(name)] += *count;
}

}  // namespace

WpOutput read_wp_output(std::string_view text) {
    WpOutput output;
    ByProver by;
    bool summary = false;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (line.contains("User Error:") || line.contains("Frama-C aborted") ||
            line.contains("internal error") || line.contains("annot-error")) {
            output.errors.emplace_back(line);
        } else if (line.contains("Warning:")) {
            output.warnings.emplace_back(line);
        } else if (take(line, "[wp] Proved goals:")) {
            const auto proved = take_number(line);
            line = trimmed(line);
            const auto goals = take(line, "/") ? take_number(line) : std::nullopt;
            summary = output.complete = proved && goals;
            output.proved = proved.value_or(0);
            output.goals = goals.value_or(0);
        } else if (take(line, "[wp] ")) {
            read_goal(line, output, by);
            summary = false;
        } else if (summary && line.starts_with("  ")) {
            read_prover(line, output);
        }
    }
    // The summary leaves out goals that WP decides by the control flow alone. Newer versions do not
    // name goals that are proved.
    int64_t named = 0;
    for (const auto& [prover, count] : by) named += count;
    if (output.complete && named == output.proved) output.by = std::move(by);
    return output;
}

}  // namespace lemma::prove
