// SPDX-License-Identifier: Apache-2.0
// ir/symbols/symbolic_impl.h — the implementation of SymbolPool, shared by the symbolic_*.cpp
// files: interned nodes in arenas, monomials, and one builder per family of operations.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <limits>

#include "base/check.h"
#include "ir/symbols/small_vector.h"
#include "ir/symbols/symbolic.h"

namespace lemma::ir {

inline constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
inline constexpr Interval kAnyInt{kInt64Min, kInt64Max};
// Longer minima and conjunctions are nested.
inline constexpr size_t kMaxOperands = 64;

using MaybeSym = std::optional<SymId>;

struct MonoId : Id<MonoId> {};

// atom ** power inside a monomial; an atom is any Int node except Int and Sum.
struct Factor {
    SymId atom;
    uint32_t power;
    friend bool operator==(const Factor&, const Factor&) = default;
};
// coef * monomial inside a polynomial. The empty monomial, number 0, belongs to the constant term.
struct Term {
    MonoId mono;
    int64_t coef;
    friend bool operator==(const Term&, const Term&) = default;
};
// Sorted by monomial, without zero coefficients.
using Terms = SmallVector<Term, 6>;

enum class NodeKind : uint8_t {
    Int,     // constants: the value is in `bits`
    Real,    // the bit pattern of a double
    Bool,    //
    Str,     // `name`
    Symbol,  // `name`; `bits` is a serial number
    Sum,     // a polynomial that is neither a constant nor a single atom
    Op,      // anything else: `op` over operands; Function also has a `name`
};

// Op nodes of type Int: Div, Mod, Min, Max, Pow, Select, ToInt, Function (abs, sign), and Add and
// Mul of polynomials beyond the limit. CeilDiv, Neg and Sub are rewritten.
// Op nodes of type Bool over Int operands: LessEqual and Equal with one operand p mean p <= 0 and
// p == 0. With two operands they stand for differences whose coefficients overflow.
struct Node {
    NodeKind kind{};
    SymOp op{};
    ScalarType type{};
    uint8_t unused = 0;  // no padding: nodes are stored as bytes
    uint32_t depth = 0;
    uint32_t begin = 0;  // Sum: terms; Op: operands
    uint32_t count = 0;
    uint32_t name = 0;
    uint32_t first_symbol = UINT32_MAX;  // for symbolic_order.cpp
    int64_t bits = 0;
    Interval range = kAnyInt;
    uint64_t key = 0;  // for symbolic_order.cpp
};
// A product of factors, sorted by atom.
struct Mono {
    uint32_t begin, count, degree;
};

// Open addressing over (hash, index) pairs; the caller compares for equality.
class InternTable {
public:
    static constexpr uint32_t kNone = UINT32_MAX;

    template <class Equal>
    uint32_t find(uint64_t hash, Equal equal) const {
        if (slots_.empty()) return kNone;
        const size_t mask = slots_.size() - 1;
        for (size_t i = hash & mask; slots_[i].index != kNone; i = (i + 1) & mask)
            if (slots_[i].hash == hash && equal(slots_[i].index)) return slots_[i].index;
        return kNone;
    }
    void insert(uint64_t hash, uint32_t index);
    void clear();

private:
    struct Slot {
        uint64_t hash = 0;
        uint32_t index = kNone;
    };
    std::vector<Slot> slots_;
    size_t used_ = 0;
};

struct SymbolPool::Impl {
    Impl() { begin(); }
    void begin();
    void clear();

    // ---- symbolic.cpp: interning ----
    const Node& node(SymId id) const {
        LEMMA_CHECK(id.value < nodes.size());
        return nodes[id.value];
    }
    SymId intern(const Node& node, std::span<const SymId> operands, std::span<const Term> terms);
    SymId append(Node node, std::span<const SymId> operands, std::span<const Term> terms);
    SymId integer(int64_t value);
    SymId real(double value);
    SymId boolean(bool value);
    SymId string(std::string_view value);
    uint32_t intern_name(std::string_view text);
    static uint64_t hash_of(const Node& node,
                            std::span<const SymId> operands,
                            std::span<const Term> terms);
    static uint64_t hash_of(std::span<const Factor> factors);
    static uint64_t hash_of(std::string_view name);
    // A node `op` of the given type, or TooDeep.
    MaybeSym make(SymOp op, ScalarType type, std::span<const SymId> operands, uint32_t name = 0);
    MaybeSym fail(SymFault why) {
        fault = why;
        return std::nullopt;
    }
    MaybeSym dispatch(SymOp op, std::span<const SymId> operands);
    MaybeSym int_op(SymOp op, std::span<const SymId> operands);

    bool is(SymId id, NodeKind kind) const { return node(id).kind == kind; }
    bool is_op(SymId id, SymOp op) const {
        return node(id).kind == NodeKind::Op && node(id).op == op;
    }
    bool is_constant(SymId id) const { return node(id).kind <= NodeKind::Str; }
    std::optional<int64_t> as_int(SymId id) const {
        return is(id, NodeKind::Int) ? std::optional(node(id).bits) : std::nullopt;
    }
    std::optional<double> as_real(SymId id) const {
        return is(id, NodeKind::Real) ? std::optional(std::bit_cast<double>(node(id).bits))
                                      : std::nullopt;
    }
    std::optional<bool> as_bool(SymId id) const {
        return is(id, NodeKind::Bool) ? std::optional(node(id).bits != 0) : std::nullopt;
    }
    std::span<const SymId> operands(SymId id) const {
        return {operand_arena.data() + node(id).begin, node(id).count};
    }
    // Operands stay valid only until the next node is made; copy them to keep them.
    std::vector<SymId> copy_operands(SymId id) const {
        const auto view = operands(id);
        return {view.begin(), view.end()};
    }
    SymId operand(SymId id, size_t index) const { return operand_arena[node(id).begin + index]; }

    // ---- symbolic_poly.cpp: polynomials ----
    std::span<const Factor> factors(MonoId id) const {
        return {factor_arena.data() + monos[id.value].begin, monos[id.value].count};
    }
    MonoId intern_mono(std::span<const Factor> sorted);
    MonoId atom_mono(SymId atom);
    std::optional<MonoId> multiply(MonoId a, MonoId b);  // empty past the degree limit
    // b / a, if a divides it.
    std::optional<MonoId> divide(MonoId b, MonoId a);
    Terms terms_of(SymId id);
    MaybeSym from_terms(const Terms& terms);
    // Empty, with a fault, if a coefficient overflows.
    std::optional<Terms> sum(const Terms& a, const Terms& b, int64_t factor_of_b);
    std::optional<Terms> scaled(const Terms& a, int64_t factor);
    static int64_t constant_of(const Terms& terms);
    static void set_constant(Terms& terms, int64_t value);
    // The greatest common divisor of all coefficients except the constant; 0 if there are none.
    static uint64_t content(const Terms& terms);
    // The atom of a term coef * atom ** 1; an invalid id for other terms.
    SymId linear_atom(const Term& term) const;
    MaybeSym add(SymId a, SymId b, int64_t factor_of_b);
    MaybeSym add_all(std::span<const SymId> operands);
    MaybeSym multiply(SymId a, SymId b);
    MaybeSym negate(SymId a);
    MaybeSym add_constant(SymId a, int64_t value);
    MaybeSym power(SymId base, SymId exponent);

    // ---- symbolic_order.cpp ----
    void set_order(Node& node, std::span<const SymId> operands, std::span<const Term> terms) const;
    // The depth to which expressions are compared that differ only in symbols. Beyond it, the order
    // of creation decides, which only affects the choice between two equal forms.
    static constexpr int kComparedLevels = 4;
    std::strong_ordering compare(SymId a, SymId b, int levels) const;
    std::strong_ordering compare(MonoId a, MonoId b, int levels) const;
    bool before(SymId a, SymId b) const;
    bool before(MonoId a, MonoId b) const;
    void arrange(std::span<SymId> ids) const;
    std::vector<Factor> arranged_factors(MonoId id, int levels = kComparedLevels) const;
    Terms arranged_terms(const Node& sum, int levels) const;
    // The sign of the first coefficient in this order.
    bool leads_negative(const Terms& terms) const;

    // ---- symbolic_div.cpp ----
    MaybeSym floor_div(SymId a, SymId b);
    MaybeSym ceil_div(SymId a, SymId b);
    MaybeSym modulo(SymId a, SymId b);
    MaybeSym floor_div_constant(Terms a, int64_t c);
    MaybeSym floor_div_reduced(Terms a, int64_t c);
    MaybeSym modulo_constant(Terms a, int64_t c);
    bool open_modulo(Terms& a, int64_t c);
    struct Split {
        Terms quotient, rest;
    };
    // a = quotient * b + rest, for the terms of a that b's monomial divides, or for a = k*b.
    std::optional<Split> split_by(const Terms& a, const Terms& b);

    // ---- symbolic_minmax.cpp ----
    MaybeSym extremum(SymOp op, std::span<const SymId> operands);
    MaybeSym absolute(SymId a);
    MaybeSym sign(SymId a);

    // ---- symbolic_bool.cpp ----
    MaybeSym compare(SymOp op, SymId a, SymId b);
    MaybeSym at_most_zero(Terms terms);
    MaybeSym equals_zero(Terms terms);
    MaybeSym junction(SymOp op, std::span<const SymId> operands);
    MaybeSym negation(SymId a);
    MaybeSym exclusive(SymId a, SymId b);
    MaybeSym select(SymId condition, SymId consequent, SymId alternative);
    MaybeSym select_bool(SymId condition, SymId consequent, SymId alternative);

    // ---- symbolic_prove.cpp ----
    // True if terms <= 0 follows from the ranges of the atoms and from the bounds that minima,
    // maxima and divisions imply for their operands.
    bool never_positive(const Terms& terms);
    bool never_positive(const Terms& terms, int& budget);
    std::optional<Terms> raised(const Terms& terms, size_t index, size_t choice);
    Interval range_of(const Terms& terms) const;
    Interval op_range(SymOp op, std::span<const SymId> operands, uint32_t name) const;

    // ---- symbolic_real.cpp: reals, strings, casts, functions ----
    MaybeSym real_op(SymOp op, std::span<const SymId> operands);
    MaybeSym string_op(SymOp op, std::span<const SymId> operands);
    MaybeSym compare_bools(SymOp op, SymId a, SymId b);
    MaybeSym cast(SymOp op, SymId a);
    MaybeSym function(std::string_view name, SymId a);

    // ---- symbolic_substitute.cpp ----
    using Replacement = std::unordered_map<SymId, SymId, IdHash>;
    struct Substitution;

    // ---- symbolic_text.cpp ----
    struct Printer;

    // ---- symbolic_stored.cpp ----
    bool has_valid_parts() const;
    void fill_tables();

    std::vector<Node> nodes;
    std::vector<SymId> operand_arena;
    std::vector<Term> term_arena;
    std::vector<Mono> monos;
    std::vector<Factor> factor_arena;
    InternTable node_table, mono_table, name_table;
    std::vector<std::string> names;
    std::unordered_map<SymId, SymId, IdHash> negations;
    std::array<SymId, 16> small_integers;  // those made so far, for fast access
    int64_t next_symbol = 0;
    SymFault fault = SymFault::None;
};

inline constexpr MonoId kUnit = [] {
    MonoId id;
    id.value = 0;
    return id;
}();

// Saturating interval arithmetic; the int64 extremes mean "no bound" (symbolic_range.cpp).
Interval interval_add(Interval a, Interval b);
Interval interval_mul(Interval a, Interval b);
Interval interval_pow(Interval a, uint32_t power);
Interval interval_div(Interval a, Interval b);
Interval interval_mod(Interval a, Interval b);
Interval interval_abs(Interval a);
bool excludes_zero(Interval a);
// The only value of an interval; an extreme may stand for more.
std::optional<int64_t> only_value(Interval a);

}  // namespace lemma::ir
