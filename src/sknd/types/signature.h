// SPDX-License-Identifier: Apache-2.0
// sknd/types/signature.h — the interface of an operator or graph for callers: generic types,
// attributes, inputs and outputs, without the body.
#pragma once

#include <string>
#include <vector>

#include "sknd/modules/modules.h"
#include "sknd/types/type.h"

namespace lemma::sknd {

// A definition of a package.
struct DefRef {
    ModuleId module;
    uint32_t definition = 0;
    friend bool operator==(const DefRef&, const DefRef&) = default;
    friend auto operator<=>(const DefRef&, const DefRef&) = default;
};

struct Parameter {
    std::string_view name;  // a view into the syntax tree
    Type type;              // without symbolic length and rank
    bool has_default = false;
    bool shape_omitted = false;
    bool length_marked = false;  // `..(n)`: a single value can be repeated
    // The default reads an optional attribute, so it may be null (spec 2.5).
    bool default_may_be_null = false;
    Span span;
};

struct Signature {
    bool graph = false;
    std::vector<GenericType> generics;
    std::vector<Parameter> attributes;
    std::vector<Parameter> inputs;
    std::vector<Parameter> outputs;

    const Parameter* attribute(std::string_view name) const;
};

// Unknown and abstract types become Bad; the check of the definition reports them.
Signature make_signature(const Module& module, const Definition& definition);

}  // namespace lemma::sknd
