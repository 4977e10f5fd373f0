// SPDX-License-Identifier: Apache-2.0
// lsp/rpc/json.h — JSON values of the protocol, read without exceptions: a member that is missing
// or has another type gives a fallback.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lemma::lsp {

using Json = nlohmann::json;

// The member, or null.
const Json& member(const Json& object, std::string_view name);
// The member of a member: `path` has the names, separated by `/`.
const Json& member_at(const Json& object, std::string_view path);
std::string text_of(const Json& value);
int64_t int_of(const Json& value, int64_t fallback = 0);
bool bool_of(const Json& value, bool fallback = false);
// Text for the wire; bytes that are not UTF-8 are replaced.
std::string written(const Json& value);

}  // namespace lemma::lsp
