// SPDX-License-Identifier: Apache-2.0
// driver/commands/command.h — the interface of commands: a name, arguments, and a run function. A
// new command is a file beside this one and a line in all_commands().
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "driver/arguments.h"
#include "driver/driver.h"
#include "model/finding.h"

namespace lemma::driver {

inline constexpr const char* kModelCommands = "Models";
inline constexpr const char* kCodeCommands = "Conversion and code";
inline constexpr const char* kAssuranceCommands = "Assurance";
inline constexpr const char* kLanguageCommands = "Language";
inline constexpr const char* kHelpCommands = "Help";

class Command {
public:
    virtual ~Command() = default;
    virtual std::string name() const = 0;
    virtual std::string summary() const = 0;
    // The heading under which `lemma --help` lists it.
    virtual std::string group() const { return kModelCommands; }
    // The arguments are read into this object.
    virtual void declare(Arguments& arguments) = 0;
    virtual Outcome run(Terminal terminal, std::istream& input) const = 0;
};

inline constexpr const char* kModelHelp =
    "a .sknd, .nnef or .onnx file, or a folder or archive with main.sknd or graph.nnef";

enum class Colour { Auto, Always, Never };
void declare_colour(Arguments& arguments, Colour& colour);
// Whether to colour the text for stderr.
bool colour_errors(Colour colour, Terminal terminal);

// How a command reports the problems of its model.
struct ProblemStyle {
    bool json = false, brief = false;
    Colour colour = Colour::Auto;
};
void declare_problem_style(Arguments& arguments, ProblemStyle& style);
Outcome problems_of(model::Finding finding, const ProblemStyle& style, Terminal terminal);

std::unique_ptr<Command> check_command();
std::unique_ptr<Command> show_command();
std::unique_ptr<Command> view_command();
std::unique_ptr<Command> diff_command();
std::unique_ptr<Command> run_command();
std::unique_ptr<Command> verify_command();
std::unique_ptr<Command> serve_command();
std::unique_ptr<Command> convert_command();
std::unique_ptr<Command> extract_command();
std::unique_ptr<Command> simplify_command();
std::unique_ptr<Command> merge_command();
std::unique_ptr<Command> compile_command();
std::unique_ptr<Command> certify_command();
std::unique_ptr<Command> reference_command();
std::unique_ptr<Command> prove_command();
std::unique_ptr<Command> bench_command();
std::unique_ptr<Command> fmt_command();
std::unique_ptr<Command> lsp_command();
std::unique_ptr<Command> ops_command();
std::unique_ptr<Command> new_command();
std::unique_ptr<Command> test_command();
std::unique_ptr<Command> explain_command();
std::unique_ptr<Command> help_command();
std::unique_ptr<Command> completion_command();
std::unique_ptr<Command> man_command();

// In the order of the help.
std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace lemma::driver
