#include "driver/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "driver/arguments.h"
#include "driver/commands/command.h"

namespace lemma::driver {

namespace {

// `lemma help check` is `lemma check --help`.
std::vector<std::string> normalised(std::vector<std::string> args) {
    if (args.empty() || args.front() != "help") return args;
    args.erase(args.begin());
    args.resize(std::min<size_t>(args.size(), 1));
    args.emplace_back("--help");
    return args;
}

}  // namespace

Outcome run(const std::vector<std::string>& args, Terminal terminal, std::istream& input) {
    terminal.arguments = args;
    try {
        return run_line(normalised(args), all_commands(), terminal, input);
    } catch (const std::bad_alloc&) {
        return {.status = model::kUnusable, .err = "lemma: out of memory\n"};
    } catch (const std::exception& error) {
        return {.status = model::kFault,
                .err = fmt::format("lemma: internal fault: {}\n", error.what())};
    }
}

}  // namespace lemma::driver
