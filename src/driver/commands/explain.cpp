// SPDX-License-Identifier: Apache-2.0
#include "driver/explain/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diag/diagnostic.h"
#include "driver/commands/command.h"
#include "sonnx/rule.h"

namespace lemma::driver {

namespace {

class Explain final : public Command {
public:
    std::string name() const override { return "explain"; }
    std::string summary() const override { return "shows the page of an error"; }
    std::string group() const override { return kHelpCommands; }
    void declare(Arguments& arguments) override;
    Outcome run(Terminal terminal, std::istream& input) const override;

private:
    std::string kind_;
    bool json_ = false;
    Colour colour_ = Colour::Auto;
};

void Explain::declare(Arguments& arguments) {
    arguments.optional_word(
        "KIND", kind_, "the word in brackets at the end of a message; without it, all are listed");
    arguments.flag("--json", json_, "print one JSON document instead of text");
    declare_colour(arguments, colour_);
    arguments.example("lemma explain rank-mismatch", "What it means, an example, the way out.");
}

nlohmann::ordered_json page_json(const ErrorPage& page) {
    return {{"kind", page.kind}, {"summary", summary_of(page)}, {"markdown", page.text}};
}

// Most pages are about errors; the others say so.
std::string listed_summary(const ErrorPage& page) {
    const std::string summary = summary_of(page);
    constexpr std::string_view kUsual = "Error: ";
    return summary.starts_with(kUsual) ? summary.substr(kUsual.size()) : summary;
}

// The page of a rule of the safety profile; empty if there is no such rule.
std::string rule_page(std::string_view kind) {
    constexpr std::string_view kPrefix = "sonnx-";
    const sonnx::Rule* const rule =
        kind.starts_with(kPrefix) ? sonnx::find_rule(kind.substr(kPrefix.size())) : nullptr;
    if (!rule) return "";
    return fmt::format(
        "# {}\n\nA rule of the safety profile, {}: {}.\n\n{}\n\nIt comes from: {}.\n",
        kind,
        sonnx::severity_text(rule->severity),
        rule->title,
        rule->rationale,
        rule->origin);
}

Outcome Explain::run(Terminal terminal, std::istream&) const {
    const auto pages = error_pages();
    if (kind_.empty()) {
        auto list = nlohmann::ordered_json::array();
        std::string text;
        for (const ErrorPage& page : pages) {
            list.push_back(page_json(page));
            text += fmt::format("{:<24} {}\n", page.kind, listed_summary(page));
        }
        return {.status = model::kGood, .out = json_ ? list.dump(2) + "\n" : text};
    }
    std::string kind = kind_;  // as it is copied from a message
    std::erase_if(kind, [](char c) { return c == '[' || c == ']'; });
    const std::string rule = rule_page(kind);
    const auto written = std::ranges::find(pages, kind, &ErrorPage::kind);
    if (rule.empty() && written == pages.end()) {
        std::vector<std::string_view> kinds;
        for (const ErrorPage& page : pages) kinds.push_back(page.kind);
        const std::string_view nearest = diag::nearest_name(kind, kinds);
        return {.status = model::kUnusable,
                .err = fmt::format("lemma: there is no error `{}`{}\n",
                                   kind,
                                   nearest.empty() ? "; `lemma explain` lists all of them"
                                                   : fmt::format("; did you mean `{}`?", nearest))};
    }
    const ErrorPage found = rule.empty() ? *written : ErrorPage{.kind = kind, .text = rule};
    if (json_) return {.status = model::kGood, .out = page_json(found).dump(2) + "\n"};
    const bool colour = colour_ == Colour::Always ||
                        (colour_ == Colour::Auto && terminal.out && !terminal.no_colour);
    return {.status = model::kGood,
            .out = terminal_text(found.text, {.columns = terminal.width, .colour = colour})};
}

}  // namespace

std::unique_ptr<Command> explain_command() { return std::make_unique<Explain>(); }

}  // namespace lemma::driver
