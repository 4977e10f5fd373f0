// SPDX-License-Identifier: Apache-2.0
// show/values.h — attributes as short text: `strides=[2,2]`, `mode=linear`.
#pragma once

#include <string>
#include <vector>

#include "ir/program/program.h"

namespace lemma::show {

// A pack of many items ends in `…`. Strings that are words have no quotes.
std::string value_text(const ir::Program& program, const ir::Value& value);
// One text for each attribute that has a value.
std::vector<std::string> attribute_texts(const ir::Program& program, const ir::Operation& op);

}  // namespace lemma::show
