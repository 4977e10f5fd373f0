// SPDX-License-Identifier: Apache-2.0
// Rules about types and shapes: every tensor declares them, and composing finds the same.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "diag/utf8.h"
#include "sonnx/inspection.h"

namespace lemma::sonnx {

namespace {

using diag::printable;
using onnx::TypeKind;

constexpr int64_t kMaxElements = (int64_t{1} << 31) - 1;

// Each tensor of the main graph once, with the place for reports.
struct Named {
    std::string name;
    onnx::PathSpan place;
};
std::vector<Named> tensors_of(const onnx::Graph& graph) {
    std::vector<Named> tensors;
    std::unordered_set<std::string> seen;
    const auto add = [&](const std::string& name, onnx::PathSpan place) {
        if (!name.empty() && seen.insert(name).second) tensors.push_back({name, place});
    };
    for (const onnx::TensorData& data : graph.initializers) add(data.proto.name, data.place);
    for (const onnx::ValueInfo& input : graph.inputs) add(input.name, input.place);
    for (const onnx::Node& node : graph.nodes) {
        for (const std::string& output : node.outputs) add(output, node.place);
    }
    return tensors;
}

void check_sparse(Inspection& inspection) {
    const onnx::Graph& graph = inspection.graph();
    inspection.examined("tensors", static_cast<int64_t>(tensors_of(graph).size()));
    for (const diag::Diagnostic& item : inspection.view().subject().base.items()) {
        if (item.kind == DiagKind::NotSupported && item.message.starts_with("sparse"))
            inspection.fail({item.span.begin, item.span.end}, item.message);
    }
    for (const auto* list : {&graph.inputs, &graph.outputs, &graph.values}) {
        for (const onnx::ValueInfo& value : *list) {
            if (value.kind == TypeKind::SparseTensor)
                inspection.fail(value.place, fmt::format("`{}` is sparse", printable(value.name)));
        }
    }
    for (const onnx::Node& node : graph.nodes) {
        for (const onnx::Attribute& attribute : node.attributes) {
            if (attribute.type == onnx::AttributeType::SparseTensor ||
                attribute.type == onnx::AttributeType::SparseTensors)
                inspection.fail(attribute.place, "the attribute is a sparse tensor");
        }
    }
}

// Some types, such as 4-bit integers, have another representation in memory than in the file.
bool is_plain(int64_t elem_type) { return tensor::dtype_of_onnx(elem_type).has_value(); }

// Declarations that contradict the first one or the initialiser.
void check_repeated_types(Inspection& inspection, const Named& tensor) {
    const View& view = inspection.view();
    const auto type = view.type(tensor.name);
    if (!type || type->elem_type == 0) return;
    const auto* const data = view.initializer(tensor.name);
    for (const onnx::ValueInfo* value : view.declarations(tensor.name)) {
        const bool silent = value->kind == TypeKind::Missing || value->elem_type == 0;
        if (silent || value->elem_type == type->elem_type) continue;
        inspection.fail(value->place,
                        fmt::format("the tensor `{}` is declared as {}, but {} {}",
                                    printable(tensor.name),
                                    tensor::onnx_type_name(value->elem_type),
                                    data ? "its data is" : "elsewhere as",
                                    tensor::onnx_type_name(type->elem_type)));
    }
}

void check_types(Inspection& inspection) {
    const View& view = inspection.view();
    for (const Named& tensor : tensors_of(inspection.graph())) {
        inspection.examined("tensors");
        check_repeated_types(inspection, tensor);
        if (view.initializer(tensor.name)) continue;
        const onnx::ValueInfo* value = view.declared(tensor.name);
        const auto inferred = view.subject().inferred.find(tensor.name);
        const bool known = inferred != view.subject().inferred.end();
        if (!value || value->kind == TypeKind::Missing ||
            (value->kind == TypeKind::Tensor && value->elem_type == 0)) {
            const std::string message =
                fmt::format("the tensor `{}` has no declared element type", printable(tensor.name));
            inspection.fail_maybe_fixable(
                known,
                tensor.place,
                message,
                known
                    ? fmt::format("declares {}", tensor::onnx_type_name(inferred->second.elem_type))
                    : "");
        } else if (value->kind != TypeKind::Tensor) {
            inspection.fail(value->place, fmt::format("`{}` is no tensor", printable(tensor.name)));
        } else if (known && is_plain(value->elem_type) &&
                   value->elem_type != inferred->second.elem_type) {
            inspection.fail(value->place,
                            fmt::format("the tensor `{}` is declared as {}, but is {}",
                                        printable(tensor.name),
                                        tensor::onnx_type_name(value->elem_type),
                                        tensor::onnx_type_name(inferred->second.elem_type)));
        }
    }
}

std::string dimension_text(const onnx::Dimension& dimension) {
    return dimension.param.empty() ? "?" : fmt::format("`{}`", printable(dimension.param));
}

void check_declared_shape(Inspection& inspection,
                          const Named& tensor,
                          const onnx::ValueInfo& value) {
    Extents shape;
    const auto& inferred = inspection.view().subject().inferred;
    const auto found = inferred.find(tensor.name);
    const bool known = found != inferred.end() && found->second.shape;
    for (size_t axis = 0; axis < value.shape->size(); ++axis) {
        const onnx::Dimension& dimension = (*value.shape)[axis];
        if (dimension.value && *dimension.value >= 0) {
            shape.push_back(*dimension.value);
            continue;
        }
        std::string message = fmt::format("axis {} of `{}` is {}, expected a number",
                                          axis,
                                          printable(tensor.name),
                                          dimension_text(dimension));
        return inspection.fail_maybe_fixable(
            known,
            value.place,
            std::move(message),
            known ? "declares " + shape_text(*found->second.shape) : "");
    }
    if (!known || *found->second.shape == shape) return;
    inspection.fail(value.place,
                    fmt::format("the tensor `{}` is declared as {}, but is {}",
                                printable(tensor.name),
                                shape_text(shape),
                                shape_text(*found->second.shape)));
}

std::optional<Extents> static_shape(const onnx::ValueInfo& value) {
    if (!value.shape) return std::nullopt;
    Extents shape;
    for (const onnx::Dimension& dimension : *value.shape) {
        if (!dimension.value || *dimension.value < 0) return std::nullopt;
        shape.push_back(*dimension.value);
    }
    return shape;
}

void check_repeated_shapes(Inspection& inspection, const Named& tensor) {
    const View& view = inspection.view();
    const auto* const data = view.initializer(tensor.name);
    std::optional<Extents> expected;
    if (data) expected = data->proto.shape;
    for (const onnx::ValueInfo* value : view.declarations(tensor.name)) {
        const auto shape = static_shape(*value);
        if (!shape) continue;
        if (!expected) expected = shape;
        if (*shape == *expected) continue;
        inspection.fail(value->place,
                        fmt::format("the tensor `{}` is declared as {}, but {} {}",
                                    printable(tensor.name),
                                    shape_text(*shape),
                                    data ? "its data is" : "elsewhere as",
                                    shape_text(*expected)));
    }
}

void check_shapes(Inspection& inspection) {
    const View& view = inspection.view();
    for (const Named& tensor : tensors_of(inspection.graph())) {
        inspection.examined("tensors");
        check_repeated_shapes(inspection, tensor);
        if (view.initializer(tensor.name)) continue;
        const onnx::ValueInfo* value = view.declared(tensor.name);
        if (value && value->kind != TypeKind::Tensor && value->kind != TypeKind::Missing) continue;
        if (value && value->shape) {
            check_declared_shape(inspection, tensor, *value);
            continue;
        }
        std::string message =
            fmt::format("the tensor `{}` has no declared shape", printable(tensor.name));
        const auto shape = view.shape(tensor.name);
        inspection.fail_maybe_fixable(shape.has_value(),
                                      tensor.place,
                                      std::move(message),
                                      shape ? "declares " + shape_text(*shape) : "");
    }
}

void check_sizes(Inspection& inspection) {
    for (const Named& tensor : tensors_of(inspection.graph())) {
        inspection.examined("tensors");
        const auto shape = inspection.view().shape(tensor.name);
        if (!shape) {
            inspection.undecided();
            continue;
        }
        const auto empty = std::ranges::find_if(*shape, [](int64_t extent) { return extent < 1; });
        if (empty != shape->end()) {
            inspection.fail(tensor.place,
                            fmt::format("axis {} of `{}` has extent {}, expected 1 or more",
                                        empty - shape->begin(),
                                        printable(tensor.name),
                                        *empty));
            continue;
        }
        const auto count = element_count(*shape);
        if (!count || *count > kMaxElements) {
            inspection.fail(tensor.place,
                            fmt::format("`{}` of shape {} has more than {} elements",
                                        printable(tensor.name),
                                        shape_text(*shape),
                                        kMaxElements));
        }
    }
}

// float, uint8 … int64, string, bool, float16, double, uint32, uint64
bool is_allowed(int64_t elem_type) { return elem_type >= 1 && elem_type <= 13; }

// Tensors that a node other than Concat makes or uses. Only the document of `concat` allows
// bfloat16.
std::unordered_set<std::string> outside_of_concat(const onnx::Graph& graph) {
    std::unordered_set<std::string> names;
    for (const onnx::Node& node : graph.nodes) {
        if (node.op == "Concat" && onnx::is_default_domain(node.domain)) continue;
        names.insert(node.inputs.begin(), node.inputs.end());
        names.insert(node.outputs.begin(), node.outputs.end());
    }
    return names;
}

void check_allowed_types(Inspection& inspection) {
    const auto others = outside_of_concat(inspection.graph());
    const int64_t bfloat16 = tensor::onnx_type_of(tensor::DType::BF16);
    for (const Named& tensor : tensors_of(inspection.graph())) {
        inspection.examined("tensors");
        const auto type = inspection.view().type(tensor.name);
        if (!type || type->elem_type == 0) {
            inspection.undecided();
        } else if (!is_allowed(type->elem_type) &&
                   (type->elem_type != bfloat16 || others.contains(tensor.name))) {
            inspection.fail(tensor.place,
                            fmt::format("`{}` has elements of type {}, which is not in the profile",
                                        printable(tensor.name),
                                        tensor::onnx_type_name(type->elem_type)));
        }
    }
}

}  // namespace

std::vector<Rule> tensor_rules() {
    using enum Severity;
    return {
        {"GR1",
         "S008a",
         Restriction,
         "no sparse tensors",
         "operators are specified over dense tensors only",
         "general restrictions of the drafts",
         check_sparse},
        {"GR2",
         "S006a, VA 001, REQ-GR-000, THAV-002",
         Restriction,
         "every tensor has a declared element type, equal to the inferred one",
         "no type is left to inference or conversion",
         "general restrictions of the drafts; graph execution semantics (000)",
         check_types},
        {"S006",
         "S006b, REQ-GR-000, VA 001, THAV-003, GR3 up to catalogue 2026-11.3",
         Restriction,
         "every tensor has a declared static shape, equal to the inferred one",
         "shape inference is forbidden, or done before serialising",
         "WG requirements (REQ-GR-000); graph execution semantics (000)",
         check_shapes},
        {"S007",
         "concat T9, CAT-58, CAT-61, CONV-44, CONV-46",
         Restriction,
         "every extent is 1 or more, and no tensor has more than 2^31-1 elements",
         "empty tensors are not decided by the drafts; sizes must fit the reference code",
         "SAIV26; notes 44, 46, 58, 61",
         check_sizes},
        {"S009",
         "CAT-56, THAV-002, concat contents, broadcast contents",
         Restriction,
         "elements are float16, float, double, (u)int8 to (u)int64, bool or string, and bfloat16 "
         "between nodes of Concat",
         "no other type has a specification",
         "concat (001), broadcast (004); notes 56",
         check_allowed_types},
    };
}

}  // namespace lemma::sonnx
