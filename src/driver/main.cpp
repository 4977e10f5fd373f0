// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "driver/driver.h"
#include "driver/progress.h"

namespace {

using lemma::driver::ProgressLine;

bool write_all(const std::string& text, std::FILE* stream) {
    return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
           std::fflush(stream) == 0;
}

// Of the terminal; without one, the width of our documents.
size_t width_of_output() {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : lemma::driver::Terminal{}.width;
}

// Rewrites a line on stderr.
std::function<void(const std::string&)> progress_line() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    ProgressLine::Options options;
    if (known) options.columns = size.ws_col;
    const auto line = std::make_shared<ProgressLine>(
        [](const std::string& text) { write_all(text, stderr); }, options);
    return [line](const std::string& text) { line->set(text); };
}

}  // namespace

int main(int argc, char** argv) {
    using namespace lemma::driver;
    const char* no_colour = std::getenv("NO_COLOR");
    Terminal terminal{.out = isatty(STDOUT_FILENO) != 0,
                      .err = isatty(STDERR_FILENO) != 0,
                      .no_colour = no_colour != nullptr && *no_colour != '\0',
                      .width = width_of_output(),
                      .executable = "/proc/self/exe"};
    if (terminal.err) terminal.progress = progress_line();
    terminal.out_line = [](const std::string& line) { write_all(line + "\n", stdout); };
    terminal.err_line = [](const std::string& line) { write_all(line + "\n", stderr); };
    const Outcome outcome = run({argv + 1, argv + argc}, terminal, std::cin);
    write_all(outcome.err, stderr);
    if (!write_all(outcome.out, stdout)) {
        write_all("lemma: cannot write to standard output\n", stderr);
        return lemma::model::kUnusable;
    }
    return outcome.status;
}
