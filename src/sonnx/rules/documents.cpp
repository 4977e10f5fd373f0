// SPDX-License-Identifier: Apache-2.0
// What every operator document says: the element types, the form of the operator, and the shape and
// the type of an elementwise result.
#include "sonnx/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diag/utf8.h"
#include "sonnx/broadcast.h"
#include "sonnx/inspection.h"
#include "sonnx/operators.h"

namespace lemma::sonnx {

namespace {

using diag::printable;
using Look = std::function<void(const onnx::Node&, const OperatorDocument&)>;

void each_documented(const Inspection& inspection, const Look& look) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (!onnx::is_default_domain(node.domain)) continue;
        if (const OperatorDocument* document = find_document(node.op)) look(node, *document);
    }
}

// The type of the input that the document names; of the result for operators without inputs.
std::optional<int64_t> typed(const onnx::Node& node,
                             const OperatorDocument& document,
                             const View& view) {
    const bool from_input = has_input(node, document.typed_input);
    if (!from_input && (!node.inputs.empty() || node.outputs.empty())) return std::nullopt;
    const auto type = view.type(from_input ? node.inputs[document.typed_input] : node.outputs[0]);
    if (!type || type->elem_type == 0) return std::nullopt;
    return type->elem_type;
}

void check_types(Inspection& inspection) {
    each_documented(inspection, [&](const onnx::Node& node, const OperatorDocument& document) {
        if (document.types.empty()) return;
        inspection.examined();
        const auto type = typed(node, document, inspection.view());
        if (!type) return inspection.undecided();
        if (has_type(document, *type)) return;
        inspection.fail(node.place,
                        fmt::format("`{}` computes on elements of type {}, which its document does "
                                    "not specify; it has {}",
                                    node.op,
                                    tensor::onnx_type_name(*type),
                                    document.types));
    });
}

void check_form(Inspection& inspection) {
    const int64_t opset = inspection.view().opset();
    each_documented(inspection, [&](const onnx::Node& node, const OperatorDocument& document) {
        inspection.examined();
        if (opset >= document.since) return;
        inspection.fail(node.place,
                        fmt::format("`{}` has an older form in operator set {}; the document needs "
                                    "{} or later",
                                    node.op,
                                    opset,
                                    document.since));
    });
}

void check_documented(Inspection& inspection) {
    std::map<std::string_view, std::pair<const onnx::Node*, int64_t>> without;
    std::vector<std::string_view> order;
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (!profile_operator(node.op) || !onnx::is_default_domain(node.domain)) continue;
        inspection.examined();
        if (find_document(node.op)) continue;
        auto& [first, count] = without[node.op];
        if (!first) order.push_back(node.op);
        if (!first) first = &node;
        ++count;
    }
    for (const std::string_view op : order) {
        const auto& [node, count] = without[op];
        inspection.fail(node->place,
                        fmt::format("`{}` has no document yet; its definition in ONNX applies "
                                    "({} {})",
                                    op,
                                    count,
                                    count == 1 ? "node" : "nodes"));
    }
}

std::optional<Extents> expected_shape(const onnx::Node& node,
                                      const OperatorDocument& document,
                                      const View& view) {
    if (document.shape == ResultShape::First) return view.input_shape(node, 0);
    std::vector<Extents> shapes;
    for (const std::string& input : node.inputs) {
        auto shape = view.shape(input);
        if (!shape) return std::nullopt;
        shapes.push_back(std::move(*shape));
    }
    return common_shape(shapes);
}

void check_result_shape(Inspection& inspection) {
    each_documented(inspection, [&](const onnx::Node& node, const OperatorDocument& document) {
        if (document.shape == ResultShape::Other) return;
        inspection.examined();
        const auto expected = expected_shape(node, document, inspection.view());
        const auto actual = inspection.view().output_shape(node, 0);
        if (!expected || !actual) return inspection.undecided();
        if (*actual == *expected) return;
        inspection.fail(node.place,
                        fmt::format("the result `{}` has the shape {}, expected {} as the operands",
                                    printable(node.outputs[0]),
                                    shape_text(*actual),
                                    shape_text(*expected)));
    });
}

void check_result_type(Inspection& inspection) {
    constexpr int64_t kInt64 = 7;
    constexpr int64_t kBool = 9;
    each_documented(inspection, [&](const onnx::Node& node, const OperatorDocument& document) {
        const auto output = std::ranges::find_if_not(node.outputs, &std::string::empty);
        if (output == node.outputs.end()) return;
        inspection.examined();
        const auto from = typed(node, document, inspection.view());
        const auto result = inspection.view().type(*output);
        if (!from || !result || result->elem_type == 0) return inspection.undecided();
        const int64_t expected = document.type == ResultType::Same   ? *from
                                 : document.type == ResultType::Bool ? kBool
                                                                     : kInt64;
        if (result->elem_type == expected) return;
        inspection.fail(node.place,
                        fmt::format("the result `{}` has elements of type {}, expected {}",
                                    printable(*output),
                                    tensor::onnx_type_name(result->elem_type),
                                    tensor::onnx_type_name(expected)));
    });
}

}  // namespace

std::vector<Rule> document_rules() {
    using enum Severity;
    return {
        {"S026",
         "",
         Restriction,
         "elements have a type that the document of the operator specifies",
         "the meaning of an operator depends on the type, and only these have one",
         "operator documents, contents",
         check_types,
         "",
         k2026_08},
        {"S027",
         "FO 000, REQ-FO-020",
         Restriction,
         "the operator set is not older than the form of the operator in its document",
         "older forms have other inputs or another meaning (X7)",
         "operator documents, version",
         check_form,
         "",
         k2026_08},
        {"S028",
         "REQ-OP-000",
         Advisory,
         "each operator has a document of the working group",
         "requirements name operators whose text is not written yet",
         "WG operator list (REQ-OP-000)",
         check_documented},
        {"EW-1",
         "",
         Violation,
         "an elementwise result has the shape of its operands",
         "each element of the result has one element of each operand",
         "operator documents, constraints of X and Y, of A, B and C",
         check_result_shape,
         "",
         k2026_08},
        {"EW-2",
         "",
         Violation,
         "a result has the element type of the operands; Less gives bool, ArgMax and Shape int64",
         "no conversion is implied",
         "operator documents, constraints of the output",
         check_result_type,
         "",
         k2026_08},
    };
}

}  // namespace lemma::sonnx
