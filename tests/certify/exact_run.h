// SPDX-License-Identifier: Apache-2.0
// tests/certify/exact_run.h — runs a program in 128-bit arithmetic, several inputs at once. It is
// the reference that certificates are tested against: nothing is rounded to the types of tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "certify/certify.h"
#include "certify/double_double.h"
#include "certify/expression.h"
#include "interpret/array.h"
#include "ir/program/program.h"

namespace lemma::testing_support {

// Real: Quad, or DoubleDouble for large models.
template <class Real>
class ExactRun {
public:
    // `lanes` inputs at once.
    ExactRun(const ir::Program& program, certify::VariableReader variables, size_t lanes)
        : program_(program), variables_(std::move(variables)), lanes_(lanes) {}

    // Element by element; the lanes of an element are neighbours.
    struct Values {
        tensor::Shape shape;
        std::vector<Real> reals;
        std::vector<int64_t> integers;
    };
    // One item for each lane. The results are by the names of the output tensors.
    Result<std::map<std::string, Values>> run(const std::vector<interpret::NamedArrays>& inputs);

private:
    using Ref = std::shared_ptr<Values>;
    class Formula;

    Result<Ref> value_of(ir::TensorId id);
    Result<Ref> zeros(ir::TensorId id);
    Ref spread(const interpret::Array& array) const;
    Result<void> operations(const std::vector<ir::OpId>& ids);
    Result<void> operation(ir::OpId id);
    Result<void> loop(const ir::Operation& op, const ir::Loop& loop);
    Result<void> formula(const ir::Formula& formula);

    const ir::Program& program_;
    certify::VariableReader variables_;
    size_t lanes_;
    std::map<ir::TensorId, Ref> values_;
    std::map<const ir::Formula*, certify::Expression> expressions_;
};

}  // namespace lemma::testing_support
