// SPDX-License-Identifier: Apache-2.0
// model/weights.h — the data of a model's variables in one file with named tensors,
// `--weights=FILE.safetensors`: reading and writing.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "tensor/files/mapped_file.h"
#include "tensor/files/safetensors_file.h"

namespace lemma::model {

inline constexpr const char* kWeightsEnding = ".safetensors";

class Weights {
public:
    // Reads the names and shapes in the file, but not the elements.
    static Result<Weights> open(const std::string& path);

    bool has(const ir::Tensor& variable) const { return entries_.contains(variable.name); }
    // Reports tensors that belong to no variable of the program, or do not fit their variable.
    void check(const ir::Program& program, Diagnostics& diag) const;
    // Reports that the file lacks the variable.
    void report_missing(const ir::Program& program,
                        const ir::Tensor& variable,
                        Diagnostics& diag) const;
    // In the dtype of the variable; nothing if the file lacks it.
    Result<std::optional<tensor::Tensor>> read(const ir::Tensor& variable) const;

private:
    diag::Report report(DiagKind kind, std::string message, Diagnostics& diag) const;

    std::string path_;
    tensor::SharedBytes bytes_;
    std::map<std::string, tensor::SafetensorsEntry> entries_;  // by name
};

}  // namespace lemma::model
