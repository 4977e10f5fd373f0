// sonnx/defaults.h — attributes that ONNX gives a value where a node leaves them out. The profile
// wants them written (GR4).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct MissingAttribute {
    std::string_view name;
    std::optional<onnx::Attribute>
        value;  // what it is then; empty: it needs a type that nobody knows
};
// Those of the node's operator in the model's operator set.
std::vector<MissingAttribute> missing_attributes(const onnx::Node& node, const View& view);

// "[1, 1]", "NOTSET", "0.01"
std::string value_text(const onnx::Attribute& attribute);

onnx::Attribute make_int(std::string_view name, int64_t value);
onnx::Attribute make_ints(std::string_view name, std::vector<int64_t> values);
onnx::Attribute make_float(std::string_view name, float value);
onnx::Attribute make_text(std::string_view name, std::string value);

}  // namespace lemma::sonnx
