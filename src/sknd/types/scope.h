// SPDX-License-Identifier: Apache-2.0
// sknd/types/scope.h — the names of one definition: symbols, and the scopes that hold them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/id.h"
#include "diag/span.h"
#include "sknd/eval/value.h"
#include "sknd/names/name_table.h"
#include "sknd/types/type.h"

namespace lemma::sknd {

enum class SymbolKind : uint8_t {
    Attribute,
    Extent,  // declared by a shape, a pack length or a rank capture
    Input,
    Helper,  // of @using
    Constant,
    Variable,
    Output,
    Intermediate,
    LoopIndex,
    LoopLocal,
    Carried,
    ScanItem,
};
std::string_view kind_text(SymbolKind kind);  // "an attribute", "an input", …

struct SymbolId : Id<SymbolId> {};

struct Symbol {
    std::string_view name;  // a view into the syntax tree
    SymbolKind kind{};
    Type type;
    Span span;
    // The value of the name in compile-time expressions, possibly an unknown of
    // ir/symbols/symbolic.h; empty if nothing is known (packs of unknown length, optional values,
    // tensors).
    std::optional<CompileValue> value;
    bool assigned = true;      // false for outputs until their component
    bool placeholder = false;  // an undeclared name that has been reported
    bool promoted = false;     // declared optional, and tested around here
};

class Scopes {
public:
    Scopes() { push(); }
    void push() { names_.push(); }
    void pop() { names_.pop(); }
    // Resets to the initial state.
    void clear() {
        names_.clear();
        symbols_.clear();
        push();
    }

    SymbolId declare(Symbol symbol);
    // Invalid if there is none.
    SymbolId find(std::string_view name) const {
        const SymbolId* found = names_.find(name);
        return found ? *found : SymbolId{};
    }
    // In the innermost scope only.
    SymbolId find_here(std::string_view name) const {
        const SymbolId* found = names_.find_here(name);
        return found ? *found : SymbolId{};
    }

    Symbol& operator[](SymbolId id) {
        LEMMA_CHECK(id.value < symbols_.size());
        return symbols_[id.value];
    }
    const Symbol& operator[](SymbolId id) const {
        LEMMA_CHECK(id.value < symbols_.size());
        return symbols_[id.value];
    }
    // Every visible name, for suggestions.
    std::vector<std::string_view> visible_names() const;

private:
    NameTable<SymbolId> names_;
    std::vector<Symbol> symbols_;
};

}  // namespace lemma::sknd
