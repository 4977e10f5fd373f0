// SPDX-License-Identifier: Apache-2.0
#include "ops/select.h"

#include <fmt/format.h>

#include "diag/diagnostic.h"

namespace lemma::ops {

namespace {

template <class Wanted>
Selection filtered(const std::vector<ModuleText>& library, Wanted wanted) {
    Selection selection;
    size_t count = 0;
    for (const ModuleText& module : library) {
        ModuleText some{.name = module.name, .file = module.file, .summary = module.summary};
        for (const OperatorText& op : module.operators) {
            if (wanted(op)) some.operators.push_back(op);
        }
        count += some.operators.size();
        if (!some.operators.empty()) selection.modules.push_back(std::move(some));
    }
    selection.one = count == 1;
    return selection;
}

Error unknown(const std::vector<ModuleText>& library, const std::string& word) {
    std::vector<std::string> names;
    for (const ModuleText& module : library) {
        names.push_back(module.name);
        for (const OperatorText& op : module.operators) {
            names.push_back(op.qualified());
            names.push_back(op.name);
        }
    }
    const std::string_view nearest = diag::nearest_name(word, {names.begin(), names.end()});
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest);
    return {fmt::format("no operator `{}`{}", word, hint)};
}

Error ambiguous(const Selection& selection, const std::string& word) {
    std::string names;
    for (const ModuleText& module : selection.modules) {
        for (const OperatorText& op : module.operators) {
            names += fmt::format("{}`{}`", names.empty() ? "" : ", ", op.qualified());
        }
    }
    return {fmt::format("`{}` is the name of several operators: {}", word, names)};
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
    size_t t = 0, p = 0;
    size_t star = std::string_view::npos, star_text = 0;  // to retry with a longer `*`
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++t, ++p;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<Selection> select_operators(const std::vector<ModuleText>& library,
                                   const std::string& word) {
    const bool pattern = word.find_first_of("*?") != std::string::npos;
    if (pattern) {
        const bool qualified = word.find('.') != std::string::npos;
        Selection some = filtered(library, [&](const OperatorText& op) {
            return matches_pattern(qualified ? op.qualified() : op.name, word);
        });
        if (!some.modules.empty()) return some;
        return std::unexpected(Error{fmt::format("no operator fits `{}`", word)});
    }
    Selection named =
        filtered(library, [&](const OperatorText& op) { return op.qualified() == word; });
    if (named.one) return named;
    Selection module = filtered(library, [&](const OperatorText& op) { return op.module == word; });
    if (!module.modules.empty()) {
        module.one = false;
        return module;
    }
    // `onnx.Conv` is in one of the modules below `onnx`; a name without a dot means a standard
    // operator.
    const size_t dot = word.rfind('.');
    Selection unqualified = filtered(library, [&](const OperatorText& op) {
        const size_t below = op.module.rfind('.');
        if (dot == std::string::npos) return op.name == word && below == std::string::npos;
        return below != std::string::npos && op.name == word.substr(dot + 1) &&
               op.module.substr(0, below) == word.substr(0, dot);
    });
    if (unqualified.one) return unqualified;
    if (!unqualified.modules.empty()) return std::unexpected(ambiguous(unqualified, word));
    return std::unexpected(unknown(library, word));
}

}  // namespace lemma::ops
