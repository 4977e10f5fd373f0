// sknd/compose/plan.h — what is the same for every call of a definition, worked out once.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

struct Plan {
    std::unordered_map<std::string_view, size_t> attributes;  // by name
    std::vector<bool> closed;      // by attribute: its default reads no names
    std::vector<size_t> deferred;  // attributes whose defaults do, each behind those that it reads
    // By helper, the conditions that can be looked at once it is known: those that read it, and
    // read no later one.
    std::vector<std::vector<size_t>> asserts;
    std::vector<size_t> binding_order;  // of the inputs, spec 2.6.1
};

// The definition is in the module, and both stay where they are.
Plan make_plan(const Module& module, const Definition& definition);

}  // namespace lemma::sknd
