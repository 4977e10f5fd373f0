// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/contraction/halo.h"

#include <algorithm>

namespace lemma::loop {

void widen_halo(const StagePool& pool, const Expr& read, Halo& halo) {
    halo.below.resize(read.args.size());
    halo.above.resize(read.args.size());
    for (size_t axis = 0; axis < read.args.size(); ++axis) {
        const Expr& e = pool[read.args[axis]];
        if (e.op != Op::Assume) continue;
        const StagePool::Range range = pool.range(e.args[0]);
        halo.below[axis] = std::max(halo.below[axis], -range.low);
        halo.above[axis] = std::max(halo.above[axis], range.high - (e.integer - 1));
    }
}

}  // namespace lemma::loop
