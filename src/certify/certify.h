// SPDX-License-Identifier: Apache-2.0
// certify/certify.h — makes the certificate of a program. The abstract interpretation of its
// formulas gives, element by element, bounds of the exact and of the computed values and of their
// distance. The error of an operation is the sum of two parts: the error that exact arithmetic
// passes on from the inputs, and the error that rounding introduces on the computed inputs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "certify/certificate.h"
#include "interpret/array.h"
#include "ir/program/accumulate.h"
#include "ir/program/program.h"

namespace lemma::certify {

// What is known about an input: one item for all elements, or one for each.
struct InputRange {
    std::vector<Range> ranges;
    double error = 0;  // of the given values
};

struct CertifyOptions {
    ir::Accumulate accumulate = ir::Accumulate::F64;
    int64_t max_steps = int64_t{1} << 32;  // evaluated steps of formulas
    // By the name of an input, or of a variable that runs change.
    std::map<std::string, InputRange> ranges;
    // Ranges of results by name that are taken for granted: hypotheses of the certificate.
    std::map<std::string, Range> assumed;
    // Called with the number of finished operations and the total.
    std::function<void(size_t, size_t)> on_progress;
};

// The value of a variable; null if it has none.
using VariableReader =
    std::function<std::shared_ptr<const interpret::Array>(const ir::Tensor& variable)>;

// An error if the program has runtime extents, an input lacks a range, or the limit is passed.
Result<Certificate> certify(const ir::Program& program,
                            const VariableReader& variables,
                            const CertifyOptions& options);

}  // namespace lemma::certify
