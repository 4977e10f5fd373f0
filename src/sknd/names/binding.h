// SPDX-License-Identifier: Apache-2.0
// sknd/names/binding.h — the order in which the shapes of inputs bind the names that they declare
// (spec 2.6.1). It depends only on the definition and holds for every call.
#pragma once

#include <vector>

#include "sknd/names/name_table.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

struct BindingOrder {
    std::vector<size_t> order;    // indices of inputs
    std::vector<size_t> unbound;  // inputs whose shapes cannot be bound uniquely
    NameSet known;                // names that attributes and inputs bind
};

BindingOrder find_binding_order(const Module& module, const Definition& definition);

// Whether the expression reads only names of the set.
bool reads_only(const Module& module, ExprId expr, const NameSet& names);

}  // namespace lemma::sknd
