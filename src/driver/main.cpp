#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "driver/driver.h"

namespace {

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

// One line on a terminal. It appears after a while and is rewritten a few times a second.
class Progress {
public:
    void operator()(const std::string& text) {
        const auto now = std::chrono::steady_clock::now();
        if (text.empty()) {
            if (shown_) write_all("\r\x1b[K", stderr);
            shown_ = false;
        } else if (now >= next_) {
            write_all("\r\x1b[K" + text, stderr);
            shown_ = true;
            next_ = now + std::chrono::milliseconds(200);
        }
    }

private:
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(1);
    bool shown_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    using namespace lemma::driver;
    const char* no_colour = std::getenv("NO_COLOR");
    Terminal terminal{.out = isatty(STDOUT_FILENO) != 0,
                      .err = isatty(STDERR_FILENO) != 0,
                      .no_colour = no_colour != nullptr && *no_colour != '\0',
                      .width = width_of_output(),
                      .executable = "/proc/self/exe"};
    if (terminal.err) terminal.progress = Progress();
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
