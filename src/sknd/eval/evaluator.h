// SPDX-License-Identifier: Apache-2.0
// sknd/eval/evaluator.h — the implementation of evaluate(), one member function per subject; the
// eval_*.cpp files have their bodies. Users of eval.h do not need it.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "sknd/eval/eval.h"

namespace lemma::sknd {

using MaybeValue = std::optional<CompileValue>;
using MaybeScalar = std::optional<Scalar>;

// The place of an operation, for reports.
struct Where {
    Span expr;
    Span op;
};

std::string_view operator_text(BinaryOp op);
std::string_view operator_text(FoldOp op);
std::string items_text(size_t count);  // "1 item", "3 items"

class Evaluator {
public:
    Evaluator(const Module& module,
              const Environment& environment,
              ir::SymbolPool& symbols,
              const EvalLimits& limits,
              Diagnostics& diag)
        : module_(module), env_(environment), symbols_(symbols), limits_(limits), diag_(&diag) {}

    MaybeValue eval(ExprId id);

private:
    // ---- eval.cpp: expressions other than operators ----
    struct EvalNode;
    // The value without a copy: in the environment, or in `storage`. Null pointer: no value.
    const CompileValue* borrow(ExprId id, MaybeValue& storage);
    const CompileValue* find(ExprId id) const;
    MaybeValue eval_member(const Member& member);
    bool has_fixed_length(ExprId pack) const;
    MaybeValue eval_select(const Select& select, Span span);
    MaybeValue select_constant(const Select& select, bool condition);
    MaybeValue select_packed(const Select& select, Pack condition, Span span);
    MaybeValue select_items(const Select& select,
                            const CompileValue& condition,
                            const CompileValue& consequent,
                            const CompileValue& alternative,
                            Span span);
    MaybeScalar select_scalar(const Scalar& condition,
                              const Scalar& consequent,
                              const Scalar& alternative,
                              Span span);
    // Whether the expression is a pack, by its form and by its known identifiers.
    bool packed(ExprId id, int depth = 0) const;
    // Evaluates without reports, for parts of which only the length counts.
    MaybeValue eval_quietly(ExprId id);

    // ---- eval_scalar.cpp: one operation on scalars ----
    MaybeScalar unary(UnaryOp op, const Scalar& operand, Span span);
    MaybeScalar binary(BinaryOp op, const Scalar& lhs, const Scalar& rhs, const Where& where);
    MaybeScalar int_binary(BinaryOp op, int64_t lhs, int64_t rhs, const Where& where);
    static MaybeScalar real_binary(BinaryOp op, double lhs, double rhs);
    MaybeScalar string_binary(BinaryOp op,
                              const std::string& lhs,
                              const std::string& rhs,
                              const Where& where);
    MaybeScalar symbolic_binary(BinaryOp op,
                                const Scalar& lhs,
                                const Scalar& rhs,
                                const Where& where);
    MaybeScalar cast(ir::ScalarType type, const Scalar& operand, Span span);
    MaybeScalar builtin(const Name& function, const Scalar& operand, Span span);
    // Reports an operation of the pool that returned nothing.
    std::nullopt_t report_fault(std::string_view operation, const Where& where);

    // ---- eval_elementwise.cpp: operations on values, item by item ----
    MaybeValue eval_binary(ExprId id);
    bool combine_scalar(const Binary& node, Span span, Scalar& lhs, MaybeValue& value);
    MaybeValue combine(const Binary& node, Span span, CompileValue lhs);
    MaybeValue logical(const Binary& node, Span span, CompileValue lhs);
    MaybeValue apply_binary(const Binary& node,
                            Span span,
                            CompileValue lhs,
                            const CompileValue& rhs);
    MaybeValue apply_in(const Binary& node, const CompileValue& lhs, const CompileValue& rhs);
    MaybeScalar contains(const Pack& pack, const Scalar& item, const Where& where);
    MaybeValue eval_unary(const Unary& node, Span span);
    MaybeValue eval_cast(const Cast& node, Span span);
    MaybeValue eval_builtin(const BuiltinCall& node, Span span);
    template <class Operation>
    MaybeValue map_items(CompileValue value,
                         std::optional<ir::ScalarType> type_if_empty,
                         Operation operation);
    std::nullopt_t length_mismatch(Span span,
                                   std::string_view what,
                                   std::initializer_list<std::pair<Span, size_t>> packs);

    // ---- eval_pack.cpp: lists, ranges, zips ----
    struct ListBuilder;
    MaybeValue eval_list(const List& list, Span span);
    bool add_item(ListBuilder& builder, ExprId id);
    bool add_expansion(ListBuilder& builder, const Expand& expand, Span span);
    bool add_repetition(ListBuilder& builder, Scalar item, const Expand& expand);
    bool add_zip(ListBuilder& builder, const Zip& zip, Span span);
    bool add_range(ListBuilder& builder, const Range& range, Span span);
    bool add_symbolic_range(
        ListBuilder& builder, const Scalar& begin, const Scalar& end, int64_t step, Span span);
    bool add_scalar(ListBuilder& builder, Scalar item, Span span);
    bool accepts(ListBuilder& builder, ir::ScalarType type, Span span);
    bool check_length(uint64_t count, std::string_view what, Span span);
    bool check_bytes(uint64_t bytes, Span span);

    // ---- eval_index.cpp: indexing and substitution ----
    struct Positions;
    MaybeValue eval_index(const Index& index, Span span);
    MaybeValue item_at_unknown(const Pack& pack, ExprId index);
    MaybeValue eval_substitution(const Substitution& node, Span span);
    // The indexed value: a pack of items or a string of characters.
    struct Indexed {
        size_t length;
        bool text = false;
    };
    // The items that an index expression selects.
    std::optional<Positions> positions(ExprId index, Indexed base);
    std::optional<Positions> range_positions(const Range& range, Indexed base);
    std::optional<Positions> pack_positions(const Pack& pack, Span span, Indexed base);
    std::optional<size_t> position(const Scalar& index, Span span, Indexed base);
    std::nullopt_t out_of_range(std::string_view what, int64_t value, Span span, Indexed base);
    // Evaluates one part of a range; a missing one keeps its value. False: no value.
    bool eval_part(ExprId id, std::optional<int64_t>& value, bool& null);

    // ---- eval_fold.cpp ----
    MaybeValue eval_fold(const Fold& fold, Span span);
    MaybeValue fold_arithmetic(FoldOp op, const Pack& pack, const Where& where);
    MaybeValue fold_logical(FoldOp op, const Pack& pack, const Where& where);
    MaybeValue fold_order(FoldOp op, const Pack& pack, const Where& where);
    MaybeValue fold_unique(const Pack& pack, const Where& where);
    MaybeValue fold_uniform(const Pack& pack) const;
    MaybeValue fold_cumulative(FoldOp op, const Pack& pack, const Where& where);
    bool check_fold(FoldOp op, const Pack& pack, const Where& where);
    MaybeScalar conjunction(std::vector<ir::SymId> terms, bool all, const Where& where);

    // ---- eval_string.cpp ----
    MaybeValue eval_string(const StringLiteral& literal, Span span);
    MaybeValue index_string(const std::string& text, const Index& index, Span span);

    // ---- shared ----
    const Expr& expr(ExprId id) const { return module_.exprs[id]; }
    ir::ScalarType type(const Scalar& scalar) const { return type_of(scalar, symbols_); }
    diag::Report report(Span span, DiagKind kind, std::string message) {
        return diag_->error(span, kind, std::move(message));
    }
    std::nullopt_t error(Span span, DiagKind kind, std::string message) {
        diag_->error(span, kind, std::move(message));
        return std::nullopt;
    }
    // False, with a report, if there is too much work.
    bool charge(size_t items, Span span);
    // The constant value of a scalar, plain or in the pool.
    std::optional<int64_t> known_int(const Scalar& scalar) const;
    std::optional<bool> known_bool(const Scalar& scalar) const;
    // A pack of the items; if there are none, their known type and value.
    Pack finish(std::vector<Scalar> items,
                std::optional<Scalar> uniform_if_empty,
                std::optional<ir::ScalarType> type_if_empty) const;

    const Module& module_;
    const Environment& env_;
    ir::SymbolPool& symbols_;
    const EvalLimits& limits_;
    Diagnostics* diag_;
    int depth_ = 0;

    friend class Quiet;
};

// Suppresses reports while it exists.
class Quiet {
public:
    explicit Quiet(Evaluator& evaluator) : evaluator_(evaluator), before_(evaluator.diag_) {
        evaluator_.diag_ = &sink_;
    }
    ~Quiet() { evaluator_.diag_ = before_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

private:
    Evaluator& evaluator_;
    Diagnostics* before_;
    Diagnostics sink_{1};
};

}  // namespace lemma::sknd
