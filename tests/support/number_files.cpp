// SPDX-License-Identifier: Apache-2.0
#include "support/number_files.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/golden_file.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerFile = 120;

std::string name_of(const fs::path& path) {
    return fs::relative(path, LEMMA_STDLIB_TESTS_DIR).generic_string();
}

std::vector<fs::path> find_files(const std::vector<std::string>& filters) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(LEMMA_STDLIB_TESTS_DIR)) {
        const fs::path& path = entry.path();
        if (!entry.is_regular_file() || path.extension() != ".numbers") continue;
        const bool wanted =
            filters.empty() || std::ranges::any_of(filters, [&](const std::string& filter) {
                return name_of(path).find(filter) != std::string::npos;
            });
        if (wanted) files.push_back(path);
    }
    std::ranges::sort(files);
    return files;
}

void test_file(const fs::path& path, const NumberFileTest& test, NumberCounts& counts) {
    const auto cases = read_numbers(read_bytes(path));
    if (cases) return test(name_of(path), *cases, counts);
    say(fmt::format("FAILED {}:{}\n\n", name_of(path), cases.error().message));
    ++counts.failed;
}

std::string describe_end(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM) return fmt::format("took over {} s", kSecondsPerFile);
    return fmt::format("was killed by signal {}", WTERMSIG(status));
}

void watch_file(const fs::path& path, const NumberFileTest& test, NumberCounts& counts) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kSecondsPerFile);
        test_file(path, test, counts);
        std::exit(0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0) std::exit(2);
    if (status == 0) return;
    say(fmt::format("FAILED {}: {}\n\n", name_of(path), describe_end(status)));
    ++counts.failed;
}

}  // namespace

void say(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

NumberCounts test_number_files(const std::vector<std::string>& filters,
                               const NumberFileTest& test) {
    const std::vector<fs::path> files = find_files(filters);
    void* shared = ::mmap(
        nullptr, sizeof(NumberCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::exit(2);
    NumberCounts& counts = *new (shared) NumberCounts;
    for (const fs::path& path : files) watch_file(path, test, counts);
    if (files.empty()) {
        say("no file of numbers fits\n");
        ++counts.failed;
    }
    return counts;
}

}  // namespace lemma::testing
