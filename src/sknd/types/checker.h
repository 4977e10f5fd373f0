// SPDX-License-Identifier: Apache-2.0
// sknd/types/checker.h — the state of a check. PackageChecker finds definitions; DefinitionChecker
// walks one of them block by block, in the processing order of spec 2.2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"
#include "sknd/eval/eval.h"
#include "sknd/names/binding.h"
#include "sknd/types/broken.h"
#include "sknd/types/scope.h"
#include "sknd/types/types.h"

namespace lemma::sknd {

// Memory that the checks of definitions reuse.
struct Scratch {
    ir::SymbolPool symbols;
    Scopes scopes;
};

class PackageChecker {
public:
    // `syntax`: the reports of the parser.
    PackageChecker(const Package& package, const CheckOptions& options, const Diagnostics& syntax);

    const BrokenParts& broken(ModuleId id) const { return broken_[id.value]; }
    bool broken(DefRef ref) const { return broken_[ref.module.value].broken(ref.definition); }
    const Package& package() const { return package_; }
    const CheckOptions& options() const { return options_; }
    const Definition& definition(DefRef ref) const;
    const Module& module_of(DefRef ref) const { return package_[ref.module].module; }
    const Signature& signature(DefRef ref);
    bool spend(size_t items) { return work_.spend(items); }
    // For one definition at a time, cleared in between.
    Scratch& scratch() { return scratch_; }
    void clear_scratch() {
        scratch_.symbols.clear();
        scratch_.scopes.clear();
    }

    // The definition of a name inside `from`; reports an error if there is none.
    std::optional<DefRef> resolve(ModuleId from, const QualifiedName& name, Diagnostics& diag);

private:
    void report_unknown(ModuleId from, const QualifiedName& name, Diagnostics& diag);
    void report_unknown_qualified(ModuleId from, const QualifiedName& name, Diagnostics& diag);

    const Package& package_;
    const CheckOptions& options_;
    WorkMeter work_;
    std::vector<BrokenParts> broken_;
    std::vector<std::vector<std::optional<Signature>>> signatures_;  // by module and definition
    Scratch scratch_;
};

// The context of an expression decides how it may use tensors.
enum class Context : uint8_t {
    Value,    // compile-time: only members of tensors
    Lower,    // a formula: tensors are read by access
    Compose,  // tensors are passed as a whole
};

std::string plural(size_t count, std::string_view noun);  // "1 input", "2 inputs"

// A call in @compose or @quantize.
struct CallSite {
    DefRef callee;
    Span callee_span;
    const std::vector<Name>* types = nullptr;
    const std::vector<AttributeArg>* attributes = nullptr;
    const std::vector<ExprId>* arguments = nullptr;  // null: no inputs are given (@quantize)
    Span arguments_span;
    const Symbol* quantized = nullptr;  // the tensor that @quantize passes, if known
    Span quantized_span;
};

class DefinitionChecker : private Environment {
public:
    DefinitionChecker(PackageChecker& package, DefRef ref, TypedModule& tables, Diagnostics& diag);

    // The source of a graph's inputs. The inputs of a main graph come from the user, so every
    // extent needs a bound. A graph without an invocation may be a main graph another time.
    enum class Role : uint8_t { Invoked, Spare, Main };
    TypedDefinition run(Role role);

private:
    using Results = std::vector<Type>;

    // check_decl.cpp: declarations, block by block
    void check_blocks();
    void check_dtypes();
    void declare_attributes();
    void declare_inputs();
    void check_attribute_defaults();
    bool defaults_read_defaults() const;
    void check_default_cycles();
    void check_default_value(const ParamDecl& decl, const Type& declared, const Type& value);
    void check_input_defaults();
    void check_usings();
    void declare_using(const LValue& lhs,
                       const Type& type,
                       const std::optional<CompileValue>& value);
    void declare_using_list(const LValue& lhs, const Type& type);
    void declare_helper(const Name& name, Type type, std::optional<CompileValue> value);
    void check_asserts();
    void declare_tensors(const std::vector<ParamDecl>& decls, SymbolKind kind);
    void check_constant_bounds(const ParamDecl& decl, const Type& type);
    void check_constant_value(const ParamDecl& decl, const Type& type);
    void collect_later_names();

    // check_shape.cpp: types, shapes and pack lengths
    Type resolve_base(const Name& name, bool allow_abstract);
    Type declared_type(const TypeSpec& spec, std::string_view name);
    void check_rank(ExprId id, const Type& tensor);
    ir::SymId check_shape(const TypeSpec& spec, const Type& tensor);
    ir::SymId check_extent(const ExtentSpec& extent, const Type& tensor);
    ir::SymId check_pack_length(const PackSpec& pack, std::string_view name);
    void check_tensor_shape(const ParamDecl& decl, SymbolKind kind);
    void check_bounds(const std::vector<ParamDecl>& decls);
    // False, and reported, if the user cannot supply it.
    bool check_main_input(const ParamDecl& decl, Role role);

    // check_extents.cpp: the names that shapes and pack lengths declare (spec 2.6)
    void declare_extent_names();
    void declare_input_extents(bool optional);
    void declare_scalar_extents(const TypeSpec& spec);
    void declare_packed_extents(const TypeSpec& spec);
    void declare_output_extents();
    void declare_fresh(ExprId expr, bool optional = false);
    void declare_fresh_pack(const ExtentSpec& extent, const TypeSpec& spec);
    const Expr* fresh_name(ExprId expr) const;

    // check_binding.cpp: spec 2.6.1
    std::vector<size_t> check_binding_order();
    void check_uniform_defaults(NameSet known);

    // check_expr.cpp, check_expr_pack.cpp, check_expr_tensor.cpp: types of expressions
    Type type_expr(ExprId id);
    struct TypeNode;
    Type type_identifier(ExprId id, const Identifier& node);
    Type type_string(const StringLiteral& node);
    Type type_member(ExprId id, const Member& node);
    Type type_unary(ExprId id, const Unary& node);
    Type type_binary(ExprId id, const Binary& node);
    Type type_is(ExprId id, const Binary& node);
    Type type_in(ExprId id, const Binary& node);
    Type type_select(ExprId id, const Select& node);
    Type type_coalesce(ExprId id, const Coalesce& node);
    Type type_null_test(ExprId id, const NullTest& node);
    Type type_cast(ExprId id, const Cast& node);
    Type type_builtin(ExprId id, const BuiltinCall& node);
    Type type_fold(ExprId id, const Fold& node);
    Type type_list(ExprId id, const List& node);
    Type type_list_item(ExprId id);
    Type type_range(ExprId id, const Range& node);
    Type type_expand(ExprId id, const Expand& node);
    Type type_zip(ExprId id, const Zip& node);
    Type type_index(ExprId id, const Index& node);
    Type type_substitution(ExprId id, const Substitution& node);
    Type type_access(ExprId id, const Access& node);
    Type type_guard(ExprId id, const Guard& node);
    ir::SymId type_access_index(ExprId id, Type& result);
    ir::SymId range_length(const Range& range, ir::SymId length);
    Type index_type(ExprId id);  // int, int.. or bool.. (a mask)

    Type scalar_operand(ExprId id);  // a compile-time value or an element, never a tensor
    Type any_operand(ExprId id);     // also tensors, in @compose
    // A top-level compile-time expression. It is also evaluated, which finds errors that every call
    // would have.
    Type compile_value(ExprId id, std::optional<CompileValue>* value = nullptr);
    void reject_tensor(ExprId id, Type& type);
    void expect_base(ExprId id, const Type& type, BaseType want, std::string_view what);
    void expect_single(ExprId id, const Type& type, std::string_view what);
    void expect_present(ExprId id, const Type& type, std::string_view what);
    ir::SymId join_lengths(Span span, const Type& a, const Type& b, std::string_view what);
    bool numeric(const Type& type) const;
    void report_undeclared(ExprId id, std::string_view name);

    // check_lower.cpp
    void check_lowers();
    void check_lower(const LowerStmt& stmt);
    Type static_operand(ExprId id, std::string_view what);
    void declare_bounds(const std::vector<LoopBound>& bounds);
    void declare_unroll(const IterCount& unroll);
    SymbolId check_lower_target(const LowerStmt& stmt);
    void check_lower_value(const LowerStmt& stmt, const Type& target);
    void check_lower_order(const LowerStmt& stmt, SymbolId output);
    void check_lower_outputs();

    // check_compose.cpp: components and their right sides
    void check_compose();
    void check_update();
    void check_components(const std::vector<Component>& components, BlockKind block, bool nested);
    void check_component(const Component& component, BlockKind block, bool nested);
    void bind_results(const Component& component,
                      const Results& results,
                      BlockKind block,
                      bool nested);
    bool bind_single_pack(const Component& component,
                          const Results& results,
                          BlockKind block,
                          bool nested);
    void check_stated_length(const LValue& lhs, const Type& type);
    void bind_result(const LValue& lhs, const Type& type, BlockKind block, bool nested);
    void bind_list(const LValue& lhs, const Type& type, BlockKind block, bool nested);
    void bind_name(
        const LValueItem::Target& target, Type type, Span span, BlockKind block, bool nested);
    void assign(Symbol& symbol, const Name& name, const Type& type, BlockKind block);
    void check_assigned_type(const Symbol& symbol, const Name& name, const Type& type);
    void check_label(const Region& region);
    std::optional<Results> type_region(RegionId id, bool control_flow);
    std::optional<Results> type_block(const Block& block);
    std::optional<Results> type_value(const Value& value);
    void check_all_assigned(const std::vector<ParamDecl>& outputs);

    // check_control.cpp: branches and loops
    std::optional<Results> type_branch(const Branch& branch);
    bool check_condition(RegionId id, std::string_view what);
    bool merge_arms(Span span, bool dynamic, Results& results, const Results& arm);
    std::optional<Results> type_loop(const Region& region, const Loop& loop);
    void check_loop_form(const Region& region, const Loop& loop);
    std::vector<Symbol> carried_symbols(const Loop& loop);
    ir::SymId scan_symbols(const Loop& loop, std::vector<Symbol>& symbols);
    ir::SymId count_symbols(const Loop& loop, std::vector<Symbol>& symbols);
    std::optional<Results> loop_results(const Region& region, const Loop& loop, ir::SymId length);
    using Names = std::vector<std::string_view>;
    Names null_tested_names(ExprId condition) const;
    void push_promoted(const Names& names);

    // check_call.cpp: calls of operators
    std::optional<Results> type_invocation(RegionId id, const Invocation& call, bool control_flow);
    Results check_call(const CallSite& call);
    void bind_explicit_types(const CallSite& call, std::vector<Type>& generics);
    void check_attributes(const CallSite& call, std::vector<Type>& generics);
    void check_attribute(const AttributeArg& arg,
                         const Parameter& parameter,
                         const Signature& callee,
                         std::vector<Type>& generics);
    void check_missing_attributes(const CallSite& call);
    bool default_is_null(const CallSite& call, const Parameter& parameter);
    void check_arguments(const CallSite& call, std::vector<Type>& generics);
    void check_argument(ExprId id,
                        const Parameter& parameter,
                        const Signature& callee,
                        std::vector<Type>& generics);
    // `value` is the argument, if there is one.
    void match_type(Span span,
                    const Type& got,
                    const Parameter& parameter,
                    const Signature& callee,
                    std::vector<Type>& generics,
                    ExprId value = {});
    // Suggests a conversion of the value to the wanted type.
    void suggest_conversion(ExprId value, const Type& got, BaseType want, diag::Report& report);
    bool generic_fits(const Type& type, Bound bound) const;
    void finish_generics(const CallSite& call, std::vector<Type>& generics);
    void check_quantizes();
    void check_quantize(const QuantizeStmt& stmt);
    void check_quantized_tensor(const QualifiedName& name);

    // Environment: names that the evaluator may know
    const CompileValue* lookup(std::string_view name) const override;
    bool spend(size_t items) const override { return package_.spend(items); }
    const CompileValue* member(std::string_view name, MemberKind member) const override;
    std::optional<ir::ScalarType> type(std::string_view name) const override;

    // helpers
    const Expr& expr(ExprId id) const { return module_.exprs[id]; }
    std::string source(ExprId id) const;
    std::string text(const Type& type) const { return type_text(type, signature_.generics); }
    diag::Report error(Span span, DiagKind kind, std::string message) {
        return diag_.error(span, kind, std::move(message));
    }
    diag::Report error(ExprId id, DiagKind kind, std::string message) {
        return diag_.error(expr(id).span, kind, std::move(message));
    }
    void check_reserved(const Name& name);
    // Declares the name, unless this scope has it: then reports and returns the old one.
    SymbolId declare(Symbol symbol);
    static Symbol make_symbol(const Name& name, SymbolKind kind, const Type& type) {
        return make_symbol(name.text, name.span, kind, type);
    }
    static Symbol make_symbol(Name&& name, SymbolKind kind, const Type& type) = delete;
    static Symbol make_symbol(std::string_view name, Span span, SymbolKind kind, const Type& type);
    // A fresh unknown for a scalar, for the evaluator.
    std::optional<CompileValue> unknown_value(std::string_view name, const Type& type, bool extent);
    bool is_plain(ExprId id) const;
    std::optional<CompileValue> evaluate_quietly(ExprId id);
    ir::SymId symbolic_int(ExprId id);
    ir::SymId sym_add(ir::SymId a, ir::SymId b);
    // A number of items or axes; invalid stays invalid.
    ir::SymId sym_const(int64_t value) { return symbols_.integer(value); }
    bool surely_differ(ir::SymId a, ir::SymId b);
    // "1 item", "k + 1 items"
    std::string count_text(ir::SymId count, std::string_view noun = "item") const;

    PackageChecker& package_;
    const DefRef ref_;
    const Module& module_;
    const Definition& def_;
    const Signature& signature_;
    TypedModule& tables_;
    Diagnostics& diag_;
    ir::SymbolPool& symbols_;
    Scopes& scopes_;
    Context context_ = Context::Value;
    bool guard_allowed_ = false;
    bool declaring_ = false;        // true in the shapes of inputs, whose extents may be new names
    std::string tensor_call_;       // while an operator of @compose is checked: the equivalent call
    std::string_view static_part_;  // the current part of a formula, if it cannot read tensors
    mutable CompileValue member_value_;
    // Names that later blocks declare, for messages.
    struct LaterName {
        BlockKind block;
        Span span;
    };
    NameTable<LaterName> later_names_;
    std::vector<NameTable<bool>> pending_names_;  // by open block: whether it is assigned later
    std::vector<NameSet> labels_;                 // used so far, by open block
    NameSet lowered_;                             // outputs with a statement
    NameTable<Span> initialized_, updated_;       // outputs, where they are assigned
    size_t kept_bytes_ = 0;                       // bytes of the values of helpers
    NameTable<ExprId> bounds_;                    // bounds of dynamic extents, `s|bound`
};

}  // namespace lemma::sknd
