// SPDX-License-Identifier: Apache-2.0
// FlexAttention: graphs of the model modify its scores and weights.
#include "onnx/import/importer.h"

namespace lemma::onnx {

std::optional<ValueId> Importer::modified(const NodeCall& call,
                                          const char* graph,
                                          ValueId value,
                                          const Scope& scope) {
    if (!call.parts.contains(graph)) return value;
    const Graph* const body = graph_attribute(call, graph);
    if (!body) return std::nullopt;
    const Results results = import_body(call, *body, {value}, scope);
    if (!results || results->empty()) return std::nullopt;
    return (*results)[0];
}

Importer::Results Importer::import_flex_attention(const NodeCall& call, const Scope& scope) {
    if (call.inputs.size() != 3 || rank(call.inputs[0]) != 4) {
        fail(call, DiagKind::ArgumentCount, "`FlexAttention` needs three inputs of rank 4");
        return std::nullopt;
    }
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    Attributes scale;
    if (const auto given = call.attributes.real("scale")) {
        scale.set("scale", Scalar(*given));
    } else {
        const ir::SymId channels = shape(call.inputs[0])[3];
        const auto real = symbols().apply(ir::SymOp::ToReal, channels);
        const auto root = real ? symbols().function("sqrt", *real) : std::nullopt;
        const auto inverse =
            root ? symbols().apply(ir::SymOp::Div, symbols().real(1), *root) : std::nullopt;
        if (!inverse) {
            fail(call, DiagKind::BadArgument, "the scale cannot be worked out");
            return std::nullopt;
        }
        scale.set("scale", to_scalar(*inverse, symbols()));
    }
    const ValueId scores =
        make(call, "attention_scores", {call.inputs[0], call.inputs[1]}, std::move(scale));
    if (values_[scores].broken) return std::nullopt;
    const auto changed = modified(call, "score_mod", scores, scope);
    if (!changed) return std::nullopt;
    Attributes last;
    last.set_int("axis", -1);
    const ValueId weights = make(call, "Softmax", {*changed}, std::move(last));
    if (values_[weights].broken) return std::nullopt;
    const auto mixed = modified(call, "prob_mod", weights, scope);
    if (!mixed) return std::nullopt;
    const ValueId result = make(call, "attention_mix", {*mixed, call.inputs[2]});
    if (values_[result].broken) return std::nullopt;
    return std::vector{result};
}

}  // namespace lemma::onnx
