// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic.h — scalar expressions over unknowns in canonical form. Integer expressions
// are polynomials over symbols and non-polynomial terms (divisions, minima, …). Nodes are interned,
// so two expressions are equal exactly if their ids are equal (`is`, design D4).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id.h"

namespace lemma::ir {

enum class ScalarType : uint8_t { Int, Real, Bool, Str };

struct SymId : Id<SymId> {};

enum class SymOp : uint8_t {
    // numbers
    Add,  // strings too
    Sub,
    Mul,
    Div,  // int: rounds down; real: exact
    CeilDiv,
    Mod,
    Pow,
    Min,
    Max,
    Neg,
    // to bool
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Xor,
    Not,
    // any type
    Select,  // condition, consequent, alternative
    // casts and functions of one operand
    ToInt,
    ToReal,
    ToBool,
    Function,  // a built-in by name
};

// Closed interval of the possible values of an integer expression; an open side is the int64
// extreme.
struct Interval {
    int64_t low;
    int64_t high;
    friend bool operator==(const Interval&, const Interval&) = default;
};

// Why an operation has no value.
enum class SymFault : uint8_t {
    None,
    Overflow,          // a constant or a coefficient does not fit int64
    DivisionByZero,    // by a constant zero
    NegativeExponent,  // of an int power
    NotANumber,        // int(nan)
    TooDeep,           // nested deeper than kMaxSymbolicDepth
    BadOperands,       // a type or number of operands that the operation does not take
};

// The structure of one expression, for printers and back ends: a read-only copy.
enum class SymKind : uint8_t { Constant, Symbol, Polynomial, Operation };
struct SymFactor {
    SymId atom;  // a symbol or an operation
    uint32_t power;
};
struct SymTerm {  // coefficient * factors; no factors: the constant term
    int64_t coefficient;
    std::vector<SymFactor> factors;
};
struct SymNode {
    SymKind kind{};
    ScalarType type{};
    std::string name;            // of a symbol, or of the function
    std::vector<SymTerm> terms;  // of a polynomial, which is Int
    // An operation. LessEqual and Equal with one Int operand compare it with zero. CeilDiv, Neg and
    // Sub occur for reals only. as_int, as_real and the others give the values of constants.
    SymOp op{};
    std::vector<SymId> operands;
};

// Upper bound of the nesting; beyond it `apply` returns nothing, with TooDeep. Sums, products,
// minima and conjunctions are flat, so their length does not count.
inline constexpr uint32_t kMaxSymbolicDepth = 2000;
// A polynomial with more terms or a higher degree is not expanded: the sum or product becomes one
// unknown, which equals only itself.
inline constexpr size_t kMaxPolynomialTerms = 256;
inline constexpr uint32_t kMaxPolynomialDegree = 16;

class SymbolPool {
public:
    SymbolPool();
    ~SymbolPool();
    SymbolPool(SymbolPool&&) noexcept;
    SymbolPool& operator=(SymbolPool&&) noexcept;
    // Empties the pool but keeps its memory.
    void clear();
    // A pool with the same expressions, under the same ids.
    SymbolPool copy() const;
    // The expressions as bytes, which another run of this version reads. Ids stay the same.
    std::string bytes() const;
    // Empty if the bytes are no pool.
    static std::optional<SymbolPool> from_bytes(std::string_view bytes);

    SymId integer(int64_t value);
    SymId real(double value);
    SymId boolean(bool value);
    SymId string(std::string_view value);
    // A new unknown, different from every other one, even of the same name. Int symbols take values
    // in `range`; extents pass {0, bound} or {0, INT64_MAX}.
    SymId symbol(std::string_view name, ScalarType type, Interval range = {INT64_MIN, INT64_MAX});

    // Builds `op` over the operands in canonical form and folds constants. Add, Mul, Min, Max, And
    // and Or take one or more operands. Empty if a constant operation has no value (overflow,
    // division by zero, a negative exponent); `fault` has the reason, which the caller reports.
    std::optional<SymId> apply(SymOp op, const std::vector<SymId>& operands);
    std::optional<SymId> apply(SymOp op, std::initializer_list<SymId> operands);
    std::optional<SymId> apply(SymOp op, SymId operand);
    std::optional<SymId> apply(SymOp op, SymId lhs, SymId rhs);
    std::optional<SymId> select(SymId condition, SymId consequent, SymId alternative);
    // One of the 22 built-in functions of SkriptND.
    std::optional<SymId> function(std::string_view name, SymId operand);
    // Why the last apply, select, function or substitute was empty.
    SymFault fault() const;

    ScalarType type(SymId id) const;
    bool is_constant(SymId id) const;
    std::optional<int64_t> as_int(SymId id) const;
    std::optional<double> as_real(SymId id) const;
    std::optional<bool> as_bool(SymId id) const;
    std::optional<std::string> as_string(SymId id) const;
    SymNode node(SymId id) const;

    // The possible values, by interval arithmetic over the ranges of the symbols.
    Interval range(SymId id) const;
    // Decides a bool expression if canonical form and ranges suffice.
    std::optional<bool> prove(SymId condition);

    // a*x + b with literal a != 0 and b. Empty if `id` is not affine in the one symbol.
    struct Affine {
        int64_t factor;
        int64_t offset;
    };
    std::optional<Affine> affine_in(SymId id, SymId symbol) const;
    // The symbols in the expression, in the order of their creation.
    std::vector<SymId> symbols_of(SymId id) const;
    // Replaces symbols and rebuilds; empty if the result has no value. A branch that is not chosen
    // and operands after `false &&` or `true ||` need no value.
    std::optional<SymId> substitute(SymId id, const std::unordered_map<SymId, SymId, IdHash>& with);

    // `2*n + 1`, `(n + 3)/4`, `min(a, b)`: readable and deterministic. Very long texts are cut and
    // end in `…`.
    std::string text(SymId id) const;

    size_t size() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The shortest text that reads back as the same number, with a point or an exponent: `2.0`,
// `1e-05`.
std::string real_text(double value);
// The text in single quotes, escaped so that it reads back.
std::string quoted_text(std::string_view text);

}  // namespace lemma::ir
