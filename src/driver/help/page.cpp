// SPDX-License-Identifier: Apache-2.0
#include "driver/help/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lemma::driver {

// By the placeholder, which says it to people as well.
ValueKind value_kind(const ArgumentPage& argument) {
    const std::string& value = argument.value;
    const auto says = [&](const char* word) { return value.find(word) != std::string::npos; };
    if (value.empty()) return ValueKind::Nothing;
    if (!argument.choices.empty()) return ValueKind::Choice;
    if (says("COMMAND")) return ValueKind::Command;
    if (says("MODEL")) return ValueKind::Model;
    if (says("FILE") || says("OUT")) return ValueKind::File;
    if (says("DIR") || says("CASE")) return ValueKind::Folder;
    return ValueKind::Text;
}

bool optional_value(const ArgumentPage& argument) { return argument.value.starts_with("[="); }

ValueKind positional_kind(const CommandPage& page) {
    ValueKind kind = ValueKind::Nothing;
    for (const ArgumentPage& argument : page.arguments) {
        if (!argument.names.empty()) continue;
        const ValueKind own = value_kind(argument);
        kind = kind == ValueKind::Nothing || kind == own ? own : ValueKind::File;
    }
    return kind;
}

std::string sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] += 'A' - 'a';
    return text.ends_with('.') ? text : text + ".";
}

std::vector<std::string> ordered_groups(std::vector<std::string> groups) {
    std::vector<std::string> result, last;
    for (const std::string& group : groups) {
        auto& list = group == "Limits" || group == "General" ? last : result;
        if (std::ranges::find(list, group) == list.end()) list.push_back(group);
    }
    result.insert(result.end(), last.begin(), last.end());
    return result;
}

std::string synopsis(const CommandPage& page) {
    std::string line = page.name + " [OPTIONS]";
    for (const ArgumentPage& argument : page.arguments) {
        if (argument.names.empty()) line += " " + argument.value;
    }
    return line;
}

std::string left_side(const ArgumentPage& argument) {
    if (argument.names.empty()) return argument.value;
    const bool joined = argument.value.empty() || optional_value(argument);
    const char* const join = joined ? "" : argument.names.back().starts_with("--") ? "=" : " ";
    return fmt::format("{}{}{}", fmt::join(argument.names, ", "), join, argument.value);
}

}  // namespace lemma::driver
