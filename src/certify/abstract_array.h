// SPDX-License-Identifier: Apache-2.0
// certify/abstract_array.h — the abstract values of the elements of a tensor, and what is known
// about the elements together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "certify/value.h"
#include "interpret/array.h"
#include "tensor/shape.h"

namespace lemma::certify {

// The array is the maximum, or the sum, of groups of elements of another one.
struct Reduction {
    uint64_t source = 0;         // number of the other array
    bool sum = false;            // of numbers that are not negative, each once; else a maximum
    bool reached = false;        // a maximum that is one of the elements
    std::vector<int64_t> group;  // by element of the source: the element here, or -1
    // A sum: the largest relative error and underflow of its terms, and the bound of the error of a
    // term divided by the sum that follows from them.
    double relative = kInfinity, tiny = kInfinity;
    double share_error = kInfinity;
};

// In each group of elements, one has the value in exact arithmetic and as computed.
struct Anchor {
    double value = 0;
    std::vector<int64_t> group;  // by element
};

struct AbstractArray {
    uint64_t number = 0;  // its own in a certification
    tensor::DType dtype{};
    tensor::Shape shape;
    int64_t size = 0;
    std::vector<Value> values;  // empty for a constant
    std::shared_ptr<const interpret::Array> constant;
    // Euclidean norms over all elements: of the errors, and of the distance of ideal values from
    // those that the centres of the input ranges give.
    double error_norm = kInfinity;
    double radius = kInfinity;
    std::shared_ptr<AbstractArray> centre;  // may be missing
    std::optional<Reduction> reduction;
    std::optional<Anchor> anchor;

    Value at(int64_t offset) const {
        const auto i = static_cast<size_t>(offset);
        if (!constant) return values[i];
        return constant->reals.empty() ? whole(constant->integers[i]) : real(constant->reals[i]);
    }
    // Without errors.
    bool exact() const;
    // One number for each element, without errors.
    bool fixed() const;

    static Value whole(int64_t number);

private:
    Value real(double x) const;
};

}  // namespace lemma::certify
