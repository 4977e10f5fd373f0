#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "driver/driver.h"

namespace {

bool write_all(const std::string& text, std::FILE* stream) {
    return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
           std::fflush(stream) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace lemma::driver;
    const char* no_colour = std::getenv("NO_COLOR");
    const Terminal terminal{.out = isatty(STDOUT_FILENO) != 0,
                            .err = isatty(STDERR_FILENO) != 0,
                            .no_colour = no_colour != nullptr && *no_colour != '\0'};
    const Outcome outcome = run({argv + 1, argv + argc}, terminal, std::cin);
    write_all(outcome.err, stderr);
    if (!write_all(outcome.out, stdout)) {
        write_all("lemma: cannot write to standard output\n", stderr);
        return kUnusable;
    }
    return outcome.status;
}
