// SPDX-License-Identifier: Apache-2.0
// Adagrad, Adam and Momentum. A node updates several tensors; each update becomes one call.
#include <fmt/format.h>

#include "onnx/import/importer.h"

namespace lemma::onnx {

// The inputs are the rate and the step count, then all tensors, all gradients, and all of each
// state. The results are the tensors and the states, in the same order.
Importer::Results Importer::import_optimizer(const NodeCall& call) {
    constexpr size_t kCommon = 2;
    const std::string definition(*find_operator(call.op)->makes.begin());
    const size_t states = call.op == "Adam" ? 2 : 1;  // state tensors of each updated tensor
    const size_t inputs = states + 2;
    const size_t outputs = states + 1;
    const size_t count = call.inputs.size() < kCommon ? 0 : (call.inputs.size() - kCommon) / inputs;
    if (count == 0 || call.inputs.size() != kCommon + count * inputs ||
        call.outputs.size() != count * outputs) {
        fail(call,
             DiagKind::ArgumentCount,
             fmt::format("`{}` has {} inputs and {} outputs, expected {} and {} for each tensor, "
                         "after the rate and the count of steps",
                         call.op,
                         call.inputs.size(),
                         call.outputs.size(),
                         inputs,
                         outputs));
        return std::nullopt;
    }
    if (refuse_sequences(call, call.inputs)) return std::nullopt;
    std::vector<ValueId> results(call.outputs.size());
    for (size_t i = 0; i < count; ++i) {
        auto step = std::make_shared<NodeCall>(call);
        step->op = definition;
        step->inputs.resize(kCommon);
        step->outputs.clear();
        for (size_t k = 0; k < inputs; ++k)
            step->inputs.push_back(call.inputs[kCommon + k * count + i]);
        for (size_t k = 0; k < outputs; ++k) step->outputs.push_back(call.outputs[k * count + i]);
        const Results made = call_operator(step);
        if (!made) return std::nullopt;
        for (size_t k = 0; k < outputs; ++k) results[k * count + i] = (*made)[k];
    }
    return results;
}

}  // namespace lemma::onnx
