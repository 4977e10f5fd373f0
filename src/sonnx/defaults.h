// SPDX-License-Identifier: Apache-2.0
// sonnx/defaults.h — omitted attributes for which ONNX has a default. The profile requires them to
// be explicit (GR4).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct MissingAttribute {
    std::string_view name;
    std::optional<onnx::Attribute> value;  // the default; empty if it needs an unknown type
};
// The omitted attributes of a node, in the operator set of the model.
std::vector<MissingAttribute> missing_attributes(const onnx::Node& node, const View& view);

// "[1, 1]", "NOTSET", "0.01"
std::string value_text(const onnx::Attribute& attribute);

onnx::Attribute make_int(std::string_view name, int64_t value);
onnx::Attribute make_ints(std::string_view name, std::vector<int64_t> values);
onnx::Attribute make_float(std::string_view name, float value);
onnx::Attribute make_text(std::string_view name, std::string value);

}  // namespace lemma::sonnx
