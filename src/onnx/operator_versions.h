// SPDX-License-Identifier: Apache-2.0
// onnx/operator_versions.h — the versions of the operators of the safety profile. An operator set
// names one version of each operator: the last one that is not newer than the set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lemma::onnx {

struct OperatorVersions {
    std::string_view op;
    std::span<const int64_t> versions;  // ascending
};

// Sorted by name.
std::span<const OperatorVersions> operator_versions();

// The version that a set of the default domain selects. Empty for operators outside the profile,
// and for sets that are older than the operator.
std::optional<int64_t> operator_version(std::string_view op, int64_t opset);

}  // namespace lemma::onnx
