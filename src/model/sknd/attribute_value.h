// SPDX-License-Identifier: Apache-2.0
// model/sknd/attribute_value.h — one value of a graph attribute on the command line: `3`, `0.5`,
// `true`, `same` or `'same'`, `[1,2,3]`.
#pragma once

#include <optional>

#include "diag/diagnostic.h"
#include "diag/source.h"
#include "ir/program/value.h"
#include "sknd/types/signature.h"

namespace lemma::model {

// Reads the text at `span` as the declared type. Empty, with a report there, if it does not fit.
std::optional<ir::Value> read_attribute_value(const diag::SourceMap& sources,
                                              Span span,
                                              const sknd::Parameter& declared,
                                              Diagnostics& diag);

}  // namespace lemma::model
