// SPDX-License-Identifier: Apache-2.0
// tests/support/golden_file.h — a test as a file: commands at the top, expected lines where they
// arise (house style, "Tests").
//
//     # RUN: lemma check --brief %s       %s this file, %S its folder, %t a scratch file
//     # EXIT: 2                           status of the RUN line above; default 1 in fail_*, else 0
//     # CHECK: lemma VERSION              the version of the product
//     # CHECK: x.sknd:[[+1]]:4: error: …  a line of the output; [[+1]] counts from the CHECK line
//
// The CHECK lines are all lines of stdout and stderr, in order. If a file NAME.out exists, stdout
// is compared with it, and the CHECK lines are those of stderr only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lemma::testing {

struct GoldenRun {
    std::string command;
    int status = 0;
};

struct GoldenCheck {
    size_t line = 0;   // one-based
    std::string text;  // as written
};

struct GoldenFile {
    std::filesystem::path path;
    std::vector<std::string> lines;
    bool final_newline = true;
    std::vector<GoldenRun> runs;
    std::vector<GoldenCheck> checks;
    size_t header_end = 0;           // index of the line after the last RUN or EXIT
    std::optional<std::string> out;  // the text of NAME.out

    std::filesystem::path out_path() const { return path.string() + ".out"; }
    bool is_check(size_t line) const;  // one-based
    // The lines that the CHECK lines expect, with line numbers filled in.
    std::vector<std::string> expected() const;
};

// Nothing if the first comment of the file has no RUN line (in a .golden file: no line has one).
std::optional<GoldenFile> read_golden(const std::filesystem::path& path);
void write_golden(const GoldenFile& file);

std::vector<std::string> split_lines(const std::string& text);
std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace lemma::testing
