// SPDX-License-Identifier: Apache-2.0
#include "ir/program/accumulate.h"

#include "ir/program/program.h"

namespace lemma::ir {

bool computes_in_float(const Program& program, const Formula& formula, Accumulate accumulate) {
    if (accumulate == Accumulate::F64) return false;
    bool wide = false, narrow = false;
    const auto see = [&](TensorId id) {
        const DType dtype = program.tensors[id].dtype;
        wide |= dtype == DType::F64;
        narrow |= tensor::is_real(dtype) && dtype != DType::F64;
    };
    for (const Write& write : formula.writes) see(write.tensor);
    if (wide || narrow) return !wide;
    for (const Access& access : formula.accesses) see(access.tensor);
    return narrow && !wide;
}

}  // namespace lemma::ir
