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

// What identifiers mean where an expression is evaluated.
class Environment {
public:
    virtual ~Environment() = default;
    // Null pointer: not known here; evaluation then ends without a value and without a report.
    // The value must stay where it is until evaluation is done.
    virtual const CompileValue* lookup(std::string_view name) const = 0;
    // x.shape, x.rank, x.size
    virtual const CompileValue* member(std::string_view name, MemberKind member) const = 0;
    // The same for tensors that `lookup` gave, singly or as a pack.
    virtual std::optional<CompileValue> member_of(const CompileValue&, MemberKind) const {
        return std::nullopt;
    }
    // The concrete type that a generic name is bound to, for `T(x)`; int, real, bool and str are
    // known without asking.
    virtual std::optional<ir::ScalarType> type(std::string_view name) const = 0;

    // Formulas alone know the elements of tensors and guarded indices, as unknowns of their own.
    virtual std::optional<CompileValue> access(ExprId) const { return std::nullopt; }
    virtual std::optional<CompileValue> guard(ExprId) const { return std::nullopt; }
    // Work on packs is counted in items; false: it is too much, and evaluation ends with a report.
    virtual bool spend(size_t) const { return true; }
    // An item of a pack at a position that is not known yet.
    virtual std::optional<Scalar> item(const Pack&, ir::SymId) const { return std::nullopt; }
};

struct EvalLimits {
    size_t max_pack_length = size_t{1} << 20;   // --max-pack-length
    size_t max_string_bytes = size_t{1} << 24;  // --max-string-bytes: a string, or all of a pack
    int max_depth = 640;             // nested expressions; chains like a + b + c are flat
    size_t max_work = 64 * 1000000;  // --max-work: items of packs, over all expressions of a model
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

// The value of `expr`; empty when something is unknown, or wrong and reported. Operand types are
// expected to be checked (sknd/types); where they are not, the result is empty with a report.
//
// Unknown, and so empty without a report: an identifier, member or generic type that the
// environment does not know; an expression of tensors; and an operation that needs a concrete
// count, index, mask or choice where there is a symbolic one.
std::optional<CompileValue> evaluate(const Module& module,
                                     ExprId expr,
                                     const Environment& environment,
                                     ir::SymbolPool& symbols,
                                     const EvalLimits& limits,
                                     Diagnostics& diag);

}  // namespace lemma::sknd
