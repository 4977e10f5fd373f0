// SPDX-License-Identifier: Apache-2.0
// sknd/compose/composer.h — the state of composing one graph. The steps of a call follow spec 2.6.1
// and chapter 3: types, attributes, input shapes, helpers and asserts, outputs, body.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sknd/compose/compose.h"
#include "sknd/compose/frame.h"
#include "sknd/compose/repeat.h"

namespace lemma::sknd {

// A call whose arguments are evaluated in the caller's frame.
struct CallArgs {
    DefRef callee;
    Span span;
    std::string scope;             // label path of the callee
    bool is_root = false;          // a graph whose label path begins at its own name
    std::vector<ir::DType> types;  // given explicitly, in order
    std::vector<ir::Attribute> attributes;
    std::vector<Binding> inputs;  // may be fewer than declared
};
using Results = std::vector<Binding>;

// `first` and `w` make `first.w`; an empty part adds nothing.
std::string join_scope(const std::string& scope, std::string_view label);

class Composer {
public:
    Composer(const Package& package, const ComposeOptions& options, Diagnostics& diag);
    std::optional<ir::Program> run();

private:
    friend class FormulaBuilder;
    friend class CallComposer;

    // compose_main.cpp: the main graph
    std::optional<DefRef> pick_graph();
    bool compose_main(DefRef graph);
    bool set_graph_attributes(Frame& frame);
    // Converts the value to the declared type; empty if it has another type.
    std::optional<CompileValue> fit_value(const ParamDecl& decl, const CompileValue& value);
    bool repeat_known(Frame& frame);
    bool declare_graph_inputs(Frame& frame);
    bool declare_graph_input(Frame& frame, const ParamDecl& decl);
    void collect_ports(Frame& frame);
    void make_names_unique();
    bool is_graph(const Frame& frame, const Name& name) const;
    void compose_quantize(Frame& frame);
    bool fits_quantizer(Frame& frame,
                        const QuantizeStmt& stmt,
                        const ir::Quantizer& quantizer,
                        ir::TensorId tensor);

    // call.cpp: one call
    std::optional<Results> call(Frame& caller, CallArgs args);
    void expose(const Frame& frame);
    bool enter(Frame& frame, const CallArgs& args);
    bool bind_names(Frame& frame, const CallArgs& args);
    std::optional<Results> finish_primitive(Frame& frame, ir::OpId op);
    std::optional<std::vector<ir::Formula>> formulas_of(Frame& frame);
    std::optional<Results> compose_body(Frame& frame, ir::OpId op);
    std::optional<Results> take_outputs(Frame& frame);
    ir::OpId start_operation(Frame& frame, const CallArgs& args);
    const Plan& plan(DefRef ref);
    std::optional<DefRef> resolve(ModuleId from, const QualifiedName& name) const;

    // outputs.cpp: compares declared outputs with composed ones
    class OutputCheck;
    struct OpenCheck {  // decided only at run time
        ir::Assertion assertion;
        ir::TensorId tensor;  // the constrained tensor
    };
    bool check_outputs(Frame& frame, const Results& results, std::vector<OpenCheck>& open);
    void require_of_main(const Frame& frame, std::vector<OpenCheck> open);
    // The operation that makes the tensor; invalid if there is none.
    ir::OpId maker_of(ir::TensorId tensor, const std::vector<ir::OpId>& operations) const;
    // The runtime conditions under which shapes of equal rank agree; `what` describes them.
    std::vector<ir::Assertion> open_equalities(const std::vector<ir::SymId>& got,
                                               const std::vector<ir::SymId>& want,
                                               const std::string& what);

    // repeat.cpp: calls that equal an earlier one
    std::optional<std::string> repeat_key(const Frame& frame, const CallArgs& args) const;
    bool enter_again(Frame& frame, const CallArgs& args, const std::string& key);
    void remember(Frame& frame, std::string key, size_t work);
    bool keep(size_t size);
    using Shapes = std::vector<std::vector<ir::SymId>>;
    std::optional<Shapes> known_shapes(Frame& frame, const ParamDecl& decl, size_t count);

    // repeat_formulas.cpp
    std::optional<CallTensors> tensors_of(const Frame& frame) const;
    std::optional<std::vector<ir::Formula>> formulas_again(const Frame& frame,
                                                           const CallTensors& tensors);
    void remember_formulas(const Frame& frame,
                           CallTensors tensors,
                           const std::vector<ir::Formula>& formulas,
                           size_t work);

    // bind_attributes.cpp, bind_shapes.cpp
    void bind_widths(Frame& frame, const CallArgs& args);
    bool bind_types(Frame& frame, const CallArgs& args);
    bool bind_attributes(Frame& frame, const CallArgs& args);
    bool bind_default(Frame& frame, const ParamDecl& decl);
    void set_attribute(Frame& frame, const ParamDecl& decl, CompileValue value);
    bool bind_deferred(Frame& frame);
    bool bind_lengths(Frame& frame, bool lists);
    bool bind_length(Frame& frame, const ParamDecl& decl, const Pack& pack);
    bool repeat_value(Frame& frame, const ParamDecl& decl, const Scalar& value);
    bool bind_inputs(Frame& frame, const CallArgs& args);
    bool bind_input(Frame& frame, const ParamDecl& decl, const Binding& binding);
    bool bind_default_input(Frame& frame, const ParamDecl& decl);
    void bind_null(Frame& frame, const ParamDecl& decl);
    bool bind_pack_size(Frame& frame, const ParamDecl& decl, const ir::Operand& operand);
    bool bind_shape(Frame& frame, const ParamDecl& decl, const ir::Operand& operand);
    std::optional<std::vector<int64_t>> split_axes(Frame& frame,
                                                   const ParamDecl& decl,
                                                   int64_t rank);
    bool bind_extents(Frame& frame,
                      const ParamDecl& decl,
                      const ExtentSpec& extent,
                      const std::vector<ir::SymId>& axes);
    bool bind_spread(Frame& frame,
                     const ParamDecl& decl,
                     const ExtentSpec& extent,
                     const std::vector<ir::SymId>& axes);
    // Binds the one unknown name of the expression so that it equals the value, or checks it.
    bool bind_value(Frame& frame,
                    const ParamDecl& decl,
                    ExprId expr,
                    const std::vector<ir::SymId>& values,
                    bool packed);
    std::optional<ir::SymId> solve(
        Frame& frame, const ParamDecl& decl, ExprId expr, std::string_view name, ir::SymId value);
    bool require_equal(
        Frame& frame, const ParamDecl& decl, ExprId expr, ir::SymId got, ir::SymId want);
    void note_sources(const Frame& frame,
                      const ParamDecl& decl,
                      ExprId expr,
                      diag::Report& report) const;
    std::optional<std::string_view> unknown_name(const Frame& frame, ExprId expr) const;

    // asserts.cpp: helpers and conditions, interleaved (spec 2.9)
    bool evaluate_helpers(Frame& frame);
    bool check_asserts(Frame& frame, bool last);
    bool check_asserts(Frame& frame, const std::vector<size_t>& which);
    bool can_check(const Frame& frame, ExprId condition) const;
    bool check_assert(Frame& frame, const AssertStmt& stmt, bool quietly);
    std::string assert_message(Frame& frame, const AssertStmt& stmt);
    void evaluate_ahead(Frame& frame);
    bool set_helper(Frame& frame, const UsingStmt& stmt, const CompileValue& value);
    bool split_helper(Frame& frame, const UsingStmt& stmt, const Pack& pack);
    bool all_known(const Frame& frame, ExprId expr) const;

    // tensors.cpp: declared tensors of a definition
    bool declare_locals(Frame& frame);
    bool declare_constant(Frame& frame, const ParamDecl& decl);
    bool declare_outputs(Frame& frame);
    std::optional<ir::Operand> declare_tensor(Frame& frame,
                                              const ParamDecl& decl,
                                              ir::TensorRole role);
    std::optional<std::vector<std::vector<ir::SymId>>> declared_shapes(Frame& frame,
                                                                       const TypeSpec& spec,
                                                                       size_t count);
    bool append_extent(Frame& frame,
                       const ExtentSpec& extent,
                       std::vector<std::vector<ir::SymId>>& shapes);
    bool is_rank(const Frame& frame, const ExtentSpec& extent, int64_t count);
    std::optional<ir::SymId> pack_length(Frame& frame, const PackSpec& pack);
    bool is_dynamic(const Frame& frame, const ExtentSpec& extent) const;
    std::optional<std::vector<Scalar>> dynamic_extents(Frame& frame, const ExtentSpec& extent);
    ir::TensorId add_tensor(ir::Tensor tensor);
    std::optional<ir::TensorId> add_variable(Frame& frame,
                                             const ParamDecl& decl,
                                             ir::Tensor tensor);
    // Lets @quantize name the tensors by their path.
    void expose(const Frame& frame, const std::string& path, const ir::Operand& operand);
    ir::TensorId add_scalar(Frame& frame, const Scalar& value);
    ir::DType dtype_of(const Frame& frame, std::string_view name) const;
    ir::DType dtype_of(const Scalar& value) const;

    // components.cpp: @compose
    bool compose_components(Frame& frame, const std::vector<Component>& components);
    std::optional<Results> compose_region(Frame& frame, RegionId id, const std::string& scope);
    std::optional<Results> compose_invocation(Frame& frame,
                                              const Invocation& call,
                                              const Region& region,
                                              const std::string& scope);
    std::optional<Results> compose_block(Frame& frame,
                                         const Block& block,
                                         const std::string& scope);
    std::optional<Binding> tensor_value(Frame& frame, ExprId expr);
    std::optional<Binding> tensor_list(Frame& frame, const List& list);
    std::optional<Binding> tensor_items(Frame& frame, ExprId id, ExprId base);
    bool has_fixed_length(const Frame& frame, ExprId id, const Binding& pack);
    std::optional<Binding> as_tensors(Frame& frame, const CompileValue& value);
    bool is_tensor_expr(const Frame& frame, ExprId expr) const;
    // `made_here`: tensors from this id on are new and take the name of the result.
    void bind_results(Frame& frame,
                      const Component& component,
                      const Results& results,
                      size_t made_here);
    void bind_result(Frame& frame, const LValue& lhs, const Binding& result, size_t made_here);
    bool check_result_length(Frame& frame, const LValueItem& item, const Binding& result);
    void name_tensors(Frame& frame,
                      std::string_view name,
                      const ir::Operand& operand,
                      size_t made_here);
    std::string component_scope(const Frame& frame, const Component& component) const;

    // control.cpp: branches and sub-graphs
    std::optional<Results> compose_branch(Frame& frame,
                                          RegionId id,
                                          const Branch& branch,
                                          const std::string& scope);
    std::optional<bool> static_condition(Frame& frame, RegionId condition);
    bool is_static(const Frame& frame, RegionId condition) const;
    std::optional<Results> compose_dynamic_branch(Frame& frame,
                                                  const Region& region,
                                                  const Branch& branch,
                                                  size_t first,
                                                  const std::string& scope);
    struct SubGraph {
        ir::GraphId graph;
        std::vector<ir::Update> updates;  // updates by its calls; not yet part of the program
    };
    std::optional<SubGraph> compose_subgraph(Frame& frame,
                                             RegionId id,
                                             const std::string& name,
                                             const std::string& scope);
    std::string labelled_scope(const Frame& frame, RegionId id, const std::string& scope) const;
    std::optional<Results> compose_labelled(Frame& frame, RegionId id, const std::string& scope);
    bool check_condition(Frame& frame, RegionId region, const SubGraph& condition);
    std::optional<Binding> merge_outputs(Frame& frame,
                                         const Region& region,
                                         const std::vector<SubGraph>& arms,
                                         size_t index,
                                         const std::string& scope);

    // loops.cpp: initial values and unrolling
    std::optional<Results> compose_loop(Frame& frame,
                                        RegionId id,
                                        const Loop& loop,
                                        const std::string& scope);
    struct LoopStart {  // evaluated outside of the loop
        std::vector<Binding> initial;
        std::vector<Binding> packs;
        ir::SymId count;             // missing: only a condition or a tensor ends the loop
        ir::TensorId dynamic_count;  // may be missing
        std::vector<ir::Assertion> assertions;
    };
    bool initial_values(Frame& frame, const Loop& loop, LoopStart& start);
    // `made_here`: tensors from this id on have no other users.
    bool fit_initial(Frame& frame,
                     const Loop::Carried& carried,
                     Binding& value,
                     size_t made_here,
                     LoopStart& start);
    bool scan_packs(Frame& frame, const Loop& loop, LoopStart& start);
    bool count_iterations(Frame& frame, const Region& region, const Loop& loop, LoopStart& start);
    // The length of a pack, possibly a runtime length.
    ir::SymId length_of(const ir::Operand& pack);
    // The number of results of the region.
    size_t result_count(const Frame& frame, RegionId id) const;
    Results without_iterations(const Frame& frame, const Loop& loop, LoopStart start) const;
    std::optional<Results> compose_unrolled(Frame& frame,
                                            const Region& region,
                                            const Loop& loop,
                                            LoopStart start,
                                            const std::string& scope);
    std::optional<Results> compose_iteration(Frame& frame,
                                             const Loop& loop,
                                             const std::vector<Binding>& packs,
                                             const Results& carried,
                                             int64_t number,
                                             const std::string& scope);

    // dynamic_loops.cpp
    std::optional<Results> compose_dynamic_loop(Frame& frame,
                                                const Region& region,
                                                const Loop& loop,
                                                const LoopStart& start,
                                                const std::string& scope);
    bool bind_loop_names(Frame& frame,
                         const Loop& loop,
                         const LoopStart& start,
                         ir::Loop& control,
                         ir::Operation& op);
    ir::TensorId bind_inner(Frame& frame,
                            std::string_view name,
                            const Binding& outer,
                            const std::string& scope);
    // Returns the updates in the body.
    std::optional<std::vector<ir::Update>> compose_loop_graphs(Frame& frame,
                                                               const Loop& loop,
                                                               const std::string& scope,
                                                               ir::Loop& control);
    // `told_before`: symbols from this id on belong to the body.
    std::optional<Results> loop_outputs(Frame& frame,
                                        const Region& region,
                                        const Loop& loop,
                                        const ir::Loop& control,
                                        size_t told_before,
                                        ir::Operation& op);
    bool check_carried(Frame& frame,
                       const Region& region,
                       const Loop::Carried& variable,
                       ir::TensorId value,
                       const ir::Loop& control,
                       ir::Operation& op);
    std::optional<Binding> scan_output(Frame& frame,
                                       const Region& region,
                                       const ir::Loop& control,
                                       ir::Tensor tensor,
                                       size_t told_before);

    // updates.cpp: @update
    void compose_update(Frame& frame, std::vector<OpenCheck>& open);
    bool check_updates(const Frame& frame, Span span);
    void merge_updates(const std::vector<SubGraph>& arms, ir::Operation& op);
    void carry_updates(const std::vector<ir::Update>& updates,
                       ir::Loop& control,
                       ir::Operation& op);
    ir::TensorId add_state(ir::TensorId variable);
    using TensorMap = std::map<ir::TensorId, ir::TensorId>;
    void replace_tensors(ir::GraphId graph, const TensorMap& with);
    void replace_tensors(ir::Operation& op, const TensorMap& with);
    static void replace_tensors(std::vector<ir::Port>& ports, const TensorMap& with);

    // report.cpp: errors with the call stack
    std::optional<CompileValue> evaluate_in(const Frame& frame,
                                            const Environment& environment,
                                            ExprId expr);
    std::optional<CompileValue> evaluate_in(const Frame& frame, ExprId expr) {
        return evaluate_in(frame, frame, expr);
    }
    std::optional<CompileValue> evaluate_quietly(const Frame& frame, ExprId expr);
    // Empty and reported if it has no value yet; `what` names the expression's role in the text.
    std::optional<CompileValue> evaluate_known(const Frame& frame,
                                               ExprId expr,
                                               const std::string& what);
    // An int, possibly symbolic; empty and reported if it is anything else.
    std::optional<ir::SymId> evaluate_extent(const Frame& frame, ExprId expr);
    std::optional<int64_t> evaluate_count(const Frame& frame, ExprId expr, std::string_view what);
    diag::Report error(Span span, DiagKind kind, std::string message);
    // Reports at the call: the arguments do not fit the definition.
    diag::Report call_error(const Frame& frame, DiagKind kind, std::string message);
    // Reports a passed limit; nothing is reported after it.
    void give_up(const Frame& frame, DiagKind kind, std::string message);
    // Counts nodes of the program as work; false if the limit is passed.
    bool spend(const Frame& frame, size_t nodes);
    bool spend(const Frame& frame, Span span, size_t nodes);
    // Reports inside the definition, or at the user's call if the definition is a standard one.
    diag::Report inner_error(const Frame& frame, Span span, DiagKind kind, std::string message);
    std::optional<std::pair<const ParamDecl*, const ParamDecl*>> mixed_inputs(
        const Frame& frame) const;
    void add_call_notes(const Frame& frame, diag::Report& report);
    ir::SymId to_sym(const Scalar& value);
    bool surely_differ(ir::SymId a, ir::SymId b);
    // Whether nothing distinguishes the shapes.
    bool may_be_equal(const std::vector<ir::SymId>& a, const std::vector<ir::SymId>& b);
    std::string shape_text(const std::vector<ir::SymId>& shape) const;

    const Package& package_;
    const ComposeOptions& options_;
    Diagnostics& diag_;
    Diagnostics unheard_{1};  // reports after giving up
    size_t reports_ = 0;      // errors so far, including repeats, which are not shown
    bool exhausted_ = false;
    WorkMeter work_;
    ir::Program program_;
    std::map<DefRef, Plan> plans_;
    std::unordered_map<std::string, KnownCall> known_calls_;  // by everything that they depend on
    size_t kept_ = 0;                                         // the size of the known calls
    std::vector<std::vector<ir::OpId>>
        op_lists_;  // the lists that receive operations: graphs and compounds, nested
    // Equalities of extents that only a run can decide; the operation under construction gets them.
    std::vector<ir::Assertion> pending_assertions_;
    struct Variable {
        ir::TensorId tensor;
        const ParamDecl* decl = nullptr;
        size_t root = 0;  // the last invocation with it
    };
    std::map<std::string, Variable> variables_;  // by path
    std::vector<DefRef> roots_ = {DefRef{}};     // graphs by the number of their invocation
    TensorsByIdentity tensor_by_identity_;
    bool quantizes_ = false;                     // some definition has @quantize
    std::map<std::string, ir::Operand> scoped_;  // tensors that @quantize can name, by path
};

}  // namespace lemma::sknd
