// SPDX-License-Identifier: Apache-2.0
// Generic types and attributes of a call: given values, defaults, deferred defaults, and the
// lengths of packs (spec 2.5, 2.6.1, 2.13).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/compose/composer.h"

namespace lemma::sknd {

ir::DType Composer::dtype_of(const Scalar& value) const {
    switch (value.index()) {
        case 0:
            return options_.integer;
        case 1:
            return options_.real;
        case 2:
            return ir::DType::Bool;
        case 3:
            return ir::DType::Str;
        default:
            break;
    }
    switch (program_.symbols.type(std::get<ir::SymId>(value))) {
        case ir::ScalarType::Int:
            return options_.integer;
        case ir::ScalarType::Real:
            return options_.real;
        case ir::ScalarType::Bool:
            return ir::DType::Bool;
        case ir::ScalarType::Str:
            return ir::DType::Str;
    }
    return options_.real;
}

ir::DType Composer::dtype_of(const Frame& frame, std::string_view name) const {
    if (name == "real") return frame.dtype(name).value_or(options_.real);
    if (name == "int") return options_.integer;
    if (name == "bool") return ir::DType::Bool;
    if (name == "str") return ir::DType::Str;
    return frame.dtype(name).value_or(options_.real);
}

// Tensors of other formats keep their widths: `real` is the type of the inputs. In a SkriptND model
// all have the same.
void Composer::bind_widths(Frame& frame, const CallArgs& args) {
    const Definition& definition = frame.definition();
    std::optional<ir::DType> any_real;
    for (size_t i = 0; i < args.inputs.size() && i < definition.inputs.size(); ++i) {
        const std::string_view type = definition.inputs[i].type.base.text;
        for (const ir::TensorId id : args.inputs[i].operand.items) {
            const ir::Tensor& tensor = program_.tensors[id];
            if (tensor.role == ir::TensorRole::Constant && tensor.shape.empty()) continue;
            if (!tensor::is_real(tensor.dtype)) continue;
            if (!any_real) any_real = tensor.dtype;
            if (type == "real" && !frame.dtype(type)) frame.set_dtype(type, tensor.dtype);
        }
    }
    if (frame.dtype("real")) return;
    if (!any_real && frame.caller) any_real = frame.caller->dtype("real");
    if (any_real) frame.set_dtype("real", *any_real);
}

bool Composer::bind_types(Frame& frame, const CallArgs& args) {
    const Definition& definition = frame.definition();
    bind_widths(frame, args);
    const auto deduce = [&](std::string_view type_name, ir::DType dtype) {
        const bool generic = std::any_of(
            definition.dtypes.begin(), definition.dtypes.end(), [&](const DtypeDecl& d) {
                return d.name.text == type_name;
            });
        if (!generic || frame.dtype(type_name)) return;
        frame.set_dtype(type_name, dtype);
    };
    for (size_t i = 0; i < args.types.size() && i < definition.dtypes.size(); ++i) {
        deduce(definition.dtypes[i].name.text, args.types[i]);
    }
    // A literal number takes the type of the tensors that it is combined with.
    for (const bool numbers : {false, true}) {
        for (size_t i = 0; i < args.inputs.size() && i < definition.inputs.size(); ++i) {
            const ir::Operand& operand = args.inputs[i].operand;
            if (operand.items.empty()) continue;
            const ir::Tensor& tensor = program_.tensors[operand.items[0]];
            const bool number = tensor.role == ir::TensorRole::Constant && tensor.shape.empty();
            if (number == numbers) deduce(definition.inputs[i].type.base.text, tensor.dtype);
        }
    }
    for (const ir::Attribute& attribute : args.attributes) {
        const auto declared = frame.plan().attributes.find(attribute.name);
        if (declared == frame.plan().attributes.end()) continue;
        const std::string_view type = definition.attribs[declared->second].type.base.text;
        const auto* scalar = std::get_if<Scalar>(&attribute.value);
        const auto* pack = std::get_if<Pack>(&attribute.value);
        if (scalar) deduce(type, dtype_of(*scalar));
        if (pack && !pack->items.empty()) deduce(type, dtype_of(pack->items[0]));
    }
    for (const DtypeDecl& dtype : definition.dtypes) {
        if (dtype.fallback) deduce(dtype.name.text, dtype_of(frame, dtype.fallback->text));
    }
    return true;
}

bool Composer::bind_attributes(Frame& frame, const CallArgs& args) {
    const auto& attribs = frame.definition().attribs;
    std::vector<const CompileValue*> given(attribs.size());
    for (const ir::Attribute& attribute : args.attributes) {
        const auto declared = frame.plan().attributes.find(attribute.name);
        if (declared != frame.plan().attributes.end()) given[declared->second] = &attribute.value;
    }
    for (size_t i = 0; i < attribs.size(); ++i) {
        const ParamDecl& decl = attribs[i];
        if (given[i]) {
            set_attribute(frame, decl, *given[i]);
        } else if (!decl.value.valid()) {
            if (!decl.type.optional) {
                call_error(frame,
                           DiagKind::MissingAttribute,
                           fmt::format("`{}` needs the attribute `{}`",
                                       frame.definition().name.text,
                                       decl.name.text));
                return false;
            }
            frame.set(decl.name.text, Null{});
        } else if (frame.plan().closed[i]) {
            if (!bind_default(frame, decl)) return false;
        }
    }
    return true;
}

bool Composer::bind_default(Frame& frame, const ParamDecl& decl) {
    auto value = evaluate_known(
        frame, decl.value, fmt::format("the default of the attribute `{}`", decl.name.text));
    if (!value) return false;
    if (std::holds_alternative<Null>(*value)) {
        call_error(
            frame,
            DiagKind::MissingAttribute,
            fmt::format(
                "`{}` needs the attribute `{}`", frame.definition().name.text, decl.name.text))
            .note("its default is null when the attribute that it reads is not given")
            .note(decl.name.span, "declared here");
        return false;
    }
    set_attribute(frame, decl, std::move(*value));
    return true;
}

// An empty list has no item with a type; the declaration has it.
void Composer::set_attribute(Frame& frame, const ParamDecl& decl, CompileValue value) {
    if (auto* pack = std::get_if<Pack>(&value)) {
        pack->type = scalar_type_of(dtype_of(frame, decl.type.base.text));
    }
    frame.set(decl.name.text, std::move(value));
}

// Binds defaults that read other names.
bool Composer::bind_deferred(Frame& frame) {
    for (const size_t i : frame.plan().deferred) {
        const ParamDecl& decl = frame.definition().attribs[i];
        if (frame.known(decl.name.text)) continue;
        if (!all_known(frame, decl.value)) {
            call_error(frame,
                       DiagKind::MissingAttribute,
                       fmt::format("the default of `{}` reads names that this call does not bind",
                                   decl.name.text))
                .note(decl.name.span, "declared here");
            return false;
        }
        if (!bind_default(frame, decl)) return false;
    }
    return true;
}

// Lists define the lengths of packs; single values are then repeated.
bool Composer::bind_lengths(Frame& frame, bool lists) {
    for (const ParamDecl& decl : frame.definition().attribs) {
        const CompileValue* value = frame.value(decl.name.text);
        if (!decl.type.pack || !value) continue;
        if (const auto* pack = std::get_if<Pack>(value)) {
            if (lists && !bind_length(frame, decl, *pack)) return false;
        } else if (const auto* scalar = std::get_if<Scalar>(value)) {
            if (!lists && !repeat_value(frame, decl, Scalar(*scalar))) return false;
        }
    }
    return true;
}

bool Composer::bind_length(Frame& frame, const ParamDecl& decl, const Pack& pack) {
    const ExprId length = decl.type.pack->length;
    if (!length.valid()) return true;
    // `s[axis]` with an axis whose default is still unknown is compared later.
    const std::optional<std::string_view> unknown = unknown_name(frame, length);
    const bool plain = std::holds_alternative<Identifier>(frame.module().exprs[length].node);
    if (unknown && !plain && frame.plan().attributes.contains(*unknown)) return true;
    const ir::SymId count = program_.symbols.integer(static_cast<int64_t>(pack.items.size()));
    return bind_value(frame, decl, length, {count}, false);
}

bool Composer::repeat_value(Frame& frame, const ParamDecl& decl, const Scalar& value) {
    const ExprId length = decl.type.pack->length;
    if (!length.valid() || !all_known(frame, length)) {
        call_error(frame,
                   DiagKind::LengthMismatch,
                   fmt::format("a single value for the pack `{}`, whose length is not known here",
                               decl.name.text))
            .note("write it as a list")
            .note(decl.name.span, "declared here");
        return false;
    }
    const auto count = evaluate_count(frame, length, "the length of a pack");
    if (!count) return false;
    if (*count < 0 || static_cast<uint64_t>(*count) > options_.limits.max_pack_length) {
        call_error(
            frame,
            DiagKind::TooLarge,
            fmt::format("the pack `{}` would have {} items (--max-pack-length raises the limit)",
                        decl.name.text,
                        *count));
        return false;
    }
    set_attribute(frame, decl, repeat(value, static_cast<size_t>(*count), program_.symbols));
    return true;
}

}  // namespace lemma::sknd
