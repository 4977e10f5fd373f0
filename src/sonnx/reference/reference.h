// sonnx/reference/reference.h — a model as C99 that can be proved: literal extents, tensors at file
// scope, one function per node, and contracts in ACSL that say what the documents of the profile
// say. Frama-C proves the text that is compiled (docs/assurance.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "sonnx/view.h"
#include "tensor/files/pb_file.h"

namespace lemma::sonnx {

struct SourceFile {
    std::string name;
    std::string text;
};

struct ReferenceInput {
    const Subject& subject;  // valid ONNX, composed without errors
    diag::FileId file;
    tensor::ReadExternal read_external;
    std::string origin;  // a line for comments: tool and hash of the model
};

// The files `sx.h sx.c model.h model.c weights.h weights.c`. Nodes and types without a reference
// are reported, each of them; then there are no files. The same model gives the same bytes.
std::optional<std::vector<SourceFile>> write_reference(const ReferenceInput& input,
                                                       Diagnostics& diag);

// The operators that have a reference, in alphabetical order.
const std::vector<std::string_view>& reference_operators();

}  // namespace lemma::sonnx
