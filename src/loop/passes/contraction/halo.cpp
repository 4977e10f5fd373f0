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

void widen_halo(const StagePool& pool,
                const Contraction& contraction,
                const tensor::Shape& shape,
                Halo& halo) {
    const Expr& a = pool[contraction.surrounded()];
    widen_halo(pool, a, halo);
    if (!contraction.window) return;
    const int64_t outputs = contraction.window->outputs;
    for (const Window::Axis& window : contraction.window->axes) {
        for (size_t axis = 0; axis < a.args.size(); ++axis) {
            if (!pool.depends(a.args[axis], window.tap)) continue;
            const Expr& e = pool[a.args[axis]];
            const ExprId index = e.op == Op::Assume ? e.args[0] : a.args[axis];
            const int64_t rest = pool.extent(window.point) % outputs;
            const int64_t behind = rest == 0 ? 0 : outputs - rest;
            const int64_t above = pool.range(index).high + behind - (shape[axis] - 1);
            halo.above[axis] = std::max(halo.above[axis], above);
        }
    }
}

}  // namespace lemma::loop
