// SPDX-License-Identifier: Apache-2.0
#include "prove/provers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <string_view>

#include "prove/process.h"

namespace lemma::prove {

namespace {

constexpr double kSeconds = 120;  // for a question about a version, on a busy machine

struct Tool {
    std::string_view name;     // in messages and reports
    std::string_view program;  // on PATH
    std::string_view package;  // of Debian
};
constexpr Tool kFramaC = {"Frama-C", "frama-c", "frama-c-base"};
constexpr Tool kWhy3 = {"Why3", "why3", "why3"};
constexpr Tool kZ3 = {"Z3", "z3", "z3"};
// CVC4 answers quickly if it cannot prove a goal; Z3 often needs all of its time. So it is first.
constexpr Tool kCvc4 = {"CVC4", "cvc4", "cvc4"};
constexpr Tool kCvc5 = {"CVC5", "cvc5", "cvc5"};

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// The part of a version line that begins with a digit: `Z3 version 4.8.12 - 64 bit` → `4.8.12`.
std::string number_in(std::string_view line, bool rest) {
    const size_t begin = line.find_first_of("0123456789");
    if (begin == std::string_view::npos) return std::string(line);
    line = line.substr(begin);
    return std::string(rest ? line : line.substr(0, line.find_first_of(" \t,")));
}

// The number follows the word `version` where a line has it, since `CVC4` has a digit as well.
Result<std::string> version_of(const Tool& tool, const char* option) {
    LEMMA_TRY(const ProcessResult done,
              run_process({std::string(tool.program), option}, {.seconds = kSeconds}));
    std::string_view line = first_line(done.output);
    if (done.status != 0 || line.empty()) {
        return std::unexpected(Error{fmt::format(
            "`{} {}` failed: {}", tool.program, option, line.empty() ? "no output" : line)});
    }
    if (const size_t word = line.find("version"); word != std::string_view::npos) {
        line = line.substr(word);
    }
    return fmt::format("{} {}", tool.name, number_in(line, tool.program == kFramaC.program));
}

std::unexpected<Error> missing(const std::vector<Tool>& tools) {
    std::vector<std::string_view> names;
    std::vector<std::string_view> packages;
    for (const Tool& tool : tools) {
        names.push_back(tool.program);
        packages.push_back(tool.package);
    }
    return std::unexpected(Error{
        fmt::format("`{}` {} not found; a proof needs Frama-C, Why3, Z3 and CVC4. On Debian and "
                    "Ubuntu: apt install {}",
                    fmt::join(names, "`, `"),
                    names.size() == 1 ? "is" : "are",
                    fmt::join(packages, " "))});
}

// Why3 finds the provers on PATH and describes them in a file.
Result<void> configure(Provers& found, const std::vector<Tool>& provers) {
    LEMMA_TRY(const ProcessResult done,
              run_process({"why3", "config", "detect"},
                          {.environment = {"WHY3CONFIG=" + found.why3_config, "LC_ALL=C"},
                           .seconds = kSeconds}));
    if (done.stopped) return {};
    if (done.status != 0) {
        return std::unexpected(Error{fmt::format("`why3 config detect` failed:\n{}", done.output)});
    }
    for (const Tool& tool : provers) {
        if (done.output.contains(fmt::format("Found prover {} ", tool.name))) continue;
        return std::unexpected(Error{
            fmt::format("Why3 does not accept `{}` on this machine; `why3 config detect` says:\n{}",
                        tool.program,
                        done.output)});
    }
    return {};
}

}  // namespace

Result<Provers> find_provers(const std::string& folder) {
    const bool newer = find_program(std::string(kCvc4.program)).empty() &&
                       !find_program(std::string(kCvc5.program)).empty();
    const std::vector<Tool> provers = {newer ? kCvc5 : kCvc4, kZ3};
    std::vector<Tool> lacking;
    for (const Tool& tool : {kFramaC, kWhy3, provers[1], provers[0]}) {
        if (find_program(std::string(tool.program)).empty()) lacking.push_back(tool);
    }
    if (!lacking.empty()) return missing(lacking);
    Provers found;
    found.frama_c = find_program(std::string(kFramaC.program));
    found.why3_config = folder + "/why3.conf";
    LEMMA_TRY(std::string version, version_of(kFramaC, "-version"));
    found.versions.push_back(std::move(version));
    for (const Tool& tool : provers) {
        found.provers.emplace_back(tool.program);
        LEMMA_TRY(std::string number, version_of(tool, "--version"));
        found.versions.push_back(std::move(number));
    }
    LEMMA_TRY(std::string why3, version_of(kWhy3, "--version"));
    found.versions.push_back(std::move(why3));
    LEMMA_TRY(configure(found, provers));
    return found;
}

}  // namespace lemma::prove
