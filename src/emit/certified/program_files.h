// SPDX-License-Identifier: Apache-2.0
// emit/certified/program_files.h — the files around the functions of a model: its header, weights,
// an example program and a Makefile.
#pragma once

#include <string>
#include <vector>

#include "emit/c_text.h"
#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::emit {

// An array of the C program.
struct CArray {
    std::string name;    // `t_x`
    std::string tensor;  // its name in the model
    tensor::DType dtype{};
    tensor::Shape shape;

    std::string declaration() const {
        return std::string(c_type(dtype)) + " " + array_of(name, shape);
    }
};
// An input or output, with its name in the model; items of packs are `xs.0`, `xs.1`.
struct CPort {
    std::string name;
    CArray array;
    std::vector<std::string> axes = {};  // with runtime extents: expressions
};
// An extent that each run gives, between two bounds.
struct CExtent {
    std::string name, c_name;
    int64_t low = 0, high = 0;
};
struct CProgram {
    std::string name;
    std::string origin;
    std::vector<CPort> inputs, outputs;
    std::vector<CArray> variables;  // that a run changes
    std::vector<CExtent> extents;   // of the fast form
};

std::string header_text(const CProgram& program);
std::string main_text(const CProgram& program);
std::string makefile_text(const CProgram& program, const std::vector<std::string>& sources);
std::string description_json(const CProgram& program, const std::vector<std::string>& sources);

// `const float t_w[2] = { … };`
std::string constant_text(const CArray& array, const interpret::Array& values);
// weights.h and weights.c; large constants have files of their own.
struct CConstant {
    CArray array;
    interpret::Array values;
};
std::vector<CFile> weight_files(const std::string& origin, const std::vector<CConstant>& constants);

}  // namespace lemma::emit
