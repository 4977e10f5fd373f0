// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "support/golden_run.h"

namespace lemma::testing {

namespace {

// Rewrites the CHECK lines of one file. The body is the file without them; positions are indices
// into the body, and a CHECK line at position p is above body[p].
class Updater {
public:
    Updater(const GoldenFile& file, std::vector<std::string> output)
        : file_(file), output_(std::move(output)) {
        const std::string name = file.path.filename().string();
        place_ =
            std::regex(std::regex_replace(name, std::regex(R"([.+])"), R"(\$&)") + R"(:(\d+):)");
        for (size_t i = 0; i < file.lines.size(); ++i) {
            body_index_.push_back(body_.size());
            if (!file.is_check(i + 1)) body_.push_back(file.lines[i]);
            if (i < file.header_end) header_end_ = body_.size();
        }
    }

    GoldenFile run() {
        const std::vector<size_t> positions = has_excerpts() ? at_the_end() : above_their_lines();
        GoldenFile result = file_;
        result.lines.clear();
        std::vector<size_t> check_line(output_.size());
        std::vector<size_t> body_line;  // one-based lines of the result
        size_t next = 0;
        for (size_t p = 0; p <= body_.size(); ++p) {
            while (next < output_.size() && positions[next] == p) {
                result.lines.emplace_back();
                check_line[next++] = result.lines.size();
            }
            body_line.push_back(result.lines.size() + 1);
            if (p < body_.size()) result.lines.push_back(body_[p]);
        }
        for (size_t i = 0; i < output_.size(); ++i) {
            const std::string text =
                has_excerpts() ? output_[i] : relative(output_[i], check_line[i], body_line);
            std::string line = indentation(positions[i]) + comment_ + "CHECK: " + text;
            line.erase(line.find_last_not_of(' ') + 1);
            result.lines[check_line[i] - 1] = line;
        }
        if (!output_.empty()) result.final_newline = true;
        return result;
    }

private:
    // Excerpts show line numbers in columns; such output is kept below the text.
    bool has_excerpts() const {
        static const std::regex kExcerpt(R"(^ *\d* *\|.*)");
        return std::ranges::any_of(
            output_, [](const std::string& line) { return std::regex_match(line, kExcerpt); });
    }

    std::vector<size_t> at_the_end() const {
        return std::vector<size_t>(output_.size(), body_.size());
    }

    std::vector<size_t> above_their_lines() const {
        std::vector<size_t> positions;
        size_t last = header_end_;
        for (const std::string& line : output_) {
            std::smatch m;
            const bool placed =
                std::regex_search(line, m, place_, std::regex_constants::match_continuous);
            if (placed) last = std::max(last, body_position(std::stoul(m[1])));
            positions.push_back(last);
        }
        return positions;
    }

    // The position of a one-based line of the current file; the end of the text counts as a line.
    size_t body_position(size_t line) const {
        return line >= 1 && line <= body_index_.size() ? body_index_[line - 1] : body_.size();
    }

    std::string relative(const std::string& text,
                         size_t check_line,
                         const std::vector<size_t>& body_line) const {
        std::string result;
        std::string rest = text;
        for (std::smatch m; std::regex_search(rest, m, place_);) {
            const size_t line = body_line[body_position(std::stoul(m[1]))];
            const long offset = static_cast<long>(line) - static_cast<long>(check_line);
            const std::string found = m[0];
            result += m.prefix().str() + found.substr(0, found.find(':')) +
                      fmt::format(":[[{:+}]]:", offset);
            rest = m.suffix().str();
        }
        return result + rest;
    }

    std::string indentation(size_t position) const {
        if (position >= body_.size()) return "";
        const std::string& line = body_[position];
        return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
    }

    const GoldenFile& file_;
    const std::vector<std::string> output_;
    const std::string comment_ = "# ";
    std::regex place_;                // `name:LINE:`
    std::vector<std::string> body_;   // the lines that are not CHECK lines
    std::vector<size_t> body_index_;  // by line of the file: the position of its next body line
    size_t header_end_ = 0;
};

}  // namespace

GoldenFile updated_golden(const GoldenFile& file, const GoldenOutput& output) {
    GoldenFile result = Updater(file, split_lines(file.out ? output.err : output.combined)).run();
    if (file.out) result.out = output.out;
    return result;
}

}  // namespace lemma::testing
