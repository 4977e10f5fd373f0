// SPDX-License-Identifier: Apache-2.0
// sknd/compose/plan.h — facts that are the same for every call of a definition, computed once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// The names that expressions read, with repeats; computed on demand.
class ReadNames {
public:
    using List = std::vector<std::string_view>;
    const List& of(const Module& module, ExprId expr) const;

private:
    mutable std::unordered_map<ExprId, List, IdHash> lists_;
};

// The index symbols of a formula that must be unrolled: formulas have no packs.
struct Unrolling {
    struct Pick {  // `xs[i]`, which matters if `xs` is a pack of tensors
        std::string_view pack;
        size_t bound;
    };
    std::vector<bool> always;  // by bound
    std::vector<Pick> picks;
};

struct Plan {
    std::string name;                                         // with its module: `nn.conv`
    std::unordered_map<std::string_view, size_t> attributes;  // by name
    std::vector<bool> closed;      // by attribute: its default reads no names
    std::vector<size_t> deferred;  // the other attributes, each after those that its default reads
    // By helper: the conditions that can be checked once it is known, because they read it and no
    // later one.
    std::vector<std::vector<size_t>> asserts;
    std::vector<size_t> binding_order;  // order of the inputs, spec 2.6.1
    // Whether values and conditions depend only on attributes, types and the shapes of the inputs:
    // inputs are read only by their members and by `?x`.
    bool repeatable = false;
    // Whether formulas depend on tensors only by the elements that they read, and as above.
    bool repeatable_formulas = false;
    ReadNames names;
    std::vector<Unrolling> unrollings;  // by statement of @lower
};

// The definition is in the module; both must keep their addresses.
Plan make_plan(const Module& module, const Definition& definition);

}  // namespace lemma::sknd
