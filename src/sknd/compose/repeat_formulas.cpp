// SPDX-License-Identifier: Apache-2.0
// Reuses formulas: a call that equals an earlier one has the same formulas over its own tensors.
// Their symbols are the same, too; each formula defines those that it uses.
#include <algorithm>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

namespace {

constexpr size_t kMostTensors = 64;     // of a call
constexpr size_t kMostSignatures = 4;   // of equal calls
constexpr size_t kMostParts = 1 << 10;  // of the formulas of a call

size_t parts_of(const ir::Formula& formula) {
    size_t parts = 1 + formula.bounds.size();
    for (const ir::Access& access : formula.accesses) parts += 1 + access.indices.size();
    for (const ir::Write& write : formula.writes) parts += 1 + write.indices.size();
    return parts;
}

template <class Change>
void change_tensors(ir::Formula& formula, const Change& change) {
    for (ir::Access& access : formula.accesses) access.tensor = change(access.tensor);
    for (ir::Write& write : formula.writes) write.tensor = change(write.tensor);
}

}  // namespace

// Empty if the call cannot be compared with others.
std::optional<CallTensors> Composer::tensors_of(const Frame& frame) const {
    CallTensors found;
    found.ids.reserve(8);
    found.signature.reserve(64);
    const auto add = [&](const ParamDecl& decl, bool declared_here) {
        const Binding* binding = frame.find(decl.name.text);
        if (!binding || binding->poison) return false;
        const ir::Operand& operand = binding->operand;
        if (found.ids.size() + operand.items.size() > kMostTensors) return false;
        auto& signature = found.signature;
        signature.push_back(operand.packed ? 1 : 0);
        signature.push_back(operand.length.value);
        signature.push_back(static_cast<uint32_t>(operand.items.size()));
        for (const ir::TensorId id : operand.items) {
            const auto at = std::ranges::find(found.ids, id);
            signature.push_back(static_cast<uint32_t>(at - found.ids.begin()));
            if (at != found.ids.end()) continue;
            found.ids.push_back(id);
            const ir::Tensor& tensor = program_.tensors[id];
            signature.push_back(static_cast<uint32_t>(tensor.dtype));
            if (!declared_here) continue;  // other shapes are part of the key
            signature.push_back(static_cast<uint32_t>(tensor.shape.size()));
            for (const ir::SymId extent : tensor.shape) signature.push_back(extent.value);
        }
        return true;
    };
    const Definition& definition = frame.definition();
    const auto add_all = [&](const std::vector<ParamDecl>& decls, bool declared_here) {
        return std::ranges::all_of(decls,
                                   [&](const ParamDecl& decl) { return add(decl, declared_here); });
    };
    const bool all = add_all(definition.inputs, false) && add_all(definition.constants, true) &&
                     add_all(definition.variables, true) && add_all(definition.outputs, true);
    return all ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<std::vector<ir::Formula>> Composer::formulas_again(const Frame& frame,
                                                                 const CallTensors& tensors) {
    const auto& known = frame.known_call->formulas;
    const auto found = std::ranges::find(known, tensors.signature, &KnownCall::Formulas::signature);
    if (found == known.end()) return std::nullopt;
    if (found->work > work_.most - std::min(work_.done, work_.most)) return std::nullopt;
    work_.spend(found->work);
    std::vector<ir::Formula> formulas = found->formulas;
    for (ir::Formula& formula : formulas) {
        change_tensors(formula, [&](ir::TensorId number) { return tensors.ids[number.value]; });
    }
    return formulas;
}

// Formulas that read other tensors, such as tables, are not kept.
void Composer::remember_formulas(const Frame& frame,
                                 CallTensors tensors,
                                 const std::vector<ir::Formula>& formulas,
                                 size_t work) {
    if (frame.known_call->formulas.size() >= kMostSignatures) return;
    size_t size = tensors.signature.size();
    bool own = true;
    std::vector<ir::Formula> numbered = formulas;
    for (ir::Formula& formula : numbered) {
        size += parts_of(formula);
        change_tensors(formula, [&](ir::TensorId id) {
            const auto at = std::ranges::find(tensors.ids, id);
            own = own && at != tensors.ids.end();
            return make_id<ir::TensorId>(static_cast<uint32_t>(at - tensors.ids.begin()));
        });
    }
    if (!own || size > kMostParts || !keep(size)) return;
    frame.known_call->formulas.push_back({std::move(tensors.signature), std::move(numbered), work});
}

}  // namespace lemma::sknd
