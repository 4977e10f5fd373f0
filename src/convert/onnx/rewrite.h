// convert/onnx/rewrite.h — a program whose operations are those of ONNX. Operations of other
// modules become calls of the operators in stdlib/to_onnx that are named after them, which are
// composed of operators of ONNX; compounds without one become their parts.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/diagnostic.h"
#include "ir/program/program.h"

namespace lemma::convert {

struct OnnxProgram {
    ir::Program program;
    std::map<std::string, ir::TensorId> variables;  // of the program that was rewritten, by name
};

// Whether there is an operation that ONNX does not have.
bool needs_rewriting(const ir::Program& program);

// Empty when an operation cannot be said, which is reported, all of them in one run.
std::optional<OnnxProgram> rewrite_as_onnx(const ir::Program& program, Diagnostics& diag);

}  // namespace lemma::convert
