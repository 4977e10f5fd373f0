// SPDX-License-Identifier: Apache-2.0
#include "diag/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lemma::diag {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 100;

std::string on_one_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// With a space after `,` and `:`. Stops if the text is too long for a line.
void append_spaced(std::string& out, const Json& json, size_t most) {
    if (!json.is_structured()) {
        out += on_one_line(json);
        return;
    }
    const bool object = json.is_object();
    out += object ? "{" : "[";
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        if (out.size() > most) return;
        if (!first) out += ", ";
        first = false;
        if (object) out += on_one_line(Json(key)) + ": ";
        append_spaced(out, value, most);
    }
    out += object ? "}" : "]";
}

void append(std::string& out, const Json& json, size_t depth, size_t column) {
    const size_t room = kColumns - std::min(column + 1, kColumns);
    std::string line;
    append_spaced(line, json, room);
    if (!json.is_structured() || line.size() <= room) {
        out += line;
        return;
    }
    const bool object = json.is_object();
    const std::string indent(depth + 1, ' ');
    out += object ? "{" : "[";
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        out += (first ? "\n" : ",\n") + indent;
        first = false;
        const std::string name = object ? on_one_line(Json(key)) + ": " : "";
        out += name;
        append(out, value, depth + 1, indent.size() + name.size());
    }
    out += "\n" + std::string(depth, ' ') + (object ? "}" : "]");
}

}  // namespace

std::string json_text(const Json& json) {
    std::string text;
    append(text, json, 0, 0);
    return text + "\n";
}

}  // namespace lemma::diag
