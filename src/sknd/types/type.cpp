// SPDX-License-Identifier: Apache-2.0
#include "sknd/types/type.h"

#include <fmt/format.h>

namespace lemma::sknd {

namespace {

bool is_wild(BaseType base) { return base == BaseType::Bad || base == BaseType::Any; }

}  // namespace

bool same_base(const Type& a, const Type& b) {
    if (is_wild(a.base) || is_wild(b.base)) return true;
    return a.base == b.base && (a.base != BaseType::Generic || a.generic == b.generic);
}

void refine_base(Type& type, const Type& other) {
    if (!is_wild(type.base)) return;
    if (type.base == BaseType::Any || other.base == BaseType::Bad) {
        type.base = other.base;
        type.generic = other.generic;
    }
}

std::string base_text(const Type& type, const std::vector<GenericType>& generics) {
    switch (type.base) {
        case BaseType::Bad:
            return "?";
        case BaseType::Int:
            return "int";
        case BaseType::Real:
            return "real";
        case BaseType::Bool:
            return "bool";
        case BaseType::Str:
            return "str";
        case BaseType::Any:
            return "[]";
        case BaseType::Generic:
            return std::string(type.generic < generics.size() ? generics[type.generic].name : "?");
    }
    return "?";
}

std::string type_text(const Type& type, const std::vector<GenericType>& generics) {
    std::string text = type.optional ? "optional " : "";
    text += base_text(type, generics);
    if (type.tensor) text += " tensor";
    if (type.packed) text += type.tensor ? " pack" : "..";
    return text;
}

std::string_view bound_text(Bound bound) {
    switch (bound) {
        case Bound::Type:
            return "type";
        case Bound::Arith:
            return "arith";
        case Bound::Num:
            return "num";
    }
    return "type";
}

BaseType concrete_type(std::string_view name) {
    if (name == "int") return BaseType::Int;
    if (name == "real") return BaseType::Real;
    if (name == "bool") return BaseType::Bool;
    if (name == "str") return BaseType::Str;
    return BaseType::Bad;
}

bool is_abstract(std::string_view name) {
    return name == "type" || name == "arith" || name == "num";
}

Bound abstract_bound(std::string_view name) {
    if (name == "num") return Bound::Num;
    return name == "arith" ? Bound::Arith : Bound::Type;
}

bool satisfies(BaseType base, Bound bound) {
    switch (bound) {
        case Bound::Type:
            return true;
        case Bound::Arith:
            return base != BaseType::Str;
        case Bound::Num:
            return base == BaseType::Int || base == BaseType::Real || is_wild(base);
    }
    return false;
}

bool satisfies(Bound of, Bound bound) { return of >= bound; }

}  // namespace lemma::sknd
