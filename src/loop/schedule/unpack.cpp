// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/unpack.h"

#include <fmt/format.h>

namespace lemma::loop {

// In floats, which every processor has in vectors: the bytes are exact.
std::vector<ExprId> split_nibbles(Builder& build, const std::vector<ExprId>& bytes) {
    std::vector<ExprId> lower, upper;
    for (const ExprId both : bytes) {
        const ExprId sixteenth = build.make(Op::Mul, {both, build.real(0.0625, Kind::F32)});
        upper.push_back(build.make(Op::Floor, {sixteenth}));
        lower.push_back(build.make(Op::Fma, {upper.back(), build.real(-16, Kind::F32), both}));
    }
    lower.insert(lower.end(), upper.begin(), upper.end());
    return lower;
}

Address group_address(const Contraction& contraction,
                      const Layout& layout,
                      const std::vector<std::pair<VarId, int64_t>>& steps,
                      const std::vector<VarId>& reduced) {
    Address at;
    size_t axis = 0;
    for (; axis < contraction.packed_batch.size() + 1; ++axis) {
        at.add(steps[axis].first, layout.strides[axis]);
    }
    for (size_t i = 0; i < reduced.size(); ++i) {
        if (contraction.reduced[i] == contraction.narrow->group)
            at.add(reduced[i], layout.strides[axis]);
    }
    return at;
}

std::string narrow_text(const std::optional<NarrowWeights>& narrow) {
    if (!narrow) return "";
    if (narrow->nibble) return " of 4 bits";
    return fmt::format(" of {}", tensor::dtype_name(narrow->dtype));
}

}  // namespace lemma::loop
