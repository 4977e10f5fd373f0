// SPDX-License-Identifier: Apache-2.0
#include "sknd/names/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diag/diagnostic.h"
#include "sknd/modules/embedded.h"

namespace lemma::sknd {

std::string_view usual_type(std::string_view name) {
    const std::string_view word = name.substr(0, name.find_last_not_of("0123456789") + 1);
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, word) != words.end();
    };
    if (is_one_of({"float", "double", "half", "f", "fp", "bf", "bfloat", "scalar", "number"}))
        return "real";
    if (is_one_of({"integer", "int", "uint", "i", "u", "long", "short", "byte"})) return "int";
    if (is_one_of({"boolean", "logical"})) return "bool";
    if (is_one_of({"string", "text"})) return "str";
    return {};
}

std::string_view likely_name(std::string_view name,
                             const std::vector<std::string_view>& candidates) {
    constexpr size_t kFewLetters = 3;
    if (const auto nearest = diag::nearest_name(name, candidates); !nearest.empty()) return nearest;
    std::string_view begins, longer;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > std::max(begins.size(), kFewLetters) && name.starts_with(candidate))
            begins = candidate;
        if (name.size() > kFewLetters && candidate.starts_with(name) &&
            (longer.empty() || candidate.size() < longer.size())) {
            longer = candidate;
        }
    }
    return begins.empty() ? longer : begins;
}

std::string standard_operator(std::string_view name) {
    std::map<std::string_view, std::string_view> modules;  // by operator
    std::vector<std::string_view> names;
    for (const EmbeddedFile& file : embedded_files()) {
        if (file.module.find('.') != std::string_view::npos) continue;  // another format
        for (const EmbeddedDefinition& definition : file.definitions) {
            if (definition.name.starts_with('_')) continue;
            modules.emplace(definition.name, file.module);
            names.push_back(definition.name);
        }
    }
    const auto exact = modules.find(name);
    const auto found = exact != modules.end() ? exact : modules.find(likely_name(name, names));
    if (found == modules.end()) return {};
    return fmt::format("{}.{}", found->second, found->first);
}

}  // namespace lemma::sknd
