// SPDX-License-Identifier: Apache-2.0
#include "support/golden_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/version.h"
#include "driver/driver.h"

namespace lemma::testing {

namespace {

namespace fs = std::filesystem;

// The paths that a command may name, and a temporary scratch folder. Commands run in the folder of
// the file and see short paths: the layout of JSON depends on their length.
class Places {
public:
    explicit Places(const fs::path& file) : file_(file), before_(fs::current_path()) {
        scratch_ = fs::temp_directory_path() / fmt::format("lemma-golden-{:08}", ::getpid());
        fs::create_directories(scratch_);
        fs::current_path(file_.parent_path());
    }
    ~Places() {
        fs::current_path(before_);
        fs::remove_all(scratch_);
    }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    std::string expand(std::string word) const {
        replace(word, "%s", file_.filename().string());
        replace(word, "%S/", "");
        replace(word, "%S", ".");
        replace(word, "%t", (scratch_ / file_.filename()).string());
        return word;
    }
    // The output as golden files expect it: without the folders of this machine, and with the word
    // VERSION for the version.
    std::string shorten(std::string text) const {
        for (const fs::path& folder : {scratch_, file_.parent_path()}) {
            replace(text, folder.string() + "/", "");
            replace(text, folder.string(), ".");
        }
        replace(text, fmt::format("lemma {}", kVersion), "lemma VERSION");
        replace(text, fmt::format("\"version\": \"{}\"", kVersion), "\"version\": \"VERSION\"");
        return text;
    }

private:
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
            text.replace(at, from.size(), to);
        }
    }
    fs::path file_;
    fs::path before_;
    fs::path scratch_;
};

// Spaces separate words, single quotes group them.
std::vector<std::string> split_words(const std::string& command) {
    std::vector<std::string> words;
    bool inside = false, quoted = false;
    for (const char c : command) {
        if (c == '\'') {
            quoted = !quoted;
            if (quoted && !inside) words.emplace_back();
            inside = true;
        } else if (c == ' ' && !quoted) {
            inside = false;
        } else {
            if (!inside) words.emplace_back();
            inside = true;
            words.back() += c;
        }
    }
    return words;
}

// Runs `lemma …` in this process, and the two helpers `cp` and `cat`; `< FILE` is standard input.
driver::Outcome execute(std::vector<std::string> words) {
    std::string input;
    if (words.size() >= 2 && words[words.size() - 2] == "<") {
        input = read_bytes(words.back());
        words.resize(words.size() - 2);
    }
    if (!words.empty() && words[0] == "lemma") {
        std::istringstream stream(input);
        return driver::run({words.begin() + 1, words.end()}, driver::Terminal{}, stream);
    }
    if (words.size() == 3 && words[0] == "cp") {
        fs::copy_file(words[1], words[2], fs::copy_options::overwrite_existing);
        return {};
    }
    if (words.size() == 2 && words[0] == "cat") return {.status = 0, .out = read_bytes(words[1])};
    return {.status = 127, .err = "golden_test: a RUN line is `lemma …`, `cp A B` or `cat A`\n"};
}

}  // namespace

GoldenOutput run_golden(const GoldenFile& file) {
    const Places places(file.path);
    GoldenOutput output;
    for (const GoldenRun& run : file.runs) {
        std::vector<std::string> words = split_words(run.command);
        for (std::string& word : words) word = places.expand(word);
        const driver::Outcome outcome = execute(words);
        const std::string out = places.shorten(outcome.out);
        const std::string err = places.shorten(outcome.err);
        output.out += out;
        output.err += err;
        output.combined += out + err;
        if (outcome.status != run.status) {
            output.troubles.push_back(fmt::format(
                "exit status {}, expected {}: {}", outcome.status, run.status, run.command));
        }
    }
    return output;
}

std::string compare_golden(const GoldenFile& file, const GoldenOutput& output) {
    std::string report;
    for (const std::string& trouble : output.troubles) report += trouble + "\n";
    const auto expected = file.expected();
    const auto actual = split_lines(file.out ? output.err : output.combined);
    if (expected != actual) report += diff_lines(expected, actual);
    if (file.out && *file.out != output.out) {
        report += fmt::format("{}:\n{}",
                              file.out_path().filename().string(),
                              diff_lines(split_lines(*file.out), split_lines(output.out)));
    }
    return report;
}

std::string diff_lines(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual) {
    // common[i][j]: length of the longest common subsequence of expected[i:] and actual[j:].
    const size_t n = expected.size(), m = actual.size();
    if (n * m > 4'000'000) return fmt::format("  {} lines expected, {} printed\n", n, m);
    std::vector<std::vector<uint32_t>> common(n + 1, std::vector<uint32_t>(m + 1));
    for (size_t i = n; i-- > 0;) {
        for (size_t j = m; j-- > 0;) {
            common[i][j] = expected[i] == actual[j] ? common[i + 1][j + 1] + 1
                                                    : std::max(common[i + 1][j], common[i][j + 1]);
        }
    }
    std::string text;
    for (size_t i = 0, j = 0; i < n || j < m;) {
        if (i < n && j < m && expected[i] == actual[j]) {
            text += "    " + expected[i++] + "\n";
            ++j;
        } else if (j == m || (i < n && common[i + 1][j] >= common[i][j + 1])) {
            text += "  - " + expected[i++] + "\n";
        } else {
            text += "  + " + actual[j++] + "\n";
        }
    }
    return text;
}

}  // namespace lemma::testing
