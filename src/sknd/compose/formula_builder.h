// SPDX-License-Identifier: Apache-2.0
// sknd/compose/formula_builder.h — turns the @lower statements of one call into formulas (design
// D6). The evaluator does the work: index symbols and tensor elements are unknowns; the formula's
// accesses define the latter.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

class FormulaBuilder : private Environment {
public:
    FormulaBuilder(Composer& composer, Frame& frame);

    // All statements of the definition, with the initialisations that it omits.
    std::optional<std::vector<ir::Formula>> build();
    // The formula of a constant that is filled by index symbols.
    std::optional<ir::Formula> build_constant(const ParamDecl& decl, ir::TensorId tensor);

private:
    struct Element {                          // a tensor of a pack, or the tensor
        std::span<const ir::TensorId> items;  // as bound in the frame
        bool packed = false;
        bool null = false;
        ir::SymId chooser;  // selects the item, if only a run can
    };

    bool build_statement(const LowerStmt& stmt, const Unrolling& unrolling);
    // `bounds`: the unrolled ones.
    bool build_unrolled(const LowerStmt& stmt, const std::vector<size_t>& bounds, size_t next);
    bool build_once(const LowerStmt& stmt);
    bool runs_over_nothing() const;
    std::vector<size_t> bounds_to_unroll(const Unrolling& unrolling) const;
    bool declare_bounds(const std::vector<LoopBound>& bounds);
    bool declare_bound(const LoopBound& bound);
    bool declare_locals(const LowerStmt& stmt);
    bool add_writes(const LowerStmt& stmt, const CompileValue& value);
    void report_pack_index(const Access& target);
    bool add_condition(const LowerStmt& stmt);
    void finish_statement(const LowerStmt& stmt);
    void add_implicit_initializers();
    ir::Formula fill(ir::TensorId tensor, const Scalar& value);
    std::optional<Scalar> null_element(ir::FormulaOp op, ir::DType dtype) const;

    // accesses
    std::optional<CompileValue> access(ExprId id) const override;
    std::optional<CompileValue> guard(ExprId id) const override;
    std::optional<Scalar> item(const Pack& pack, ir::SymId index) const override;
    std::optional<CompileValue> build_access(ExprId id, const Access& node);
    std::optional<CompileValue> build_guard(ExprId id, const Guard& node);
    std::optional<Element> element(ExprId base);
    std::optional<ir::ScalarType> element_type(ExprId base) const;
    // Indices of an access; a pack that is not expanded makes several accesses.
    struct Indices {
        std::vector<std::vector<ir::IndexTerm>> variants;
        bool packed = false;
        bool null = false;
    };
    std::optional<Indices> build_indices(const std::vector<ExprId>& indices,
                                         const ir::Tensor& tensor);
    bool append_index(ExprId id, const ir::Tensor& tensor, Indices& indices);
    std::optional<std::vector<Scalar>> range_positions(ExprId id, int64_t extent);
    bool check_many(uint64_t count, Span span);
    ir::IndexTerm index_term(const Scalar& value) const;
    std::optional<Scalar> read(ir::TensorId tensor, std::vector<ir::IndexTerm> indices, Span span);
    bool settle_indices(ir::TensorId tensor, std::vector<ir::IndexTerm>& indices, Span span);
    std::optional<Scalar> read_table(const Pack& pack, ir::SymId index);
    std::optional<Scalar> choose(ir::SymId chooser, const std::vector<Scalar>& items) const;

    // formula_ranges.cpp
    bool check_ranges(const LowerStmt& stmt);
    bool leaves(const ir::IndexTerm& term, ir::SymId extent) const;
    bool takes_its_extremes(ir::SymId index) const;
    void report_range(ir::TensorId tensor, ir::SymId index, ir::SymId extent, Span span);

    // Environment
    const CompileValue* lookup(std::string_view name) const override;
    const CompileValue* member(std::string_view name, MemberKind member) const override {
        return frame_.member(name, member);
    }
    std::optional<CompileValue> member_of(const CompileValue& tensors,
                                          MemberKind member) const override {
        return frame_.member_of(tensors, member);
    }
    std::optional<ir::ScalarType> type(std::string_view name) const override {
        return frame_.type(name);
    }
    bool spend(size_t items) const override { return frame_.spend(items); }

    std::optional<CompileValue> evaluate(ExprId id) {
        return composer_.evaluate_in(frame_, *this, id);
    }
    ir::SymbolPool& symbols() const { return composer_.program_.symbols; }
    const Expr& expr(ExprId id) const { return frame_.module().exprs[id]; }

    Composer& composer_;
    Frame& frame_;
    std::vector<ir::Formula> formulas_;
    std::set<ir::TensorId> initialized_;
    std::map<ir::TensorId, ir::FormulaOp> accumulated_;   // by the first statement
    std::map<std::vector<Scalar>, ir::TensorId> tables_;  // packs that are read by index
    // the statement being built
    ir::Formula formula_;
    std::map<std::pair<ir::TensorId, std::vector<ir::IndexTerm>>, ir::SymId> elements_;
    std::vector<Span> access_spans_;  // by access of the formula; invalid without a text
    bool empty_loop_ = false;         // a bound is zero
    NameTable<CompileValue> locals_;  // index symbols and local values
    std::map<ir::SymId, ir::IndexTerm> guards_;
    bool dropped_ = false;  // a null bound or an empty loop: the statement has no effect
};

}  // namespace lemma::sknd
