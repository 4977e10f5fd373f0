// SPDX-License-Identifier: Apache-2.0
#include "sonnx/documents.h"

#include <algorithm>

namespace lemma::sonnx {

namespace {

using enum ResultShape;
using enum ResultType;

constexpr std::string_view kReals = "float";
constexpr std::string_view kNumbers = "float int uint";
constexpr std::string_view kSigned = "float int";
constexpr std::string_view kAll = "";

constexpr OperatorDocument kDocuments[] = {
    {"Abs", 13, 6, kNumbers, First},
    {"Acos", 7, 7, kReals, First},
    {"Add", 14, 7, kNumbers, Common},
    {"ArgMax", 13, 12, kNumbers, Other, Int64},
    {"Asin", 7, 7, kReals, First},
    {"Atan", 7, 7, kReals, First},
    {"BatchNormalization", 15, 9, kReals, First},
    {"Clip", 13, 11, kNumbers, First},
    {"Concat", 13, 4, kAll},
    {"Constant", 0, 1, kNumbers},
    {"Conv", 22, 1, kReals},
    {"Div", 14, 7, kNumbers, Common},
    {"Exp", 13, 6, kReals, First},
    {"Flatten", 25, 9, kNumbers},
    {"Gemm", 0, 7, kReals},
    {"LSTM", 0, 7, kReals},
    {"LeakyRelu", 16, 6, kReals, First},
    {"Less", 13, 9, kNumbers, Common, Bool},
    {"Log", 13, 6, kReals, First},
    {"MatMul", 13, 1, "float int32 int64 uint32 uint64"},
    {"Max", 13, 8, kNumbers, Common},
    {"MaxPool", 12, 10, "float int8 uint8"},
    {"Mul", 14, 7, kNumbers, Common},
    {"Neg", 13, 6, kSigned, First},
    {"Pow", 15, 7, "float int32 int64", Common},
    {"Range", 11, 11, "single int16 int32 int64"},
    {"Relu", 14, 6, kSigned, First},
    {"Reshape", 25, 5, kAll},
    {"Shape", 25, 15, kAll, Other, Int64},
    {"Sigmoid", 13, 6, kReals, First},
    {"Sin", 7, 7, kReals, First},
    {"Slice", 13, 10, kAll},
    {"Softmax", 13, 13, kReals, First},
    {"Sqrt", 13, 6, kReals, First},
    {"Sub", 14, 7, kNumbers, Common},
    {"Tanh", 13, 6, kReals, First},
    {"Unsqueeze", 25, 13, kAll},
    {"Where", 16, 9, kNumbers, Common, Same, 1},
};

// The word of `types` that has the type: a family, or the type alone.
struct TypeWord {
    std::string_view word;
    std::initializer_list<int64_t> types;  // codes of ONNX
};
constexpr TypeWord kWords[] = {{"float", {1, 10, 11}},  // float, float16, double
                               {"single", {1, 11}},
                               {"int", {3, 5, 6, 7}},
                               {"uint", {2, 4, 12, 13}},
                               {"int8", {3}},
                               {"uint8", {2}},
                               {"int16", {5}},
                               {"int32", {6}},
                               {"int64", {7}},
                               {"uint32", {12}},
                               {"uint64", {13}}};

}  // namespace

const OperatorDocument* find_document(std::string_view op) {
    const auto found = std::ranges::find(kDocuments, op, &OperatorDocument::op);
    return found == std::end(kDocuments) ? nullptr : found;
}

bool has_type(const OperatorDocument& document, int64_t elem_type) {
    std::string_view left = document.types;
    if (left.empty()) return true;
    while (!left.empty()) {
        const size_t end = std::min(left.find(' '), left.size());
        const auto word = std::ranges::find(kWords, left.substr(0, end), &TypeWord::word);
        if (word != std::end(kWords) &&
            std::ranges::find(word->types, elem_type) != word->types.end())
            return true;
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return false;
}

}  // namespace lemma::sonnx
