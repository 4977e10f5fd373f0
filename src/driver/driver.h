// driver/driver.h — the command line as a function: arguments in, exit status and texts out. main()
// prints them; the golden tests compare them (docs/decisions/golden-tests.md).
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "model/status.h"

namespace lemma::driver {

// What the output goes to: colours are for terminals only.
struct Terminal {
    bool out = false;
    bool err = false;
    bool no_colour = false;  // the user set NO_COLOR
    // Shows what a long run is at, in place of what it showed before; may be empty.
    std::function<void(const std::string&)> progress = {};
};

struct Outcome {
    int status = model::kGood;
    std::string out;
    std::string err;
};

// `args` without the program's name; `input` is what the file name `-` stands for.
Outcome run(const std::vector<std::string>& args, Terminal terminal, std::istream& input);

}  // namespace lemma::driver
