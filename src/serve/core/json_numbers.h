// SPDX-License-Identifier: Apache-2.0
// serve/core/json_numbers.h — the elements of a tensor as a JSON array, flat or nested as the
// shape.
#pragma once

#include <string>
#include <string_view>

#include "serve/core/types.h"

namespace lemma::serve {

// Reads the elements into memory that the value then owns. Its type and shape are set.
Answer<void> read_elements(std::string_view array, TensorValue& value);
// Appends a flat array. A failure if JSON has no form for the type or for an element.
Answer<void> write_elements(const TensorValue& value, std::string& json);

}  // namespace lemma::serve
