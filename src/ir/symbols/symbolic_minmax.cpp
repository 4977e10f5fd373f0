// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_minmax.cpp — minima, maxima, abs and sign of int expressions.
#include <algorithm>

#include "ir/symbols/symbolic_impl.h"

namespace lemma::ir {

namespace {

// Up to this many operands are compared pairwise.
constexpr size_t kMaxCompared = 16;

}  // namespace

// Flat, sorted, without repeats and without dominated operands.
MaybeSym SymbolPool::Impl::extremum(SymOp op, std::span<const SymId> operand_list) {
    std::vector<SymId> all;
    std::optional<int64_t> constant;
    const auto take = [&](SymId id) {
        if (const auto value = as_int(id))
            constant = !constant          ? *value
                       : op == SymOp::Min ? std::min(*constant, *value)
                                          : std::max(*constant, *value);
        else
            all.push_back(id);
    };
    for (const SymId id : operand_list) {
        if (is_op(id, op) && all.size() + node(id).count <= kMaxOperands)
            for (const SymId inner : operands(id)) take(inner);
        else
            take(id);
    }
    if (constant) {
        const int64_t value = *constant;
        const auto loses = [&](SymId id) {
            const Interval range = node(id).range;
            return op == SymOp::Min ? range.low >= value : range.high <= value;
        };
        std::erase_if(all, loses);
        if (all.empty()) return integer(value);
        all.push_back(integer(value));
    }
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());

    arrange(all);

    // x dominates y in a minimum if x - y <= 0.
    const auto beats = [&](SymId x, SymId y) {
        const auto difference = op == SymOp::Min ? sum(terms_of(x), terms_of(y), -1)
                                                 : sum(terms_of(y), terms_of(x), -1);
        fault = SymFault::None;
        return difference && never_positive(*difference);
    };
    if (all.size() <= kMaxCompared) {
        for (size_t i = 0; i < all.size(); ++i)
            for (size_t j = all.size(); j-- > 0;) {
                if (j == i || !beats(all[i], all[j])) continue;
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(j));
                if (j < i) --i;
            }
    }
    if (all.size() == 1) return all[0];
    return make(op, ScalarType::Int, all);
}

MaybeSym SymbolPool::Impl::absolute(SymId a) {
    if (const auto value = as_int(a)) {
        if (*value == kInt64Min) return fail(SymFault::Overflow);
        return integer(*value < 0 ? -*value : *value);
    }
    const Interval range = node(a).range;
    if (range.low >= 0) return a;
    if (range.high <= 0) return negate(a);
    MaybeSym operand_id = a;
    if (leads_negative(terms_of(a))) operand_id = negate(a);
    if (!operand_id) return std::nullopt;
    return make(SymOp::Function, ScalarType::Int, std::span(&*operand_id, 1), intern_name("abs"));
}

MaybeSym SymbolPool::Impl::sign(SymId a) {
    const Interval range = node(a).range;
    if (range.low > 0) return integer(1);
    if (range.high < 0) return integer(-1);
    if (range.low == 0 && range.high == 0) return integer(0);
    const bool flip = leads_negative(terms_of(a));
    const MaybeSym operand_id = flip ? negate(a) : a;
    if (!operand_id) return std::nullopt;
    const MaybeSym result =
        make(SymOp::Function, ScalarType::Int, std::span(&*operand_id, 1), intern_name("sign"));
    return result && flip ? negate(*result) : result;
}

}  // namespace lemma::ir
