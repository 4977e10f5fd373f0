// SPDX-License-Identifier: Apache-2.0
#include "lsp/rpc/json.h"

namespace lemma::lsp {

const Json& member(const Json& object, std::string_view name) {
    static const Json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

const Json& member_at(const Json& object, std::string_view path) {
    const Json* value = &object;
    while (true) {
        const size_t slash = path.find('/');
        value = &member(*value, path.substr(0, slash));
        if (slash == std::string_view::npos) return *value;
        path.remove_prefix(slash + 1);
    }
}

std::string text_of(const Json& value) {
    const auto* text = value.get_ptr<const std::string*>();
    return text ? *text : std::string();
}

int64_t int_of(const Json& value, int64_t fallback) {
    if (value.is_number_unsigned()) {
        const uint64_t number = *value.get_ptr<const uint64_t*>();
        return number > uint64_t{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(number);
    }
    return value.is_number_integer() ? *value.get_ptr<const int64_t*>() : fallback;
}

bool bool_of(const Json& value, bool fallback) {
    const auto* flag = value.get_ptr<const bool*>();
    return flag ? *flag : fallback;
}

std::string written(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lemma::lsp
