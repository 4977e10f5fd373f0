// SPDX-License-Identifier: Apache-2.0
// nnef1/import/expander.h — the implementation of import.h: one object evaluates, expands and
// builds.
#pragma once

#include <set>
#include <span>

#include "nnef1/import/import.h"
#include "nnef1/import/value.h"

namespace lemma::nnef1 {

// An operand of a sum of products, with the letter number of each axis.
struct EinsumOperand {
    ir::TensorId tensor;
    std::vector<int64_t> letters;
};

// A tensor, or an array of tensors.
ir::Operand operand_of(const Value& value);
// Whether the operation rounds, so that integers stay as they are.
bool rounds(std::string_view operation);

class Expander {
public:
    Expander(const Model& model,
             const ImportOptions& options,
             ir::CallBuilder& builder,
             Diagnostics& calls,
             Diagnostics& diag)
        : model_(model),
          document_(model.document),
          options_(options),
          builder_(builder),
          calls_(calls),
          diag_(diag) {}

    Imported expand();
    // Calls a fragment of the document from outside (fragments.cpp).
    std::optional<std::vector<ir::Operand>> call_fragment(const Signature& signature,
                                                          const ir::Call& given);

private:
    // One expansion of a body. `fragment` is null for the graph.
    struct Frame {
        const Fragment* fragment = nullptr;
        const Frame* caller = nullptr;
        Span call;          // place of the invocation
        std::string label;  // path of the invocation
        std::optional<TypeName> generic;
        std::vector<std::string> result_names;  // the caller's names of the results
        std::map<std::string_view, Value> values;
        int depth = 0;
    };
    struct Call {
        ExprId expr;
        Span span;  // place of the name or operator
        const Signature& signature;
        std::optional<TypeName> generic;
        std::vector<Value> arguments;  // of all parameters, cast to their types
        std::vector<Span> spans;       // places of the arguments, or of the name if one is missing
        ExprId target;                 // assignment target of the results; may be missing
        std::string label;
        std::vector<std::string> result_names;  // of a call from outside
    };

    // Bodies and the graph (expand.cpp).
    void expand_body(const Body& body, Frame& frame);
    Value value_for(ExprId target, ExprId value, Frame& frame);
    void bind(ExprId target, const Value& value, Frame& frame);
    void bind_name(ExprId target, std::string_view name, Value value, Frame& frame);
    Value named_tensor(std::string_view name, const Value& value, Span span);
    bool knows_ports();
    std::optional<ir::Program> finish();
    void name_tensors(ir::Program& program) const;

    // Invocations (expand_call.cpp).
    Value invoke(ExprId id, const Invocation& invocation, ExprId target, Frame& frame);
    Value apply(ExprId id, const std::vector<ExprId>& operands, ExprId target, Frame& frame);
    std::optional<TypeName> generic_of(ExprId id, const Frame& frame) const;
    Value run(Call& call, Frame& frame);
    void note_custom(std::string_view name, Span span);
    Value expand_fragment(Call& call, Frame& frame);
    Value call_operator(Call& call, Frame& frame);
    void add_missing_axes(Call& call, const Frame& frame);  // adapt.cpp
    std::optional<Value> add_one_by_one(const Call& call, const Frame& frame);
    Values outputs_of(const std::vector<ir::Operand>& outputs) const;
    std::string operator_name(const Call& call) const;  // adapt.cpp
    void hand_on_reports(const Frame& frame);
    void hand_on_reports(const Call& call, const Frame& frame);
    std::string shapes_text(const Value& value) const;
    void warn_of_broadcast(const Call& call,
                           const std::vector<ir::Operand>& inputs,
                           const Frame& frame);
    bool fits_files(const Call& call, const ir::Operand& output, const Frame& frame);
    std::string path_of(const Frame& frame, std::string_view name) const;
    std::vector<std::string> names_of_results(const Call& call, const Frame& frame) const;
    std::string unique_label(const Call& call, const Frame& frame);
    std::string_view first_name(ExprId target) const;
    std::optional<std::vector<ir::Operand>> own_results(const Signature& signature,
                                                        const ir::Call& given,
                                                        const Value& result);

    // Operations that make tensors (expand_tensors.cpp).
    std::optional<Value> make_tensor(const Call& call, const Frame& frame);
    Value make_external(const Call& call, const Frame& frame);
    Value make_constant(const Call& call, const Frame& frame);
    Value make_variable(const Call& call, const Frame& frame);
    Value make_update(const Call& call, const Frame& frame);
    std::optional<ir::Tensor> shaped_tensor(const Call& call, const Frame& frame);
    Value share_variable(const Call& call,
                         const ir::Tensor& tensor,
                         size_t first,
                         const Frame& frame);
    bool label_is_good(const Call& call, const std::string& label, const Frame& frame);
    std::string shape_text(const std::vector<ir::SymId>& shape) const;

    // Values (cast.cpp).
    Value cast(const Value& value, const ValueType& type, const std::string& name, Span span);
    Value literal_value(const Nodes& nodes, ExprId id) const;
    ir::TensorId constant_tensor(ir::Scalar value, TypeName type, std::string name);

    // Expressions (eval.cpp, eval_operator.cpp, eval_builtin.cpp).
    Value eval(ExprId id, Frame& frame);
    Value eval_node(ExprId id, Frame& frame);
    Value eval_items(Slice<ExprId> items, bool tuple, Frame& frame);
    Value eval_subscript(const Subscript& node, Frame& frame);
    Value eval_range(const SubscriptRange& node, Frame& frame);
    Value eval_branch(const IfElse& node, ExprId target, Frame& frame);
    Value eval_comprehension(ExprId id, const Comprehension& node, Frame& frame);
    Value eval_unary(ExprId id, const Unary& node, Frame& frame);
    Value eval_binary(ExprId id, const Binary& node, Frame& frame);
    Value eval_sequence(
        ExprId id, const Binary& node, const Value& a, const Value& b, Frame& frame);
    Value repeat(ExprId id, const Value& sequence, int64_t count, Frame& frame);
    Value eval_integers(ExprId id, BinaryOp op, int64_t a, int64_t b, Frame& frame);
    Value eval_builtin(ExprId id, const BuiltinCall& node, Frame& frame);
    Value shape_of(const Value& value);
    Value to_integer(ExprId id, const Value& value, Frame& frame);
    Value to_scalar(ExprId id, const Value& value, Frame& frame);

    // Special features of tract (tract.cpp, tract_calls.cpp, tract_shapes.cpp).
    void declare_symbols();
    Value symbol(std::string_view name) const;
    Value extent_value(ir::SymId extent) const;
    ir::SymId to_sym(const Value& value);
    std::optional<int64_t> integer_of(const Value& value, Span span, const Frame& frame);
    Value eval_symbols(ExprId id, BinaryOp op, const Value& a, const Value& b, const Frame& frame);
    void report_unsupported();
    bool takes_integers(const Call& call) const;
    void settle_attributes(Call& call, const Frame& frame);
    Value array_tensor(const Value& value, const std::string& name, Span span);
    std::optional<ir::DType> datum_type(const Call& call, size_t param, const Frame& frame);
    bool adapt_to_tract(Call& call, const Frame& frame);
    bool swap_filter(Call& call, const Frame& frame);
    bool fit_bias(Call& call, size_t param, const Frame& frame);
    bool fit_item_types(Call& call, const Frame& frame);
    void spread_axes(Call& call) const;
    std::optional<ir::TensorId> as_dtype(const Call& call,
                                         ir::TensorId input,
                                         ir::DType dtype,
                                         const Frame& frame);
    std::optional<ir::TensorId> call_one(const Call& call,
                                         const ir::Call& made,
                                         const Frame& frame);
    std::optional<ir::TensorId> call_one(const Call& call,
                                         std::string op,
                                         std::vector<ir::Attribute> attributes,
                                         ir::TensorId input,
                                         const Frame& frame);
    const char* tract_operator(const Call& call) const;
    std::optional<Value> call_tract(const Call& call, const Frame& frame);
    Value call_cast(const Call& call, const Frame& frame);
    Value call_einsum(const Call& call, const Frame& frame);
    ir::TensorId contract(const Call& call,
                          std::span<const EinsumOperand> operands,
                          const std::vector<int64_t>& output,
                          std::vector<std::string> results);
    void learn_values(const Call& call, const Value& result);

    // Loops of tract (tract_scan.cpp).
    struct ScanInput;
    struct ScanOutput;
    struct Scan;
    struct LoopParts {  // in the same order
        std::vector<ir::TensorId> initial;
        std::vector<ir::TensorId> carried;  // inside the body
        std::vector<ir::TensorId> next;
        ir::GraphId body;
    };
    Value call_scan(ExprId id, const Invocation& invocation, ExprId target, Frame& frame);
    bool refuse_scan(const Scan& scan, std::string message);
    bool add_scan_inputs(Scan& scan, const Value& list, std::string_view kind);
    bool add_scan_outputs(Scan& scan, const Value& list);
    bool count_steps(Scan& scan);
    Value build_scan(const Scan& scan, Frame& frame);
    std::map<std::string_view, Value> scan_arguments(const Invocation& invocation, Frame& frame);
    ir::TensorId scan_result(const Scan& scan, const Values& results, std::string_view name);
    bool add_scan_step(const Scan& scan, ir::TensorId step, LoopParts& parts, Frame& frame);
    std::optional<LoopParts> scan_body(const Scan& scan, ir::TensorId step, Frame& frame);
    std::optional<Values> scan_step(const Scan& scan,
                                    ir::TensorId step,
                                    const std::map<std::string, ir::TensorId>& states,
                                    Frame& frame);
    bool carry_output(const Scan& scan,
                      const ScanOutput& output,
                      ir::TensorId made,
                      ir::TensorId step,
                      LoopParts& parts);
    ir::TensorId call_scan_operator(const Scan& scan,
                                    std::string op,
                                    std::vector<ir::Attribute> attributes,
                                    const std::vector<ir::TensorId>& inputs);
    ir::TensorId scan_place(const Scan& scan, ir::TensorId step, int64_t chunk);
    ir::TensorId scan_zeros(const Scan& scan, ir::TensorId other);
    ir::TensorId loop_tensor(std::string name, ir::DType dtype, std::vector<ir::SymId> shape);
    ir::TensorId like_tensor(std::string name, ir::TensorId other);

    std::optional<Values> known_values(const Value& value, bool reals = false) const;
    Value tensor_item(ir::TensorId tensor, const Value& index, Span span, const Frame& frame);

    // Errors (expand.cpp). The notes name the invocations that led here.
    diag::Report report(Span span, DiagKind kind, std::string message, const Frame& frame);
    bool spend(int64_t work, Span span, const Frame& frame);
    bool fits_length(size_t length, size_t limit, Span span, const Frame& frame);
    std::vector<diag::Note> chain(const Frame& frame) const;

    const Expr& expr(ExprId id) const { return document_.exprs[id]; }
    ExprId bare(ExprId id) const { return nnef1::bare(document_, id); }
    Span operator_span(ExprId id) const { return nnef1::operator_span(expr(id)); }

    const Model& model_;
    const Document& document_;
    const ImportOptions& options_;
    ir::CallBuilder& builder_;
    Diagnostics& calls_;
    Diagnostics& diag_;
    Imported imported_;
    std::map<std::string, size_t> variable_by_label_;  // lower case; position in the result
    std::set<std::string_view> variable_names_;        // identifiers of variables
    std::map<uint32_t, Span> updates_by_variable_;
    std::vector<ir::Update> updates_;
    std::map<uint32_t, std::string> named_;          // tensors named by an identifier of the graph
    std::map<std::string, int> labels_;              // number of uses of each
    std::map<std::string_view, ir::SymId> symbols_;  // runtime extents
    std::map<std::string_view, Span> unsupported_;   // operations of tract, with the first use
    std::map<uint32_t, Values> known_;               // integer tensors known before a run
    int64_t work_ = 0;
    int eval_depth_ = 0;
    bool stopped_ = false;  // a limit was exceeded: evaluation has stopped
};

}  // namespace lemma::nnef1
