// SPDX-License-Identifier: Apache-2.0
#include "lsp/language/names.h"

#include <algorithm>

namespace lemma::lsp {

std::string_view kind_text(NameKind kind) {
    switch (kind) {
        case NameKind::Operator:
            return "operator";
        case NameKind::Graph:
            return "graph";
        case NameKind::Type:
            return "type";
        case NameKind::Attribute:
            return "attribute";
        case NameKind::Input:
            return "input";
        case NameKind::Output:
            return "output";
        case NameKind::Constant:
            return "constant";
        case NameKind::Variable:
            return "variable";
        case NameKind::Helper:
            return "helper";
        case NameKind::Extent:
            return "extent";
        case NameKind::Intermediate:
            return "tensor";
        case NameKind::LoopIndex:
            return "index";
        case NameKind::Local:
            return "local value";
        case NameKind::Carried:
            return "loop variable";
        case NameKind::ScanItem:
            return "item of a scanned pack";
    }
    return "name";
}

const Occurrence* Names::at(uint32_t offset) const {
    auto next = std::ranges::upper_bound(
        occurrences, offset, {}, [](const Occurrence& o) { return o.place.begin; });
    while (next != occurrences.begin()) {
        --next;
        if (offset <= next->place.end) return &*next;
        if (next->place.end < offset) return nullptr;
    }
    return nullptr;
}

std::optional<int> Names::operator_named(std::string_view name) const {
    for (size_t i = 0; i < things.size(); ++i) {
        const bool callable =
            things[i].kind == NameKind::Operator || things[i].kind == NameKind::Graph;
        if (callable && things[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
}

std::vector<const Thing*> Names::of_definition(int definition) const {
    std::vector<const Thing*> found;
    for (const Thing& thing : things) {
        const bool callable = thing.kind == NameKind::Operator || thing.kind == NameKind::Graph;
        if (thing.definition == definition && !callable) found.push_back(&thing);
    }
    return found;
}

}  // namespace lemma::lsp
