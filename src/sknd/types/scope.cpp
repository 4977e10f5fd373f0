// SPDX-License-Identifier: Apache-2.0
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
    const auto id = make_id<SymbolId>(symbols_.size());
    names_.set(symbol.name, id);
    symbols_.push_back(std::move(symbol));
    return id;
}

std::vector<std::string_view> Scopes::visible_names() const {
    std::vector<std::string_view> names;
    names_.for_each([&](std::string_view name, SymbolId id) {
        if (!(*this)[id].placeholder) names.push_back(name);
    });
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace lemma::sknd
