// nnef1/import/import.h — a checked document becomes a program: expressions are evaluated,
// fragments with a body are expanded, and what remains are calls of operators that the
// specification describes (specification, chapters 4 and 6).
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
    // --max-work: items of arrays, and kCallWork for each invocation inside of a fragment.
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
    // Tract: what the data of a label is (f32, i64 or bool), whatever the document says.
    std::function<std::optional<ir::DType>(const std::string&)> stored_kind = {};
};

struct StoredVariable {
    ir::TensorId tensor;
    std::string label;
    ir::DType dtype{};
    std::vector<int64_t> shape;
    Span span;  // of the invocation
};

struct Imported {
    std::optional<ir::Program> program;  // empty: something was reported, or `custom` is valid
    std::vector<StoredVariable> variables;
    std::map<std::string, ir::TensorId> tensors;  // the identifiers of the graph
    // The first invocation of an operation that only others know.
    Span custom;
    std::string custom_name;
};

// What checking made of a document, without errors.
struct Model {
    const Document& document;
    const Operations& operations;
    const CheckedDocument& checked;
};

// `calls` is where the builder reports; what it says goes on to `diag`, with the fragments around.
Imported import_document(const Model& model,
                         const ImportOptions& options,
                         ir::CallBuilder& builder,
                         Diagnostics& calls,
                         Diagnostics& diag);

ir::DType dtype_of(TypeName name, const ImportOptions& options);

}  // namespace lemma::nnef1
