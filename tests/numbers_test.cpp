// numbers_test [FILTER…]: computes what tests/stdlib/*/*.numbers expect of the operators of the
// standard library; of the files whose path has one of the filters in it, if there are any.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/golden_file.h"
#include "support/number_run.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerFile = 120;

// Shared between the processes that run the files and the one that watches them.
struct Counts {
    size_t passed = 0;
    size_t failed = 0;
};

void say(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

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

void test_file(const fs::path& path, Counts& counts) {
    const auto cases = read_numbers(read_bytes(path));
    if (!cases) {
        say(fmt::format("FAILED {}:{}\n\n", name_of(path), cases.error().message));
        ++counts.failed;
        return;
    }
    for (const NumberCase& test : *cases) {
        const std::string report = run_numbers(test);
        ++(report.empty() ? counts.passed : counts.failed);
        if (report.empty()) continue;
        say(fmt::format("FAILED {}:{}: {}\n{}\n", name_of(path), test.line, test.name, report));
    }
}

std::string describe_end(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM) return fmt::format("took over {} s", kSecondsPerFile);
    return fmt::format("was killed by signal {}", WTERMSIG(status));
}

// A process for each file, so that a crash is one failure and the rest is tested all the same.
void watch_file(const fs::path& path, Counts& counts) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kSecondsPerFile);
        test_file(path, counts);
        std::exit(0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0) std::exit(2);
    if (status == 0) return;
    say(fmt::format("FAILED {}: {}\n\n", name_of(path), describe_end(status)));
    ++counts.failed;
}

int run(const std::vector<std::string>& filters) {
    const std::vector<fs::path> files = find_files(filters);
    void* shared =
        ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    Counts& counts = *new (shared) Counts;
    for (const fs::path& path : files) watch_file(path, counts);
    if (files.empty()) say("no file of numbers fits\n");
    say(fmt::format("{} passed, {} failed\n", counts.passed, counts.failed));
    return counts.failed == 0 && !files.empty() ? 0 : 1;
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) { return lemma::testing::run({argv + 1, argv + argc}); }
