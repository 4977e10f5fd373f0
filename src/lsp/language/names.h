// SPDX-License-Identifier: Apache-2.0
// lsp/language/names.h — the names of a text: what is declared, and every place that names it. It
// needs the syntax tree alone, so it also serves texts with faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/text/line_index.h"
#include "nnef1/syntax/ast.h"
#include "sknd/syntax/ast.h"

namespace lemma::lsp {

enum class NameKind : uint8_t {
    Operator,
    Graph,
    Type,
    Attribute,
    Input,
    Output,
    Constant,
    Variable,
    Helper,
    Extent,
    Intermediate,
    LoopIndex,
    Local,
    Carried,
    ScanItem,
};
std::string_view kind_text(NameKind kind);  // "attribute", "loop index", …

struct Thing {
    NameKind kind{};
    std::string_view name;
    TextSpan place;       // of the name where it is declared
    TextSpan whole;       // of the declaration
    int definition = -1;  // index of the definition that contains it; an operator: its own
};

// Something of another module: an operator, or one of its attributes.
struct External {
    std::string module;  // as written; empty for an operation that NNEF 1.0 defines
    std::string op;      // empty: the module itself
    std::string attribute;
    friend bool operator==(const External&, const External&) = default;
};

struct Occurrence {
    TextSpan place;
    int thing = -1;     // index into things, or
    int external = -1;  // index into externals
    bool declares = false;
    bool writes = false;
};

struct Names {
    std::vector<Thing> things;
    std::vector<External> externals;
    std::vector<Occurrence> occurrences;  // in the order of the text

    // The name at the offset, or directly before it.
    const Occurrence* at(uint32_t offset) const;
    // The operator or graph with this name.
    std::optional<int> operator_named(std::string_view name) const;
    // The names that a definition declares.
    std::vector<const Thing*> of_definition(int definition) const;
};

Names names_of(const sknd::Module& module);
Names names_of(const nnef1::Document& document);

}  // namespace lemma::lsp
