// SPDX-License-Identifier: Apache-2.0
// certify/norms.h — how much an operation can stretch the distance of two inputs, in the Euclidean
// norm. Errors and deviations of single elements grow by the sum of the magnitudes of the weights
// in each layer. The Euclidean norm of all of them grows by the spectral norm, which is much
// smaller.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "certify/evaluator.h"

namespace lemma::certify {

// From one input of an operation to one output.
struct Stretch {
    double whole = 0;          // norm of the output / norm of the input
    std::vector<double> rows;  // element of the output / norm of the input; empty: as `whole`
};

// Watches the evaluation of one formula.
class StretchFinder {
public:
    StretchFinder(const Expression& expression, const EvaluatorArrays& arrays);

    // Empty if there is nothing to watch.
    Evaluator::Observer observer();
    // By input; nothing if the formula has no known bound. Constant inputs are left out.
    std::optional<std::map<ir::TensorId, Stretch>> finish();

private:
    struct Entry {
        int32_t to, from;
        double weight;
    };
    using Slopes = std::map<size_t, double>;  // by access

    bool slopes_of(NodeId id, Slopes& slopes) const;
    bool scaled(NodeId id, double factor, Slopes& slopes) const;
    bool is_constant(size_t access) const;
    std::optional<Range> bounds_of(NodeId id) const;
    bool find_product();
    void observe(int64_t to, const std::vector<int64_t>& offsets);
    Stretch matrix() const;

    const Expression& expression_;
    std::vector<const AbstractArray*> arrays_of_;  // by access
    AbstractArray* target_ = nullptr;
    bool known_ = false;
    mutable int visits_ = 0;
    Slopes slopes_;
    // A sum of products of elements with constants.
    bool product_ = false;
    size_t variable_ = 0, weight_ = 0;  // accesses
    std::vector<Entry> entries_;
    std::vector<int64_t> writes_;                   // by element of the target
    std::map<size_t, std::vector<int64_t>> reads_;  // by access, by element
};

// Upper bound of the spectral norm of a sparse matrix.
struct MatrixEntry {
    int32_t row, column;
    double value;
};
double spectral_bound(std::vector<MatrixEntry> entries, size_t rows, size_t columns);

}  // namespace lemma::certify
