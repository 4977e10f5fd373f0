// SPDX-License-Identifier: Apache-2.0
// driver/driver.h — the command line as a function: arguments in, exit status and texts out. main()
// prints them; golden tests compare them (docs/decisions/golden-tests.md).
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "model/status.h"

namespace lemma::driver {

// The kind of output: colours are for terminals only.
struct Terminal {
    bool out = false;
    bool err = false;
    bool no_colour = false;  // the user set NO_COLOR
    bool quiet = false;      // the user asked for problems alone
    size_t width = 100;      // in columns, for the help
    // Shows the state of a long run and replaces the previous text; may be empty.
    std::function<void(const std::string&)> progress = {};
    // Print a line at once, for commands that run until they are stopped; may be empty.
    std::function<void(const std::string&)> out_line = {};
    std::function<void(const std::string&)> err_line = {};
    // For reports: the file of the running program, if it is `lemma`, and the words after its name.
    std::string executable = {};
    std::vector<std::string> arguments = {};
};

struct Outcome {
    int status = model::kGood;
    std::string out;
    std::string err;
};

// `args` excludes the program's name; `input` is the content of the file named `-`.
Outcome run(const std::vector<std::string>& args, Terminal terminal, std::istream& input);

}  // namespace lemma::driver
