// SPDX-License-Identifier: Apache-2.0
// ir/text/print_expr.h — expressions as text, for the program or for one formula. The text depends
// only on the structure of an expression and the order of its symbols, not on the numbers of nodes
// in the pool. It is linear in the number of nodes: a `let` names each part that is large and used
// more than once, or deeply nested.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program/formula.h"
#include "ir/symbols/symbolic.h"

namespace lemma::ir {

class ExprScope {
public:
    // The scope of a formula adds its symbols to those of the program.
    explicit ExprScope(const SymbolPool& pool, ExprScope* outer = nullptr);

    // Symbols, in the order of their declaration in the text.
    void add_symbol(SymId symbol, std::string text);
    // A symbol that is printed as its access; `head` is the text before the indices.
    void add_access(const Access& access, std::string head);
    bool knows(SymId symbol) const { return symbols_.contains(symbol); }
    bool is_access(SymId symbol) const;

    // Counts a use of an expression. After all uses, choose_lets picks the lets.
    void use(SymId root);
    void choose_lets();
    // Names an access by a let, whatever its size and uses; call it before choose_lets.
    void force_let(SymId access);
    // The lets that the expressions need and that have not been taken yet; each reads only earlier
    // ones.
    std::vector<SymId> take_lets(const std::vector<SymId>& roots);
    void name_let(SymId id, std::string name);

    // `inline_only` expands the lets of this scope (but not those of the program).
    std::string text(SymId id, bool inline_only = false);
    // The expression that a let names.
    std::string definition(SymId id);
    std::string indices_text(const std::vector<IndexTerm>& indices);
    // Accesses in the order of their first mention in the texts so far.
    const std::vector<SymId>& mentioned() const { return mentioned_; }

private:
    // From loosest to tightest.
    enum Level { kSelect, kLogic, kCompare, kAdd, kMul, kUnary, kPower, kPrimary };
    struct Symbol {
        std::string text;
        uint32_t position;
        const Access* access = nullptr;
    };
    struct Info {
        uint64_t hash = 0;
        uint32_t first;  // the earliest symbol inside; constants have none
        uint32_t height = 0;
        bool open = false;  // has symbols from outside of this scope
        uint32_t uses = 0;
        uint32_t weight = 1;   // nodes of the text, lets counted as one
        uint32_t nesting = 0;  // height above lets
        bool let = false;
        bool taken = false;
        std::string name;  // of a let
    };
    struct Key {
        uint32_t first;
        uint64_t hash;
        auto operator<=>(const Key&) const = default;
    };
    struct SideTerm {
        SymTerm term;  // factors in the order of the text
        Key key;
        uint32_t degree;
        bool negative;
    };

    // Structure, without recursion.
    static bool any_order(const SymNode& node);
    const Info& info(SymId id);
    Info& own(SymId id) { return infos_.at(id); }
    bool is_outer(SymId id);
    const Symbol* find(SymId symbol) const;
    std::vector<SymId> structural_operands(const SymNode& node, SymId id) const;
    std::vector<SymId> printed_operands(const SymNode& node, SymId id) const;
    std::vector<SymId> index_operands(const std::vector<IndexTerm>& indices) const;
    Info compute(const SymNode& node, SymId id);
    uint64_t term_hash(const SymTerm& term);
    Key key(SymId id);

    // Text
    void print(SymId id, Level least);
    void print_node(SymId id, const SymNode& node, Level least);
    void print_constant(SymId id, Level least);
    void print_symbol(SymId id, const SymNode& node);
    void print_operation(const SymNode& node, Level least);
    void print_exclusive(const SymNode& node, bool negated, Level least);
    // Whether the order of the text swaps the sides, which the pool orders by the numbers of nodes.
    bool turns(SymId comparison);
    void print_turned(SymId comparison, Level least, bool turned);
    void print_comparison(SymId polynomial, SymOp op, bool negated);
    void print_sides(const std::vector<SideTerm>& left,
                     std::string_view op,
                     const std::vector<SideTerm>& right);
    void print_infix(const std::vector<SymId>& operands, SymOp op, std::string_view sign);
    void print_call(std::string_view name, const std::vector<SymId>& operands);
    void print_index(const IndexTerm& term);
    void print_indices(const std::vector<IndexTerm>& indices);
    void print_sum(std::vector<SideTerm> terms);
    static void turn_signs(std::vector<SideTerm>& terms);
    void print_term(const SideTerm& term, bool led_by_minus);
    std::vector<SideTerm> side_terms(SymId id);
    // The terms of 1 - p, for p > 0; empty on overflow.
    std::vector<SideTerm> opposite_terms(SymId id);
    std::vector<SymId> ordered(const SymNode& node);
    template <class Body>
    void wrapped(bool parentheses, Body body);

    const SymbolPool& pool_;
    ExprScope* outer_;
    std::unordered_map<SymId, Symbol, IdHash> symbols_;
    std::unordered_map<SymId, Info, IdHash> infos_;
    std::vector<SymId> used_;  // in the order of their first use
    std::vector<SymId> mentioned_;
    std::unordered_map<SymId, bool, IdHash> was_mentioned_;
    std::string out_;
    bool inline_only_ = false;
};

}  // namespace lemma::ir
