// SPDX-License-Identifier: Apache-2.0
// certify/relations.h — what elements have to do with each other. A softmax subtracts the maximum
// of a row from its elements, and divides exponentials by their sum. Bounds of single elements do
// not see that the difference is at most 0, that the sum is at least 1 and the quotient at most 1.
#pragma once

#include "certify/evaluator.h"

namespace lemma::certify {

// Watches the evaluation of one formula and adds what it finds to the array that the formula wrote.
class RelationFinder {
public:
    RelationFinder(const Expression& expression, const EvaluatorArrays& arrays, bool in_float);

    // Empty if the formula has none of the known forms.
    Evaluator::Observer observer();
    void finish();

private:
    enum class Form { None, Maximum, Sum, Difference, Image };

    const AbstractArray* array_of(NodeId load) const;
    void classify();
    bool starts_with(double value) const;
    void observe(int64_t to, const std::vector<int64_t>& offsets);
    void finish_reduction();
    void finish_anchor(const std::vector<int64_t>& source_group);
    void raise_sums();

    const Expression& expression_;
    const EvaluatorArrays& arrays_;
    bool in_float_;
    Form form_ = Form::None;
    const AbstractArray* source_ = nullptr;
    AbstractArray* target_ = nullptr;
    size_t from_ = 0;        // access of the source
    double value_ = 0;       // of an anchor
    bool complete_ = false;  // a maximum that starts with -inf
    bool good_ = true;
    const std::vector<int64_t>* group_ = nullptr;  // Difference: of the maximum
    size_t most_ = 0;                              // access of the maximum
    std::vector<int64_t> moved_;  // by element of the source: the element of the target, or -1
};

}  // namespace lemma::certify
