// SPDX-License-Identifier: Apache-2.0
#include "driver/commands/command.h"

#include <fmt/format.h>

#include "diag/render.h"
#include "model/files.h"

namespace lemma::driver {

void declare_colour(Arguments& arguments, Colour& colour) {
    const Choices<Colour> choices = {
        {"auto", Colour::Auto}, {"always", Colour::Always}, {"never", Colour::Never}};
    const Arguments::Group group(arguments, "Report");
    arguments.choice("--color", colour, choices, "use colours; auto: on terminals only (auto)");
}

bool colour_errors(Colour colour, Terminal terminal) {
    if (colour == Colour::Auto) return terminal.err && !terminal.no_colour;
    return colour == Colour::Always;
}

void declare_problem_style(Arguments& arguments, ProblemStyle& style) {
    const Arguments::Group group(arguments, "Report");
    arguments.flag("--brief", style.brief, "print one line per diagnostic, without excerpts");
    arguments.flag("--json", style.json, "print diagnostics as one JSON document");
    declare_colour(arguments, style.colour);
}

Outcome problems_of(model::Finding finding, const ProblemStyle& style, Terminal terminal) {
    finding.diag.sort_by_place();
    Outcome outcome{.status = finding.status};
    if (style.json) {
        std::vector<model::Finding> findings;
        findings.push_back(std::move(finding));
        outcome.out = model::as_json(findings);
    } else if (finding.unusable) {
        outcome.err = model::error_line(*finding.unusable);
    } else {
        const bool colour = colour_errors(style.colour, terminal);
        outcome.err =
            diag::render(finding.sources, finding.diag, {.brief = style.brief, .colour = colour}) +
            model::remarks_text(finding);
    }
    return outcome;
}

std::vector<std::unique_ptr<Command>> all_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(check_command());
    commands.push_back(show_command());
    commands.push_back(view_command());
    commands.push_back(diff_command());
    commands.push_back(run_command());
    commands.push_back(verify_command());
    commands.push_back(bench_command());
    commands.push_back(serve_command());
    commands.push_back(convert_command());
    commands.push_back(extract_command());
    commands.push_back(simplify_command());
    commands.push_back(merge_command());
    commands.push_back(compile_command());
    commands.push_back(reference_command());
    commands.push_back(certify_command());
    commands.push_back(prove_command());
    commands.push_back(fmt_command());
    commands.push_back(lsp_command());
    commands.push_back(ops_command());
    commands.push_back(new_command());
    commands.push_back(test_command());
    commands.push_back(explain_command());
    commands.push_back(help_command());
    commands.push_back(completion_command());
    commands.push_back(man_command());
    return commands;
}

}  // namespace lemma::driver
