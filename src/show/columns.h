// SPDX-License-Identifier: Apache-2.0
// show/columns.h — text in columns as wide as their content.
#pragma once

#include <string>
#include <vector>

namespace lemma::show {

enum class Align { Left, Right };

class Columns {
public:
    explicit Columns(std::vector<Align> align) : align_(std::move(align)) {}

    // Missing cells are empty.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    // A line across all columns.
    void add_rule() { rows_.emplace_back(); }
    // The lines, without trailing spaces.
    std::string text() const;

private:
    std::vector<Align> align_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace lemma::show
