// SPDX-License-Identifier: Apache-2.0
#include "runtime/newer_bytes.h"

#include <algorithm>

namespace lemma::runtime {

// The part that has the byte at the offset.
size_t NewerBytes::index_of(int64_t offset) const {
    const auto behind = std::ranges::upper_bound(from_, offset, {}, &From::offset);
    return static_cast<size_t>(behind - from_.begin()) - 1;
}

// Most calls change nothing, or replace one part.
void NewerBytes::set(int64_t begin, int64_t end, Side side) {
    if (begin >= end) return;
    const size_t first = index_of(begin);
    const size_t last = index_of(end - 1);
    if (first == last && from_[first].side == side) return;
    From fresh[3];
    size_t count = 0;
    const auto add = [&](From from) {
        const bool same = count > 0 && fresh[count - 1].side == from.side;
        if (!same) fresh[count++] = from;
    };
    // The part before has another side, and so has the part behind.
    const bool joins = from_[first].offset == begin && first > 0 && from_[first - 1].side == side;
    const size_t from = joins ? first - 1 : first;
    const int64_t behind = last + 1 < from_.size() ? from_[last + 1].offset : bytes_;
    size_t to = last + 1;
    if (from_[from].offset < begin) add(from_[from]);
    add({begin, side});
    if (end < behind) {
        add({end, from_[last].side});
    } else if (to < from_.size() && from_[to].side == side) {
        ++to;
    }
    const size_t old = to - from;
    const size_t kept = std::min(old, count);
    std::copy_n(fresh, kept, from_.begin() + static_cast<ptrdiff_t>(from));
    const auto at = from_.begin() + static_cast<ptrdiff_t>(from + kept);
    if (old > kept) {
        from_.erase(at, at + static_cast<ptrdiff_t>(old - kept));
    } else {
        from_.insert(at, fresh + kept, fresh + count);
    }
}

NewerBytes::Range NewerBytes::next(int64_t begin, int64_t end, Side side) const {
    if (begin >= end) return {end, end};
    for (size_t i = index_of(begin); i < from_.size() && from_[i].offset < end; ++i) {
        if (from_[i].side != side) continue;
        const int64_t last = i + 1 < from_.size() ? from_[i + 1].offset : bytes_;
        return {std::max(begin, from_[i].offset), std::min(end, last)};
    }
    return {end, end};
}

std::vector<NewerBytes::Range> NewerBytes::find(int64_t begin, int64_t end, Side side) const {
    std::vector<Range> found;
    for (Range range = next(begin, end, side); range.begin < range.end;
         range = next(range.end, end, side)) {
        found.push_back(range);
    }
    return found;
}

}  // namespace lemma::runtime
