#include "driver/commands/command.h"

namespace lemma::driver {

void declare_colour(Arguments& arguments, Colour& colour) {
    const Choices<Colour> choices = {
        {"auto", Colour::Auto}, {"always", Colour::Always}, {"never", Colour::Never}};
    arguments.choice("--color", colour, choices, "colours; auto: on terminals only");
}

bool colour_errors(Colour colour, Terminal terminal) {
    if (colour == Colour::Auto) return terminal.err && !terminal.no_colour;
    return colour == Colour::Always;
}

std::vector<std::unique_ptr<Command>> all_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(check_command());
    commands.push_back(show_command());
    commands.push_back(run_command());
    commands.push_back(verify_command());
    commands.push_back(convert_command());
    commands.push_back(reference_command());
    commands.push_back(bench_command());
    commands.push_back(fmt_command());
    commands.push_back(ops_command());
    return commands;
}

}  // namespace lemma::driver
