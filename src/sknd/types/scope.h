// sknd/types/scope.h — the names of one definition: symbols, and the scopes that hold them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/store.h"
#include "diag/span.h"
#include "sknd/eval/value.h"
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
    std::string name;
    SymbolKind kind{};
    Type type;
    Span span;
    // What the name stands for in compile-time expressions, possibly an unknown of ir/symbolic.h;
    // empty when nothing can be said (packs of unknown length, optional values, tensors).
    std::optional<CompileValue> value;
    bool assigned = true;      // false for outputs until their component
    bool placeholder = false;  // for a name that is not declared, once that is reported
    bool promoted = false;     // declared optional, and tested around here
};

class Scopes {
public:
    Scopes() { push(); }
    void push() { frames_.emplace_back(); }
    void pop() { frames_.pop_back(); }

    SymbolId declare(Symbol symbol);
    // Invalid when there is none.
    SymbolId find(std::string_view name) const;
    // In the innermost scope alone.
    SymbolId find_here(std::string_view name) const;

    Symbol& operator[](SymbolId id) { return symbols_[id]; }
    const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
    // Every name that can be seen from here, for suggestions.
    std::vector<std::string_view> visible_names() const;

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    using Frame = std::unordered_map<std::string, SymbolId, Hash, std::equal_to<>>;
    std::vector<Frame> frames_;
    Store<SymbolId, Symbol> symbols_;
};

}  // namespace lemma::sknd
