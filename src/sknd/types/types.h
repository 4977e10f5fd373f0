// sknd/types/types.h — names, types, ranks and the rules of definitions, for a whole package:
// everything that can be decided without calling an operator.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "diag/diagnostic.h"
#include "sknd/eval/eval.h"
#include "sknd/modules/modules.h"
#include "sknd/types/signature.h"
#include "sknd/types/type.h"

namespace lemma::sknd {

struct CheckOptions {
    EvalLimits limits;
    // Standard modules are tested with Lemma itself, so that a run checks the user's text alone.
    bool check_standard_modules = false;
    // The graph that is asked for; empty: the first one, and others that could run by themselves.
    std::string graph = {};
};

// What the check found out about one definition.
struct TypedDefinition {
    DefRef ref;
    std::vector<size_t> binding_order;  // indices of inputs, in the order of spec 2.6.1
    bool runs_alone = true;             // a graph whose inputs have all that a main graph's need
};

// Tables beside the syntax trees, by module.
struct TypedModule {
    Table<ExprId, Type> types;  // Bad where an expression was not checked or is wrong
    Table<RegionId, std::optional<DefRef>> callees;  // of invocations
};

struct TypedPackage {
    std::vector<TypedModule> modules;
    std::vector<TypedDefinition> definitions;
};

TypedPackage check_types(const Package& package, const CheckOptions& options, Diagnostics& diag);

}  // namespace lemma::sknd
