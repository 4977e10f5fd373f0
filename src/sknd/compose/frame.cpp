// SPDX-License-Identifier: Apache-2.0
#include "sknd/compose/frame.h"

namespace lemma::sknd {

Frame::Frame(const Context& context, DefRef ref, const Plan& plan)
    : program_(context.program),
      by_identity_(context.tensors),
      package_(context.package),
      work_(context.work),
      ref_(ref),
      module_(package_[ref.module].module),
      definition_(module_.definitions[ref.definition]),
      plan_(plan) {
    push();
}

void Frame::bind(std::string_view name, Binding binding) {
    binding.identity.reset();  // belongs to the original
    tensors_.set(name, std::move(binding));
}

CompileValue Frame::identity_of(const ir::Operand& operand) const {
    if (operand.null()) return Null{};
    if (!operand.packed) return Scalar(program_.tensors[operand.items[0]].identity);
    Pack pack;
    pack.items.reserve(operand.items.size());
    for (const ir::TensorId id : operand.items) {
        pack.items.emplace_back(program_.tensors[id].identity);
    }
    return pack;
}

CompileValue extent_value(const ir::SymbolPool& symbols, ir::SymId extent) {
    if (const auto constant = symbols.as_int(extent)) return Scalar(*constant);
    return Scalar(extent);
}

const CompileValue* Frame::member(std::string_view name, MemberKind member) const {
    const Binding* binding = find(name);
    if (!binding || binding->poison) return nullptr;
    const ir::Operand& operand = binding->operand;
    if (operand.null()) {
        member_ = Null{};
        return &member_;
    }
    if (member == MemberKind::Size) {
        member_ = operand.length.valid() ? extent_value(program_.symbols, operand.length)
                                         : Scalar(static_cast<int64_t>(operand.items.size()));
        return &member_;
    }
    if (operand.items.empty()) return nullptr;
    member_ = member_of_tensor(operand.items[0], member);
    return &member_;
}

CompileValue Frame::member_of_tensor(ir::TensorId tensor, MemberKind member) const {
    const std::vector<ir::SymId>& shape = program_.tensors[tensor].shape;
    if (member == MemberKind::Rank) return Scalar(static_cast<int64_t>(shape.size()));
    Pack extents;
    extents.type = ir::ScalarType::Int;
    for (const ir::SymId extent : shape) {
        extents.items.push_back(std::get<Scalar>(extent_value(program_.symbols, extent)));
    }
    return extents;
}

std::optional<CompileValue> Frame::member_of(const CompileValue& tensors, MemberKind member) const {
    if (is_null(tensors)) return CompileValue(Null{});
    if (const auto* pack = std::get_if<Pack>(&tensors)) {
        if (member != MemberKind::Size) return std::nullopt;
        return CompileValue(Scalar(static_cast<int64_t>(pack->items.size())));
    }
    const auto* identity = std::get_if<ir::SymId>(&std::get<Scalar>(tensors));
    const auto found = identity ? by_identity_.find(*identity) : by_identity_.end();
    if (found == by_identity_.end()) return std::nullopt;
    return member_of_tensor(found->second, member);
}

const CompileValue* Frame::lookup(std::string_view name) const {
    if (const CompileValue* known = value(name)) return known;
    const Binding* binding = find(name);
    if (!binding || binding->poison) return nullptr;
    if (!binding->identity) binding->identity = identity_of(binding->operand);
    return &*binding->identity;
}

std::optional<ir::DType> Frame::dtype(std::string_view name) const {
    const ir::DType* found = dtypes_.find(name);
    return found ? std::optional(*found) : std::nullopt;
}

ir::ScalarType scalar_type_of(ir::DType dtype) {
    if (dtype == ir::DType::Bool) return ir::ScalarType::Bool;
    if (dtype == ir::DType::Str) return ir::ScalarType::Str;
    return tensor::is_real(dtype) ? ir::ScalarType::Real : ir::ScalarType::Int;
}

std::optional<ir::ScalarType> Frame::type(std::string_view name) const {
    const auto bound = dtype(name);
    return bound ? std::optional(scalar_type_of(*bound)) : std::nullopt;
}

}  // namespace lemma::sknd
