// SPDX-License-Identifier: Apache-2.0
// nnef1/import/import.h — a checked document becomes a program. Import evaluates expressions,
// expands fragments with a body, and calls the operators for all other invocations (specification,
// chapters 4 and 6).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/calls.h"
#include "nnef1/check/check.h"

namespace lemma::nnef1 {

struct ExpandLimits {
    size_t max_array_length = 1 << 20;  // --max-pack-length
    size_t max_string_bytes = 1 << 24;  // --max-string-bytes
    // --max-work: items of arrays, and kCallWork for each invocation inside a fragment.
    int64_t max_work = 64'000'000;
    int max_call_depth = 200;  // --max-call-depth
};
inline constexpr int64_t kCallWork = 2000;
inline constexpr size_t kMaxRank = 8;

struct ImportOptions {
    Dialect dialect = Dialect::Strict;
    ir::DType scalar = ir::DType::F32;
    ir::DType integer = ir::DType::I64;
    ExpandLimits limits;
    // Tract: the type of a label's data (f32, i64 or bool), which overrides the document.
    std::function<std::optional<ir::DType>(const std::string&)> stored_kind = {};
};

struct StoredVariable {
    ir::TensorId tensor;
    std::string label;
    ir::DType dtype{};
    std::vector<int64_t> shape;
    Span span;  // place of the invocation
};

struct Imported {
    std::optional<ir::Program> program;  // empty: an error was reported, or `custom` is valid
    std::vector<StoredVariable> variables;
    std::map<std::string, ir::TensorId> tensors;  // the identifiers of the graph
    // The first invocation of a custom operation, whose meaning is unknown.
    Span custom;
    std::string custom_name;
};

// A document that was checked without errors.
struct Model {
    const Document& document;
    const Operations& operations;
    const CheckedDocument& checked;
};

// The builder reports to `calls`. Import passes its reports on to `diag`, with the surrounding
// fragments.
Imported import_document(const Model& model,
                         const ImportOptions& options,
                         ir::CallBuilder& builder,
                         Diagnostics& calls,
                         Diagnostics& diag);

ir::DType dtype_of(TypeName name, const ImportOptions& options);

}  // namespace lemma::nnef1
