// SPDX-License-Identifier: Apache-2.0
// interpret/bytecode_compiler.h — the parts of the compiler of formulas; see bytecode.h.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "interpret/bytecode.h"

namespace lemma::interpret {

// A register, and the depth of the instruction that fills it.
struct CodePosition {
    uint32_t reg = 0;
    size_t depth = 0;
};

// Comparisons of a sum with zero are computed from two sides (comparison.h).
inline bool compares_with_zero(const ir::SymNode& node) {
    const bool compares = node.op == ir::SymOp::LessEqual || node.op == ir::SymOp::Equal;
    return node.kind == ir::SymKind::Operation && compares && node.operands.size() == 1;
}

class BytecodeCompiler {
public:
    using Position = CodePosition;

    BytecodeCompiler(const ir::Program& program,
                     ir::SymbolPool& symbols,
                     const ir::Formula& formula,
                     const Bytecode::Shapes& shapes,
                     bool in_float)
        : program_(program),
          pool_(symbols),
          formula_(formula),
          shapes_(shapes),
          in_float_(in_float) {}

    Result<Bytecode> compile();

private:
    Position value(ir::SymId id);
    Position make(ir::SymId id);
    Position constant(ir::SymId id);
    Position sum(const std::vector<ir::SymTerm>& terms);
    Position product(const ir::SymTerm& term);
    Position comparison(const ir::SymNode& node);
    Position operation(const ir::SymNode& node);
    Position chain(Code code, const std::vector<Position>& places);
    Position access(const ir::Access& access);
    // The offset of the element; emits checks and guards before it.
    Position offset(ir::TensorId tensor,
                    const std::vector<ir::IndexTerm>& terms,
                    size_t least_depth,
                    std::optional<Position> only_if);
    Position checked_index(uint32_t array,
                           const ir::IndexTerm& term,
                           int64_t extent,
                           std::optional<Position> only_if);
    Position remapped(const ir::IndexTerm& term, Position bound);
    void check_fits(uint32_t array, const ir::IndexTerm& term, std::optional<Position> only_if);
    // Whether the arithmetic of an index overflows; empty if it never does.
    std::optional<Position> overflow(ir::SymId id);
    std::optional<Position> sum_overflow(const std::vector<ir::SymTerm>& terms);
    std::optional<Position> operation_overflow(const ir::SymNode& node);
    std::optional<Position> join(std::optional<Position> a, std::optional<Position> b);
    bool fits(ir::SymId id);
    bool sum_fits(const std::vector<ir::SymTerm>& terms);
    // Upper bound of a number; infinite if it depends on elements of tensors.
    double size(ir::SymId id) const;
    double size(const ir::SymTerm& term) const;
    bool is_near_element(ir::SymId id, double room);
    Position emit(Code code, Position a, Position b = {}, Position c = {});
    // An operation with a real result, which is rounded to float if the formula computes in float.
    Position emit_real(Code code, Position a, Position b = {});
    Position rounded(Position real) { return in_float_ ? emit(Code::RoundR, real) : real; }
    Position function(std::string_view name, Position operand);
    Position ceil_div(Position a, Position b);
    Position modulo(Position a, Position b);
    void put(size_t depth, Instruction instruction) {
        kernel_.blocks_[depth].push_back(instruction);
    }
    Position integer(int64_t number) { return value(pool_.integer(number)); }
    uint32_t new_register() {
        kernel_.initial_.push_back({});
        return static_cast<uint32_t>(kernel_.initial_.size() - 1);
    }
    uint32_t array_index(ir::TensorId tensor);
    void add_write(const ir::Write& write);
    size_t innermost() const { return kernel_.blocks_.size() - 1; }
    Position fail(std::string message);
    bool writes_what_it_reads() const;
    Result<void> order_loops();
    bool may_be_innermost(ir::SymId index) const;
    void find_conditions();
    void visit_conditions(ir::SymId root, ir::SymId needed);
    ir::SymId either(ir::SymId a, ir::SymId b);
    ir::SymId visit_logic(const ir::SymNode& node, ir::SymId needed);
    bool reads(ir::SymId id) const;

    const ir::Program& program_;
    ir::SymbolPool& pool_;
    const ir::Formula& formula_;
    const Bytecode::Shapes& shapes_;
    const bool in_float_;
    Bytecode kernel_;
    std::map<ir::SymId, Position> places_;
    std::map<ir::SymId, const ir::Access*> accesses_;
    std::set<ir::SymId> active_;  // accesses being compiled
    std::map<ir::TensorId, uint32_t> array_indices_;
    std::map<ir::SymId, int64_t> loop_extents_;  // by the loop's index
    std::map<ir::SymId, std::optional<Position>> overflows_;
    std::map<ir::SymId, bool> fits_;
    // The condition under which an element is needed: elements in a branch of a select, only if it
    // is taken.
    std::map<ir::SymId, ir::SymId> needed_;
    std::string error_;
};

}  // namespace lemma::interpret
