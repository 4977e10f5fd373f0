// SPDX-License-Identifier: Apache-2.0
// ir/program/accumulate.h — the precision in which formulas compute reals (docs/numerics.md).
#pragma once

#include <cstdint>

namespace lemma::ir {

struct Formula;
struct Program;

enum class Accumulate : uint8_t {
    F64,  // in double; a result is rounded when its operation is done
    F32,  // in float: each real operation is rounded
};

// Whether the real operations of the formula are rounded to float. With F32, they are in formulas
// that write f32, f16 or bf16 and no f64, and in formulas that write no reals but read f32, f16 or
// bf16 and no f64.
bool computes_in_float(const Program& program, const Formula& formula, Accumulate accumulate);

}  // namespace lemma::ir
