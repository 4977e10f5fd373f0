// SPDX-License-Identifier: Apache-2.0
// sknd/types/types.h — checks names, types, ranks and the rules of definitions in a whole package:
// everything that needs no call of an operator.
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
    // Lemma's own tests check the standard modules, so a run checks only the user's text.
    bool check_standard_modules = false;
    // The requested graph; empty: the first one, and others that could be a main graph.
    std::string graph = {};
};

// The results of the check of one definition.
struct TypedDefinition {
    DefRef ref;
    std::vector<size_t> binding_order;  // indices of inputs, in the order of spec 2.6.1
    bool runs_alone = true;  // a graph whose inputs satisfy the requirements of a main graph
};

// Tables beside the syntax trees, by module.
struct TypedModule {
    Table<ExprId, Type> types;  // Bad if an expression was not checked or is wrong
    Table<RegionId, std::optional<DefRef>> callees;  // callees of invocations
};

struct TypedPackage {
    std::vector<TypedModule> modules;
    std::vector<TypedDefinition> definitions;
};

TypedPackage check_types(const Package& package, const CheckOptions& options, Diagnostics& diag);

}  // namespace lemma::sknd
