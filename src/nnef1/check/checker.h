// SPDX-License-Identifier: Apache-2.0
// nnef1/check/checker.h — the implementation of check.h: one object walks the document.
#pragma once

#include <array>
#include <map>
#include <set>

#include "nnef1/check/check.h"

namespace lemma::nnef1 {

// The types that `?` can be.
inline constexpr std::array kPrimitives = {
    TypeName::Integer, TypeName::Scalar, TypeName::Logical, TypeName::String};

class Checker {
public:
    Checker(const Document& document,
            const Operations& operations,
            Dialect dialect,
            Diagnostics& diag)
        : document_(document), operations_(operations), dialect_(dialect), diag_(diag) {}

    CheckedDocument check();

private:
    struct Local {
        ValueType type;
        Span span;
        enum class Role : uint8_t { Param, Assigned, Iterator } role = Role::Assigned;
    };
    struct Call {
        ExprId expr;
        const Invocation& invocation;
        const Signature& signature;
    };

    // Declarations (check_decl.cpp).
    void check_declaration(const Fragment& fragment);
    void check_param_type(const Param& param, const ValueType& type);
    void check_result_type(const nnef1::Result& result, const ValueType& type);
    void check_default(const Param& param, const ValueType& type);
    void check_generic(const Fragment& fragment);
    void check_fragment_body(const Fragment& fragment);
    void check_graph(const Graph& graph);
    void declare_symbols();
    void check_unique(const std::vector<Name>& names, std::string_view what);

    // Bodies (check_body.cpp).
    void check_body(const Body& body);
    void collect_targets(ExprId target);
    ValueType type_for(ExprId target, ExprId value);
    bool fits_structure(ExprId target, const ValueType& type) const;
    void check_external(ExprId target, ExprId value);
    void bind_target(ExprId target, const ValueType& type, ExprId value);
    void bind_name(ExprId target, std::string_view name, const ValueType& type, ExprId value);
    bool may_assign(ExprId target, std::string_view name);
    void check_result_value(std::string_view name, const ValueType& type, ExprId value);

    // Expressions (check_expr.cpp).
    ValueType type_of(ExprId id);
    ValueType find_type(ExprId id);
    ValueType identifier_type(Span span, std::string_view name);
    ValueType array_type(const Array& array);
    ValueType tuple_type(const Tuple& tuple);
    ValueType subscript_type(const Subscript& node);
    ValueType range_type(const SubscriptRange& node);
    ValueType condition_type(const IfElse& node, ExprId target);
    ValueType comprehension_type(const Comprehension& node);
    ValueType builtin_type(const BuiltinCall& node);
    void want_integer(ExprId index, std::string_view what);
    void want_logical(ExprId condition);

    // Operators (check_operator.cpp).
    ValueType unary_type(ExprId id, const Unary& node);
    ValueType binary_type(ExprId id, const Binary& node);
    ValueType tensor_operator(ExprId id,
                              std::string_view name,
                              const std::vector<ExprId>& operands);
    ValueType sequence_operator(ExprId id,
                                const Binary& node,
                                const ValueType& a,
                                const ValueType& b);
    ValueType in_type(ExprId id, const ValueType& item, const ValueType& array);
    ValueType bad_operands(ExprId id, const Binary& node, const ValueType& a, const ValueType& b);
    Span operator_span(ExprId id) const { return nnef1::operator_span(expr(id)); }

    // Invocations (check_call.cpp).
    ValueType call_type(ExprId id, const Invocation& invocation);
    ValueType scan_type(ExprId id, const Invocation& invocation);
    std::vector<ExprId> match_arguments(const Call& call);
    void check_all_assigned(const Call& call, const std::vector<ExprId>& arguments);
    std::optional<size_t> match_positional(const Call& call,
                                           const Argument& argument,
                                           size_t index);
    std::optional<size_t> match_named(const Call& call, const Argument& argument);
    void check_place(const Call& call);
    bool misses_quotes(const ValueType& param, ExprId argument);
    std::optional<TypeName> bind_generic(const Call& call,
                                         const std::vector<ExprId>& arguments,
                                         const std::vector<ValueType>& types);
    bool refuses_any(const Call& call,
                     const std::vector<ExprId>& arguments,
                     const std::vector<ValueType>& types);
    void hint_pairs(ExprId argument, diag::Report& report);
    void check_argument(const Call& call,
                        size_t param,
                        ExprId argument,
                        const ValueType& found,
                        const ValueType& wanted);

    const Expr& expr(ExprId id) const { return document_.exprs[id]; }
    ExprId bare(ExprId id) const { return nnef1::bare(document_, id); }

    const Document& document_;
    const Operations& operations_;
    Dialect dialect_;
    Diagnostics& diag_;
    CheckedDocument checked_;
    Table<ExprId, std::optional<ValueType>> types_;

    // State of the current body.
    const Fragment* fragment_ = nullptr;
    const Graph* graph_ = nullptr;
    std::map<std::string_view, Local> locals_;
    std::map<std::string_view, Span> targets_;  // all assigned names of the body
    std::set<std::string_view> externals_;      // names that were assigned `external`
    ExprId external_;                           // the invocation being assigned
};

}  // namespace lemma::nnef1
