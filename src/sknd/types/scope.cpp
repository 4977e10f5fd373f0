#include "sknd/types/scope.h"

#include <algorithm>

namespace lemma::sknd {

std::string_view kind_text(SymbolKind kind) {
    switch (kind) {
        case SymbolKind::Attribute:
            return "an attribute";
        case SymbolKind::Extent:
            return "an extent";
        case SymbolKind::Input:
            return "an input";
        case SymbolKind::Helper:
            return "a helper of `@using`";
        case SymbolKind::Constant:
            return "a constant";
        case SymbolKind::Variable:
            return "a variable";
        case SymbolKind::Output:
            return "an output";
        case SymbolKind::Intermediate:
            return "an intermediate tensor";
        case SymbolKind::LoopIndex:
            return "a loop index";
        case SymbolKind::LoopLocal:
            return "a local value";
        case SymbolKind::Carried:
            return "a loop variable";
        case SymbolKind::ScanItem:
            return "a scan item";
    }
    return "a name";
}

SymbolId Scopes::declare(Symbol symbol) {
    std::string name = symbol.name;
    const SymbolId id = symbols_.add(std::move(symbol));
    frames_.back()[std::move(name)] = id;
    return id;
}

SymbolId Scopes::find(std::string_view name) const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
        if (const auto it = frame->find(name); it != frame->end()) return it->second;
    }
    return {};
}

SymbolId Scopes::find_here(std::string_view name) const {
    const auto it = frames_.back().find(name);
    return it == frames_.back().end() ? SymbolId{} : it->second;
}

std::vector<std::string_view> Scopes::visible_names() const {
    std::vector<std::string_view> names;
    for (const Frame& frame : frames_) {
        for (const auto& [name, id] : frame) {
            if (!symbols_[id].placeholder) names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace lemma::sknd
