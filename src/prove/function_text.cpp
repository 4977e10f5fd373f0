// SPDX-License-Identifier: Apache-2.0
#include "prove/function_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "emit/certified/arithmetic.h"

namespace lemma::prove {

namespace {

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The identifiers of the text, in order, with the text between them.
template <class OnIdentifier, class OnOther>
void for_each_token(std::string_view text, OnIdentifier on_identifier, OnOther on_other) {
    while (!text.empty()) {
        const bool word = in_identifier(text[0]);
        size_t end = 1;
        while (end < text.size() && in_identifier(text[end]) == word) ++end;
        const std::string_view part = text.substr(0, end);
        if (word) {
            on_identifier(part);
        } else {
            on_other(part);
        }
        text.remove_prefix(end);
    }
}

// `n12` of `n12_conv`; empty if the identifier is no name of a node.
std::string_view node_of(std::string_view identifier) {
    if (!identifier.starts_with('n')) return {};
    const size_t end = identifier.find_first_not_of("0123456789", 1);
    if (end == 1 || (end != std::string_view::npos && identifier[end] != '_')) return {};
    return identifier.substr(0, end);
}

std::string without_static(std::string text) {
    constexpr std::string_view kStatic = "static ";
    for (size_t at = text.find(kStatic); at != std::string::npos; at = text.find(kStatic, at)) {
        if (at == 0 || text[at - 1] == '\n') {
            text.erase(at, kStatic.size());
        } else {
            at += kStatic.size();
        }
    }
    return text;
}

class Writer {
public:
    Writer(const emit::CertifiedModel& model, const std::string& prefix)
        : model_(model), prefix_(prefix) {
        for (const emit::CertifiedFunction& each : model.functions)
            by_name_[each.code.name] = &each;
        for (const emit::CertifiedFunction& each : model.functions) {
            for (const std::string& name : defined_in(each.code.logic)) owner_[name] = &each;
        }
    }

    FunctionText write(const emit::CertifiedFunction& function) const;

private:
    // The names after `predicate` and after `logic TYPE`.
    static std::vector<std::string> defined_in(std::string_view text) {
        std::vector<std::string> names;
        int until_name = 0;
        for_each_token(
            text,
            [&](std::string_view word) {
                if (until_name == 1) names.emplace_back(word);
                until_name = word == "predicate" ? 1 : word == "logic" ? 2 : until_name - 1;
            },
            [](std::string_view) {});
        return names;
    }
    static std::set<std::string> names_in(std::string_view text) {
        std::set<std::string> names;
        for_each_token(
            text,
            [&](std::string_view word) {
                if (!std::isdigit(static_cast<unsigned char>(word[0]))) names.emplace(word);
            },
            [](std::string_view) {});
        return names;
    }

    const emit::CertifiedModel& model_;
    const std::string& prefix_;
    std::map<std::string, const emit::CertifiedFunction*> by_name_;
    std::map<std::string, const emit::CertifiedFunction*> owner_;
};

FunctionText Writer::write(const emit::CertifiedFunction& function) const {
    // What the function mentions, and what the logic of that mentions in turn.
    std::set<const emit::CertifiedFunction*> callees;
    for (const std::string& name : function.code.calls) {
        if (const auto found = by_name_.find(name); found != by_name_.end()) {
            callees.insert(found->second);
        }
    }
    std::set<const emit::CertifiedFunction*> logic = {&function};
    std::vector<const emit::CertifiedFunction*> open = {&function};
    const auto mention = [&](std::string_view text) {
        for (const std::string& name : names_in(text)) {
            const auto found = owner_.find(name);
            if (found == owner_.end() || !logic.insert(found->second).second) continue;
            open.push_back(found->second);
        }
    };
    mention(function.code.definition());
    for (const emit::CertifiedFunction* const callee : callees) mention(callee->code.contract);
    while (!open.empty()) {
        const emit::CertifiedFunction* const each = open.back();
        open.pop_back();
        mention(each->code.logic);
    }
    std::string text;
    std::set<std::string> declarations(function.declarations.begin(), function.declarations.end());
    for (const emit::CertifiedFunction& each : model_.functions) {
        const bool used = logic.contains(&each) || callees.contains(&each);
        if (!used) continue;
        declarations.insert(each.declarations.begin(), each.declarations.end());
        text += each.code.logic;
        if (&each != &function && callees.contains(&each)) {
            text += without_static(each.code.prototype());
        }
    }
    text += without_static(function.code.definition());

    const std::set<std::string> mentioned = names_in(text);
    CanonicalNames names(prefix_);
    FunctionText result{.name = function.code.name, .canonical = {}, .text = {}};
    text = names.rename(text);
    result.canonical = names.rename(function.code.name);
    std::set<std::string> arrays;
    for (const std::string& each : declarations) {
        const std::set<std::string> in_it = names_in(each);
        if (std::ranges::none_of(in_it, [&](const std::string& name) {
                return name.starts_with("t_") && mentioned.contains(name);
            })) {
            continue;
        }
        const std::string array = without_static(each);  // `static` or not is nothing to a proof
        arrays.insert(names.rename(array.starts_with("extern ") ? array : "extern " + array));
    }
    result.text = emit::arithmetic_header(emit::used_arithmetic(text)) + "\n";
    if (const std::string fault = prefix_ + "_fault"; mentioned.contains(fault)) {
        result.text += names.rename(fmt::format("extern int32_t {};\n", fault));
    }
    for (const std::string& each : arrays) result.text += each + "\n";
    result.text += "\n" + text;
    return result;
}

}  // namespace

std::string CanonicalNames::number(std::vector<std::string>& seen, std::string_view what) {
    const auto found = std::ranges::find(seen, what);
    const auto at = found - seen.begin();
    if (found == seen.end()) seen.emplace_back(what);
    return std::to_string(at);
}

std::string CanonicalNames::renamed(std::string_view identifier) {
    if (identifier.starts_with("t_")) return "t" + number(tensors_, identifier);
    if (const std::string_view node = node_of(identifier); !node.empty()) {
        return "n" + number(nodes_, node) + std::string(identifier.substr(node.size()));
    }
    if (identifier.starts_with(prefix_ + "_")) {
        // A predicate keeps its connection with its function.
        std::string_view name = identifier;
        const bool holds = name.ends_with("_holds");
        if (holds) name.remove_suffix(std::string_view("_holds").size());
        return "m" + number(functions_, name) + (holds ? "_holds" : "");
    }
    return std::string(identifier);
}

std::string CanonicalNames::rename(std::string_view text) {
    std::string result;
    for_each_token(
        text,
        [&](std::string_view word) { result += renamed(word); },
        [&](std::string_view other) { result += other; });
    return result;
}

std::vector<FunctionText> function_texts(const emit::CertifiedModel& model,
                                         const std::string& prefix) {
    const Writer writer(model, prefix);
    std::vector<FunctionText> texts;
    for (const emit::CertifiedFunction& each : model.functions) {
        texts.push_back(writer.write(each));
    }
    return texts;
}

}  // namespace lemma::prove
