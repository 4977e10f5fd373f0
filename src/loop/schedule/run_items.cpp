// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/run_items.h"

#include <algorithm>

#include "base/checked.h"

namespace lemma::loop {

int64_t piece_of(int64_t steps, int64_t work) {
    const int64_t least = std::max<int64_t>(1, kLeastWork / std::max<int64_t>(1, work / steps));
    const int64_t wanted = std::clamp<int64_t>(steps / least, 1, kEnoughItems);
    return *ceil_div(steps, wanted);
}

RunCut cut_items(const RunItems& items, std::span<const int64_t> numbers) {
    if (items.one) return {1, 1};
    const auto extent = [&](const RunItems::Extent& e) {
        return checked_mul(e.number ? numbers[*e.number] : 1, e.times).value_or(INT64_MAX);
    };
    const int64_t all = extent(items.outermost);
    if (all == 0) return {0, 1};
    if (items.single) return {all, 1};
    // The item of the last whole vector also does the remaining steps.
    const int64_t steps = std::max<int64_t>(all / items.together, 1);
    int64_t work = all;
    for (const RunItems::Extent& inner : items.inner) {
        work = checked_mul(work, extent(inner)).value_or(INT64_MAX);
    }
    const int64_t piece = piece_of(steps, work);
    return {*ceil_div(steps, piece), piece};
}

}  // namespace lemma::loop
