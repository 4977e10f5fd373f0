// SPDX-License-Identifier: Apache-2.0
// nnef1/import/fragments.h — fragments as operators of a builder. A call of a fragment expands to
// calls of the operations in its body, like an invocation in a document.
#pragma once

#include <functional>
#include <memory>

#include "nnef1/import/import.h"

namespace lemma::nnef1 {

// Calls of `fragment.NAME` are calls of fragments.
inline constexpr std::string_view kFragmentModule = "fragment.";

using MakeBuilder = std::function<std::unique_ptr<ir::CallBuilder>(Diagnostics&)>;

// `library` is a document without a graph. The remaining calls go to the builder that `operators`
// makes. Attributes are given by parameter name, inputs in the order of the tensor parameters. Each
// result is a separate tensor. The library and `diag` must outlive the builder.
std::unique_ptr<ir::CallBuilder> make_fragment_builder(const Model& library,
                                                       const ImportOptions& options,
                                                       const MakeBuilder& operators,
                                                       Diagnostics& diag);

}  // namespace lemma::nnef1
