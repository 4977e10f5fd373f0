// nnef1/import/fragments.h — fragments as operators of a builder: a call of one is expanded to
// calls of the operations in its body, as an invocation in a document is.
#pragma once

#include <functional>
#include <memory>

#include "nnef1/import/import.h"

namespace lemma::nnef1 {

// Calls of `fragment.NAME` are those of fragments.
inline constexpr std::string_view kFragmentModule = "fragment.";

using MakeBuilder = std::function<std::unique_ptr<ir::CallBuilder>(Diagnostics&)>;

// `library` is a document without a graph. The calls that remain go to the builder that `operators`
// makes. Attributes are given by the names of parameters, inputs in the order of the parameters
// that are tensors. Each result is a tensor of its own. The library and `diag` outlive the builder.
std::unique_ptr<ir::CallBuilder> make_fragment_builder(const Model& library,
                                                       const ImportOptions& options,
                                                       const MakeBuilder& operators,
                                                       Diagnostics& diag);

}  // namespace lemma::nnef1
