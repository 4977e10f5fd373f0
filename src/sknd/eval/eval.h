// SPDX-License-Identifier: Apache-2.0
// sknd/eval/eval.h — the one evaluator of compile-time expressions (design D5): values, packs, null
// propagation, all operators, folds, ranges, zips, masks, substitution, casts, built-ins, strings.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "diag/diagnostic.h"
#include "sknd/eval/value.h"
#include "sknd/syntax/ast.h"

namespace lemma::sknd {

// The meaning of identifiers in an expression.
class Environment {
public:
    virtual ~Environment() = default;
    // Null pointer: unknown here; evaluation then ends without a value and without a report. The
    // value must keep its address until evaluation ends.
    virtual const CompileValue* lookup(std::string_view name) const = 0;
    // x.shape, x.rank, x.size
    virtual const CompileValue* member(std::string_view name, MemberKind member) const = 0;
    // The same for tensors returned by `lookup`, single or as a pack.
    virtual std::optional<CompileValue> member_of(const CompileValue&, MemberKind) const {
        return std::nullopt;
    }
    // The concrete type of a generic name, for `T(x)`; int, real, bool and str are built in.
    virtual std::optional<ir::ScalarType> type(std::string_view name) const = 0;

    // Only formulas know the elements of tensors and guarded indices, as separate unknowns.
    virtual std::optional<CompileValue> access(ExprId) const { return std::nullopt; }
    virtual std::optional<CompileValue> guard(ExprId) const { return std::nullopt; }
    // Counts work in items of packs; false if it is too much, and evaluation ends with a report.
    virtual bool spend(size_t) const { return true; }
    // An item of a pack at an unknown position.
    virtual std::optional<Scalar> item(const Pack&, ir::SymId) const { return std::nullopt; }
};

struct EvalLimits {
    size_t max_pack_length = size_t{1} << 20;   // --max-pack-length
    size_t max_string_bytes = size_t{1} << 24;  // --max-string-bytes: a string, or a whole pack
    int max_depth = 640;             // nested expressions; chains like a + b + c are flat
    size_t max_work = 64 * 1000000;  // --max-work: items of packs, in all expressions of a model
};

// Counts work for an Environment.
struct WorkMeter {
    size_t most;
    size_t done = 0;

    bool spend(size_t steps) {
        done = steps > most - std::min(done, most) ? most + 1 : done + steps;
        return done <= most;
    }
};

// The value of `expr`; empty if something is unknown, or wrong and reported. Operand types should
// have been checked (sknd/types); a wrong type gives an empty result with a report.
//
// Unknown, so empty without a report: an identifier, member or generic type that the environment
// does not know; an expression of tensors; and an operation with a symbolic count, index, mask or
// choice where it needs a concrete one.
std::optional<CompileValue> evaluate(const Module& module,
                                     ExprId expr,
                                     const Environment& environment,
                                     ir::SymbolPool& symbols,
                                     const EvalLimits& limits,
                                     Diagnostics& diag);

}  // namespace lemma::sknd
