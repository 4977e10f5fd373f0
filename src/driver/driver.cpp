// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "driver/arguments.h"
#include "driver/commands/command.h"

namespace lemma::driver {

namespace {

// The one place where exceptions of libraries end.
Outcome run_caught(const std::vector<std::string>& args,
                   const Terminal& terminal,
                   std::istream& input) {
    try {
        return run_line(args, all_commands(), terminal, input);
    } catch (const std::bad_alloc&) {
        return {.status = model::kUnusable, .err = "lemma: out of memory\n"};
    } catch (const std::exception& error) {
        return {.status = model::kFault,
                .err = fmt::format("lemma: internal fault: {}\n", error.what())};
    }
}

}  // namespace

Outcome run(const std::vector<std::string>& args, Terminal terminal, std::istream& input) {
    terminal.arguments = args;
    Outcome outcome = run_caught(args, terminal, input);
    if (terminal.progress) terminal.progress("");
    return outcome;
}

}  // namespace lemma::driver
