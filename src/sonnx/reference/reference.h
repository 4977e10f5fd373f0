// sonnx/reference/reference.h — a model as provable C99: literal extents, tensors at file scope,
// one function per node, and ACSL contracts with the statements of the profile's documents. Frama-C
// proves the compiled text (docs/assurance.md).
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

// The files `sx.h sx.c model.h model.c weights.h weights.c`. Each node and type without a reference
// is reported; then there are no files. The same model gives the same bytes.
std::optional<std::vector<SourceFile>> write_reference(const ReferenceInput& input,
                                                       Diagnostics& diag);

// The operators with a reference, in alphabetical order.
const std::vector<std::string_view>& reference_operators();

}  // namespace lemma::sonnx
