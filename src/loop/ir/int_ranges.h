// SPDX-License-Identifier: Apache-2.0
// loop/ir/int_ranges.h — the ranges of ints in a kernel, from the extents of its loops. A
// device computes in 32 bits what fits.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "loop/ir/node.h"

namespace lemma::loop {

struct IntRange {
    int64_t low = INT64_MIN, high = INT64_MAX;

    bool is_positive() const { return low >= 0; }  // or zero
    bool fits_32_bits() const { return low >= INT32_MIN && high <= INT32_MAX; }
    friend bool operator==(const IntRange&, const IntRange&) = default;
};

class IntRanges {
public:
    explicit IntRanges(const Function& function);

    // Of all lanes of an int.
    IntRange of(ExprId value);
    IntRange of(VarId var) const { return vars_[var.value]; }
    // Of an address without its offset, if the address has no lanes of its own.
    IntRange of(const Address& address);
    // A number of which the int is known to be a multiple, up to 2^20.
    int64_t divisor_of(ExprId value) const;

private:
    void block(const Block& statements);
    void bind(VarId var, IntRange range);
    IntRange compute(const Expr& e);

    const Function& f_;
    std::vector<IntRange> vars_;
    std::vector<bool> bound_;
    std::unordered_map<ExprId, IntRange, IdHash> known_;
};

}  // namespace lemma::loop
