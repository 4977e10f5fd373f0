// SPDX-License-Identifier: Apache-2.0
// golden_test [--update] [FILTER…]: runs the golden files whose paths contain one of the filters.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "support/golden_run.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerFile = 120;
constexpr int kUpdateRounds = 5;

struct Arguments {
    bool update = false;
    std::vector<std::string> filters;
};

// Shared between the tests and the process that monitors them.
struct Progress {
    size_t next = 0;  // the file being tested
    size_t passed = 0;
    size_t failed = 0;
};

void say(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

// Relative to golden/, or with `stdlib/` in front.
std::string name_of(const fs::path& path) {
    const std::string name = fs::relative(path, LEMMA_GOLDEN_DIR).generic_string();
    return name.starts_with("../") ? name.substr(3) : name;
}

void find_files(const fs::path& root, const Arguments& args, std::vector<fs::path>& files) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const fs::path& path = entry.path();
        if (!entry.is_regular_file() || path.extension() == ".out") continue;
        const bool wanted = args.filters.empty() ||
                            std::ranges::any_of(args.filters, [&](const std::string& filter) {
                                return name_of(path).find(filter) != std::string::npos;
                            });
        if (wanted && read_golden(path)) files.push_back(path);
    }
}

std::vector<fs::path> find_files(const Arguments& args) {
    std::vector<fs::path> files;
    find_files(LEMMA_GOLDEN_DIR, args, files);
    find_files(LEMMA_STDLIB_TESTS_DIR, args, files);
    std::ranges::sort(files);
    return files;
}

// Returns the differences. An update can move lines and their numbers, so it is repeated until
// nothing changes.
std::string test(const fs::path& path, bool update) {
    std::string report;
    for (int round = 0; round < (update ? kUpdateRounds : 1); ++round) {
        const GoldenFile file = *read_golden(path);
        const GoldenOutput output = run_golden(file);
        report = compare_golden(file, output);
        if (report.empty()) break;
        if (update) write_golden(updated_golden(file, output));
    }
    return report;
}

void test_from(Progress& progress, const std::vector<fs::path>& files, bool update) {
    while (progress.next < files.size()) {
        const fs::path& path = files[progress.next];
        ::alarm(kSecondsPerFile);
        const std::string report = test(path, update);
        ::alarm(0);
        if (!report.empty()) say(fmt::format("FAILED {}\n{}\n", name_of(path), report));
        ++(report.empty() ? progress.passed : progress.failed);
        ++progress.next;
    }
}

std::string describe_end(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("ended with status {}", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM) return fmt::format("took over {} s", kSecondsPerFile);
    return fmt::format("was killed by signal {}", WTERMSIG(status));
}

// The tests run in one child process, so that a crash counts as a failure of its file; a new child
// runs the rest.
void test_all(Progress& progress, const std::vector<fs::path>& files, bool update) {
    do {
        const pid_t child = ::fork();
        if (child == 0) {
            test_from(progress, files, update);
            std::exit(0);
        }
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) < 0) std::exit(2);
        if (status == 0) continue;
        const bool all = progress.next >= files.size();
        const std::string where = all ? "golden_test" : name_of(files[progress.next]);
        say(fmt::format("FAILED {}: {}\n\n", where, describe_end(status)));
        ++progress.failed;
        ++progress.next;
    } while (progress.next < files.size());
}

int run(const Arguments& args) {
    const std::vector<fs::path> files = find_files(args);
    void* shared = ::mmap(
        nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    Progress& progress = *new (shared) Progress;
    if (!files.empty()) test_all(progress, files, args.update);
    if (files.empty()) say("no golden file fits\n");
    say(fmt::format("{} passed, {} failed\n", progress.passed, progress.failed));
    return progress.failed == 0 && !files.empty() ? 0 : 1;
}

}  // namespace

}  // namespace lemma::testing

int main(int argc, char** argv) {
    lemma::testing::Arguments args;
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--update") {
            args.update = true;
        } else {
            args.filters.emplace_back(argv[i]);
        }
    }
    return lemma::testing::run(args);
}
