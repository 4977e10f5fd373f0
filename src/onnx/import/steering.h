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
// Inputs that are packs: which is the first of them, and how many packs take turns from there on.
struct Variadic {
    size_t first;
    size_t packs;
};
// Empty for operators without.
std::optional<Variadic> variadic_of(const std::string& op);
// The attribute that holds ONNX's code of the type of the result; empty for most operators.
std::string type_attribute_of(const std::string& op);

}  // namespace lemma::onnx
