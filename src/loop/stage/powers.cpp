// SPDX-License-Identifier: Apache-2.0
#include "loop/stage/powers.h"

#include <cmath>

namespace lemma::loop {

ExprId simple_power(Builder& build, ExprId base, double exponent) {
    const Kind kind = build.type(base).kind;
    if (exponent == 1) return base;
    if (exponent == 2) return build.make(Op::Mul, {base, base});
    if (exponent == 3) return build.make(Op::Mul, {build.make(Op::Mul, {base, base}), base});
    if (exponent == -1) return build.make(Op::Div, {build.real(1, kind), base});
    if (exponent == 0.5) return build.make(Op::Sqrt, {base});
    const double quarters = std::fabs(exponent);
    if (kind != Kind::F32 || (quarters != 0.5 && quarters != 0.75 && quarters != 0.25)) return {};
    const ExprId half = build.make(Op::Sqrt, {base});
    const ExprId quarter = build.make(Op::Sqrt, {half});
    const ExprId result = quarters == 0.25  ? quarter
                          : quarters == 0.5 ? half
                                            : build.make(Op::Mul, {half, quarter});
    return exponent < 0 ? build.make(Op::Div, {build.real(1, kind), result}) : result;
}

}  // namespace lemma::loop
