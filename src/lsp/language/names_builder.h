// SPDX-License-Identifier: Apache-2.0
// lsp/language/names_builder.h — collects the names of a text, with nested scopes.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lsp/language/names.h"

namespace lemma::lsp {

class NamesBuilder {
public:
    void push() { scopes_.emplace_back(); }
    void pop() { scopes_.pop_back(); }

    // A name without text was reported by the parser.
    int declare(NameKind kind, std::string_view name, Span place, Span whole, int definition) {
        if (name.empty()) return -1;
        const auto thing = static_cast<int>(names_.things.size());
        names_.things.push_back({kind, name, span(place), span(whole), definition});
        if (!scopes_.empty()) scopes_.back().try_emplace(name, thing);
        occur(place, thing, true);
        return thing;
    }
    int find(std::string_view name) const {
        for (size_t i = scopes_.size(); i-- > 0;) {
            const auto found = scopes_[i].find(name);
            if (found != scopes_[i].end()) return found->second;
        }
        return -1;
    }
    int find_here(std::string_view name) const {
        const auto found = scopes_.back().find(name);
        return found == scopes_.back().end() ? -1 : found->second;
    }
    void occur(Span place, int thing, bool declares = false, bool writes = false) {
        if (thing >= 0 && place.end > place.begin)
            names_.occurrences.push_back({span(place), thing, -1, declares, writes || declares});
    }
    void occur_external(Span place, External external) {
        if (place.end <= place.begin) return;
        const std::string key = external.module + "\n" + external.op + "\n" + external.attribute;
        const auto [found, added] =
            externals_.try_emplace(key, static_cast<int>(names_.externals.size()));
        if (added) names_.externals.push_back(std::move(external));
        names_.occurrences.push_back({span(place), -1, found->second});
    }
    const Names& names() const { return names_; }
    Names take();

private:
    static TextSpan span(Span place) { return {place.begin, place.end}; }

    Names names_;
    std::vector<std::unordered_map<std::string_view, int>> scopes_;
    std::unordered_map<std::string, int> externals_;
};

}  // namespace lemma::lsp
