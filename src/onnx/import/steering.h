// onnx/import/steering.h — inputs of operators that are attributes of their definitions in
// stdlib/onnx, and attributes that are types. Importing and exporting share these tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lemma::onnx {

// An input that becomes an attribute of the call.
enum class SteerAs : uint8_t { One, List };
struct Steering {
    size_t input;
    const char* attribute;
    SteerAs as;
};
// By operator; empty for most of them.
const std::vector<Steering>& steering_of(const std::string& op);
// The first of the inputs that are one pack; empty for operators without.
std::optional<size_t> variadic_from(const std::string& op);
// The attribute that holds ONNX's code of the type of the result; empty for most operators.
std::string type_attribute_of(const std::string& op);

}  // namespace lemma::onnx
