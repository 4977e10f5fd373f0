// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/signature.h"

#include <algorithm>

#include "sknd/names/identifiers.h"
#include "sknd/names/name_table.h"

namespace lemma::sknd {

namespace {

Type base_type(const Signature& signature, std::string_view name) {
    Type type = scalar_type(concrete_type(name));
    if (!type.bad()) return type;
    for (size_t i = 0; i < signature.generics.size(); ++i) {
        if (signature.generics[i].name == name && !signature.generics[i].bad) {
            type.base = BaseType::Generic;
            type.generic = static_cast<uint16_t>(i);
        }
    }
    return type;
}

Parameter make_parameter(const Signature& signature, const ParamDecl& decl, bool tensor) {
    Parameter parameter;
    parameter.name = decl.name.text;
    parameter.type = base_type(signature, decl.type.base.text);
    parameter.type.optional = decl.type.optional;
    parameter.type.packed = decl.type.pack.has_value();
    parameter.type.tensor = tensor;
    parameter.has_default = decl.value.valid();
    parameter.shape_omitted = tensor && !decl.type.shape;
    parameter.length_marked = decl.type.pack && decl.type.pack->length.valid();
    parameter.span = decl.name.span;
    return parameter;
}

bool reads_one_of(const Module& module, ExprId expr, const NameSet& names) {
    bool found = false;
    for_each_identifier(module, expr, [&](std::string_view name, ExprId) {
        found = found || names.contains(name);
    });
    return found;
}

}  // namespace

const Parameter* Signature::attribute(std::string_view name) const {
    const auto it = std::find_if(
        attributes.begin(), attributes.end(), [&](const Parameter& p) { return p.name == name; });
    return it == attributes.end() ? nullptr : &*it;
}

Signature make_signature(const Module& module, const Definition& definition) {
    Signature signature;
    signature.graph = definition.graph;
    for (const DtypeDecl& dtype : definition.dtypes) {
        signature.generics.push_back(
            {.name = dtype.name.text,
             .bound = abstract_bound(dtype.base.text),
             .fallback = dtype.fallback ? concrete_type(dtype.fallback->text) : BaseType::Bad,
             .bad = !is_abstract(dtype.base.text) ||
                    (dtype.fallback && concrete_type(dtype.fallback->text) == BaseType::Bad)});
    }
    signature.attributes.reserve(definition.attribs.size());
    signature.inputs.reserve(definition.inputs.size());
    signature.outputs.reserve(definition.outputs.size());
    NameSet optional;
    for (const ParamDecl& decl : definition.attribs) {
        if (decl.type.optional) optional.insert(decl.name.text);
    }
    for (const ParamDecl& decl : definition.attribs) {
        Parameter parameter = make_parameter(signature, decl, false);
        if (parameter.has_default) {
            parameter.default_may_be_null = reads_one_of(module, decl.value, optional);
        }
        signature.attributes.push_back(std::move(parameter));
    }
    for (const ParamDecl& decl : definition.inputs) {
        signature.inputs.push_back(make_parameter(signature, decl, true));
    }
    for (const ParamDecl& decl : definition.outputs) {
        signature.outputs.push_back(make_parameter(signature, decl, true));
    }
    return signature;
}

}  // namespace lemma::sknd
