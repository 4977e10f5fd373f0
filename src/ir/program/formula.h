// SPDX-License-Identifier: Apache-2.0
// ir/program/formula.h — a lowered statement instantiated for one call (design D6): stores of
// scalar expressions into tensors, over index symbols with bounds. Attributes are folded, packs
// expanded, and guards that always hold removed. Scalar expressions live in the program's
// SymbolPool; a tensor element appears in them as a symbol that `accesses` defines.
#pragma once

#include <vector>

#include "ir/symbols/symbolic.h"

namespace lemma::ir {

struct TensorId : Id<TensorId> {};

enum class Guard : uint8_t {
    None,   // always within the extent
    Skip,   // outside: the whole statement is skipped
    Remap,  // outside: `below` or `above` is used instead
};
struct IndexTerm {
    SymId value;
    Guard guard = Guard::None;
    SymId below, above;  // for Remap

    friend auto operator<=>(const IndexTerm&, const IndexTerm&) = default;
};
// The symbol stands for the element of the tensor at the indices.
struct Access {
    SymId symbol;
    TensorId tensor;
    std::vector<IndexTerm> indices;
};
struct Bound {  // 0 <= index < extent, outermost first
    SymId index;
    SymId extent;
};
struct Write {
    TensorId tensor;
    std::vector<IndexTerm> indices;
    SymId value;
};
enum class FormulaOp : uint8_t { Assign, Sum, Product, All, Any, Min, Max, Update };

struct Formula {
    FormulaOp op{};
    std::vector<Bound> bounds;
    std::vector<Access> accesses;  // each after those that its indices read
    SymId condition;               // may be missing
    std::vector<Write> writes;     // several form one step (packed assignment)
    // The append form (notes, A62): a counter that a store uses as index. It grows by one with
    // every executed step; its last value is the extent of that name.
    SymId counter;
};

}  // namespace lemma::ir
