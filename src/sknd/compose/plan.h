// sknd/compose/plan.h — what is the same for every call of a definition, worked out once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// The names that expressions read, each as often as it is read; worked out when somebody asks.
class ReadNames {
public:
    using List = std::vector<std::string_view>;
    const List& of(const Module& module, ExprId expr) const;

private:
    mutable std::unordered_map<ExprId, List, IdHash> lists_;
};

// The index symbols of a formula that must take their values one by one: formulas have no packs.
struct Unrolling {
    struct Pick {  // `xs[i]`, which matters if `xs` is a pack of tensors
        std::string_view pack;
        size_t bound;
    };
    std::vector<bool> always;  // by bound
    std::vector<Pick> picks;
};

struct Plan {
    std::unordered_map<std::string_view, size_t> attributes;  // by name
    std::vector<bool> closed;      // by attribute: its default reads no names
    std::vector<size_t> deferred;  // attributes whose defaults do, each behind those that it reads
    // By helper, the conditions that can be looked at once it is known: those that read it, and
    // read no later one.
    std::vector<std::vector<size_t>> asserts;
    std::vector<size_t> binding_order;  // of the inputs, spec 2.6.1
    // Whether values and conditions depend on nothing but attributes, types and the shapes of the
    // inputs: these are read by their members and by `?x` only.
    bool repeatable = false;
    ReadNames names;
    std::vector<Unrolling> unrollings;  // by statement of @lower
};

// The definition is in the module, and both stay where they are.
Plan make_plan(const Module& module, const Definition& definition);

}  // namespace lemma::sknd
