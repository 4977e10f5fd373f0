// SPDX-License-Identifier: Apache-2.0
// edit/summary.h — what the commands say about models before and after: sizes, and ports as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program/program.h"

namespace lemma::edit {

struct Size {
    int64_t operations = 0;  // of the main graph; a compound counts once
    int64_t variables = 0;   // that the graph reads
    int64_t bytes = 0;       // of these variables, as far as their shapes are known
};
Size size_of(const ir::Program& program);

// `x: f32[1,3]`; packs as `xs: f32[2]..(3)`.
std::vector<std::string> port_texts(const ir::Program& program, const std::vector<ir::Port>& ports);

// The number of bytes of the tensor; 0 if its extents are not all known, or for strings.
int64_t bytes_of(const ir::Program& program, const ir::Tensor& tensor);

// An error if writing `out` could change one of the models.
Result<void> check_apart(const std::string& out, const std::vector<std::string>& models);

}  // namespace lemma::edit
