// SPDX-License-Identifier: Apache-2.0
#include "ir/program/display_name.h"

#include <algorithm>
#include <array>

namespace lemma::ir {

namespace {

constexpr std::string_view kOnnx = "onnx.";
constexpr std::string_view kNnef1 = "nnef1.";
constexpr std::string_view kMicrosoft = "com.microsoft.";

struct DomainName {
    std::string_view op, domain;
};
// Operators of other domains than ONNX's own and com.microsoft, which is a folder of its own.
// onnx_operators_test compares this list with the operator table.
constexpr std::array kDomains = {DomainName{"ArrayFeatureExtractor", "ai.onnx.ml."},
                                 DomainName{"Binarizer", "ai.onnx.ml."},
                                 DomainName{"FlexAttention", "ai.onnx.preview."},
                                 DomainName{"LabelEncoder", "ai.onnx.ml."},
                                 DomainName{"LinearRegressor", "ai.onnx.ml."},
                                 DomainName{"Normalizer", "ai.onnx.ml."},
                                 DomainName{"Scaler", "ai.onnx.ml."},
                                 DomainName{"TreeEnsemble", "ai.onnx.ml."}};

std::string_view domain_of(std::string_view path, std::string_view name) {
    if (path.substr(kOnnx.size()).starts_with(kMicrosoft)) return kMicrosoft;
    const auto found = std::ranges::find(kDomains, name, &DomainName::op);
    return found == kDomains.end() ? std::string_view() : found->domain;
}

std::string onnx_name(std::string_view op) {
    std::string_view name = op.substr(op.rfind('.') + 1);
    if (name == "max_of_two") return "Max";
    if (name == "min_of_two") return "Min";
    const bool capital = !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
    if (!capital) return std::string(op);
    name = name.substr(0, name.find('_'));
    return std::string(domain_of(op, name)).append(name);
}

}  // namespace

std::string display_name(std::string_view op) {
    if (op.starts_with(kOnnx)) return onnx_name(op);
    if (!op.starts_with(kNnef1)) return std::string(op);
    const std::string_view name = op.substr(op.rfind('.') + 1);
    return std::string(name.starts_with('_') ? op : name);
}

}  // namespace lemma::ir
