// SPDX-License-Identifier: Apache-2.0
// emit/c_text.h — pieces of C text: identifiers, types, literals, comments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace lemma::emit {

template <class List, class Item>
bool has(const List& list, const Item& item) {
    return std::ranges::find(list, item) != std::end(list);
}

struct CFile {
    std::string name;  // within the folder of the result
    std::string text;
};

// Makes C identifiers of any names: `t_conv1_w`. They are unique and short enough for every linker.
class CNames {
public:
    std::string make(std::string_view prefix, std::string_view name);

private:
    UniqueNames taken_;
};

// Whether the text is a C identifier that no header of the standard library uses.
bool is_identifier(std::string_view text);

// The text for a comment: without the end of a comment, trigraphs and line splices, and not long.
std::string comment_text(std::string_view text);

// The type of array elements: `float`, `int8_t`; 16-bit reals are stored as `uint16_t`.
std::string_view c_type(tensor::DType dtype);

// `t_x[1][3]`; an axis without elements counts as one, because C has no empty arrays.
std::string array_of(std::string_view name, const tensor::Shape& shape);

// Hexadecimal, so that no bit is lost. Infinities and NaN are macros of <math.h>.
std::string real_literal(double value, bool single);
std::string integer_literal(tensor::DType dtype, int64_t value);

// Appends lines with indentation.
class CLines {
public:
    explicit CLines(size_t depth = 0) : depth_(depth) {}

    void put(std::string_view line);
    // A line that begins a block, and the one that ends it.
    void open(std::string_view line);
    void close(std::string_view line = "}");
    // A line between two blocks: `} else {`
    void between(std::string_view line);
    // Lines that are indented already.
    void append(std::string_view lines) { text_ += lines; }
    // ACSL: `/*@ first;`, `  @ second;`, … `  @*/`
    void annotate(const std::vector<std::string>& clauses);
    size_t depth() const { return depth_; }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
    size_t depth_;
};

}  // namespace lemma::emit
