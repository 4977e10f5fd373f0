// SPDX-License-Identifier: Apache-2.0
#include "support/golden_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

namespace lemma::testing {

namespace {

struct Directive {
    std::string name;  // RUN, EXIT or CHECK
    std::string text;
};

std::string trimmed(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<Directive> directive(const std::string& line) {
    for (const char* name : {"RUN", "EXIT", "CHECK"}) {
        for (const char* comment : {"# ", "#", "// ", ""}) {
            const std::string prefix = std::string(comment) + name + ":";
            const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
            if (line.compare(begin, prefix.size(), prefix) != 0) continue;
            std::string text = line.substr(begin + prefix.size());
            if (text.starts_with(' ')) text.erase(0, 1);
            text.erase(text.find_last_not_of(" \t\r") + 1);
            return Directive{name, text};
        }
    }
    return std::nullopt;
}

bool is_header(const std::string& line) {
    const std::string text = trimmed(line);
    return text.empty() || text.starts_with('#') || text.starts_with("//");
}

void read_directives(GoldenFile& file) {
    const bool anywhere = file.path.extension() == ".golden";
    const int usual_status = file.path.filename().string().starts_with("fail_") ? 1 : 0;
    bool header = true;
    for (size_t i = 0; i < file.lines.size(); ++i) {
        header = anywhere || (header && is_header(file.lines[i]));
        const auto found = directive(file.lines[i]);
        if (!found) continue;
        if (found->name == "CHECK") {
            file.checks.push_back({i + 1, found->text});
        } else if (header && found->name == "RUN") {
            file.runs.push_back({trimmed(found->text), usual_status});
            file.header_end = i + 1;
        } else if (header && !file.runs.empty()) {
            file.runs.back().status = std::stoi(found->text);
            file.header_end = i + 1;
        }
    }
}

}  // namespace

bool GoldenFile::is_check(size_t line) const {
    return std::ranges::any_of(checks, [&](const GoldenCheck& c) { return c.line == line; });
}

std::vector<std::string> GoldenFile::expected() const {
    static const std::regex kRelative(R"(\[\[(@|[+-]\d+)\]\])");
    std::vector<std::string> result;
    for (const GoldenCheck& check : checks) {
        std::string line;
        std::string rest = check.text;
        for (std::smatch m; std::regex_search(rest, m, kRelative);) {
            const long offset = m[1] == "@" ? 0 : std::stol(m[1]);
            line += m.prefix().str() + std::to_string(static_cast<long>(check.line) + offset);
            rest = m.suffix().str();
        }
        result.push_back(line + rest);
    }
    return result;
}

std::optional<GoldenFile> read_golden(const std::filesystem::path& path) {
    GoldenFile file;
    file.path = path;
    const std::string text = read_bytes(path);
    file.lines = split_lines(text);
    file.final_newline = text.empty() || text.ends_with('\n');
    read_directives(file);
    if (file.runs.empty()) return std::nullopt;
    if (std::filesystem::exists(file.out_path())) file.out = read_bytes(file.out_path());
    return file;
}

void write_golden(const GoldenFile& file) {
    std::string text;
    for (const std::string& line : file.lines) text += line + "\n";
    if (!file.final_newline && !text.empty()) text.pop_back();
    write_bytes(file.path, text);
    if (file.out) write_bytes(file.out_path(), *file.out);
}

std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> lines;
    size_t begin = 0;
    while (begin < text.size()) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream << bytes;
}

}  // namespace lemma::testing
