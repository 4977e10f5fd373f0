// SPDX-License-Identifier: Apache-2.0
// ir/program/stored_program.h — a program as bytes and back, for the cache of this version of
// Lemma.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/program/program.h"

namespace lemma::ir {

// The program with its ids, without the places of its operations in the source: equal bytes mean
// programs that do the same.
std::string encode_program(const Program& program);
// The places, by operation.
std::string encode_places(const Program& program);
// Empty if the bytes are no program and its places. Ids inside of it are not checked.
std::optional<Program> decode_program(std::string_view bytes, std::string_view places);

}  // namespace lemma::ir
