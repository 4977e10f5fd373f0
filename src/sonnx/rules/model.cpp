// SPDX-License-Identifier: Apache-2.0
// Rules about the whole model: its form, operator sets and identity.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "diag/utf8.h"
#include "onnx/fields.h"
#include "onnx/validate.h"
#include "sonnx/inspection.h"
#include "sonnx/operators.h"
#include "tensor/files/wire.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

// Kinds that a separate rule reports.
bool has_own_rule(DiagKind kind) {
    return kind == DiagKind::DuplicateName || kind == DiagKind::UndeclaredName ||
           kind == DiagKind::MissingOutput || kind == DiagKind::UsedBeforeAssigned ||
           kind == DiagKind::CyclicGraph || kind == DiagKind::BadOpset;
}

onnx::PathSpan place_of(const diag::Diagnostic& item) { return {item.span.begin, item.span.end}; }

void check_ir_version(Inspection& inspection) {
    const int64_t version = inspection.view().model().ir_version;
    if (version >= 1 && version <= onnx::kNewestIrVersion) return;
    inspection.fail(
        inspection.graph().place,
        fmt::format(
            "the version of the format is {}, expected 1 to {}", version, onnx::kNewestIrVersion));
}

// Node names are optional but must be unique (ONNX IR, names within a graph).
void check_node_names(Inspection& inspection) {
    std::unordered_set<std::string_view> names;
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (node.name.empty() || names.insert(node.name).second) continue;
        inspection.fail(node.place,
                        fmt::format("another node has the name `{}`", printable(node.name)));
    }
}

// Constant indices must lie inside the indexed tensor.
void check_constant_indices(Inspection& inspection) {
    const View& view = inspection.view();
    constexpr int64_t kMaxIndices = int64_t{1} << 26;
    const auto indices_of = [&](const onnx::Node& node) {
        return has_input(node, 1) ? view.constant_ints(node.inputs[1], kMaxIndices) : std::nullopt;
    };
    inspection.each_node("Gather", [&](const onnx::Node& node) {
        const auto shape = view.input_shape(node, 0);
        const auto indices = indices_of(node);
        if (!shape || !indices) return;
        const auto rank = static_cast<int64_t>(shape->size());
        const int64_t axis = int_attribute(node, "axis").value_or(0);
        if (axis < -rank || axis >= rank) return;
        const int64_t extent = (*shape)[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
        for (const int64_t index : *indices) {
            if (index >= -extent && index < extent) continue;
            return inspection.fail(node.place,
                                   fmt::format("the index {} lies outside of the axis, which has "
                                               "extent {}",
                                               index,
                                               extent));
        }
    });
    inspection.each_node("ScatterND", [&](const onnx::Node& node) {
        const auto shape = view.input_shape(node, 0);
        const auto form = view.input_shape(node, 1);
        const auto indices = indices_of(node);
        if (!shape || !form || form->empty() || !indices) return;
        const auto depth = static_cast<size_t>(form->back());
        if (depth == 0 || depth > shape->size()) return;
        for (size_t i = 0; i < indices->size(); ++i) {
            const int64_t extent = (*shape)[i % depth];
            if ((*indices)[i] >= -extent && (*indices)[i] < extent) continue;
            return inspection.fail(node.place,
                                   fmt::format("the index {} lies outside of axis {}, which has "
                                               "extent {}",
                                               (*indices)[i],
                                               i % depth,
                                               extent));
        }
    });
}

// A limit of this tool is no fault of the model; it leaves the rule undecided.
void check_valid(Inspection& inspection) {
    inspection.examined("models");
    for (const diag::Diagnostic& item : inspection.view().subject().base.items()) {
        if (item.severity != diag::Severity::Error || has_own_rule(item.kind)) continue;
        if (item.kind == DiagKind::NotSupported) {
            inspection.undecided();
        } else {
            inspection.fail(place_of(item), item.message);
        }
    }
    check_ir_version(inspection);
    check_node_names(inspection);
    check_constant_indices(inspection);
    const Subject& subject = inspection.view().subject();
    if (!subject.composed || subject.base.dropped_errors() > 0) inspection.undecided();
}

void check_opsets(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::PathSpan place = inspection.graph().place;
    std::map<std::string, int64_t> versions;
    for (const onnx::OperatorSet& set : model.opsets) {
        inspection.examined("operator sets");
        const std::string domain = onnx::is_default_domain(set.domain) ? "ai.onnx" : set.domain;
        if (!versions.emplace(domain, set.version).second) {
            inspection.fail(place,
                            fmt::format("the version of `{}` is given twice", printable(domain)));
        }
        if (domain != "ai.onnx") {
            inspection.fail(place,
                            fmt::format("the model uses the operator set `{}`, only `ai.onnx` is "
                                        "in the profile",
                                        printable(domain)));
        } else if (set.version > onnx::kNewestOpset) {
            inspection.fail(place,
                            fmt::format("the operator set has version {}, {} is the newest known",
                                        set.version,
                                        onnx::kNewestOpset));
        }
    }
    for (const diag::Diagnostic& item : inspection.view().subject().base.items()) {
        if (item.kind == DiagKind::BadOpset && item.severity == diag::Severity::Error)
            inspection.fail(place_of(item), item.message);
    }
    for (const onnx::Function& function : model.functions) {
        inspection.fail(
            function.place,
            fmt::format("the model defines the function `{}`", printable(function.name)));
    }
    for (const onnx::Node& node : inspection.graph().nodes) {
        if (!onnx::is_default_domain(node.domain)) {
            inspection.fail(node.place,
                            fmt::format("the operator is of the domain `{}`, expected `ai.onnx`",
                                        printable(node.domain)));
        }
        if (!node.overload.empty()) inspection.fail(node.place, "the node selects an overload");
    }
}

void check_subgraphs(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        for (const onnx::Attribute& attribute : node.attributes) {
            if (attribute.graphs.empty()) continue;
            inspection.fail(attribute.place,
                            fmt::format("`{}` has a sub-graph", printable(node.op)));
        }
    }
}

// Initialisers and tensors in attributes, of all graphs and functions.
void check_external(Inspection& inspection) {
    const auto look = [&](const onnx::TensorData& data) {
        inspection.examined("tensors");
        if (!data.proto.external) return;
        inspection.fail(data.place,
                        fmt::format("the elements are in `{}`, which the hash of the model "
                                    "does not cover",
                                    printable(data.proto.external->location)));
    };
    const auto look_at_nodes = [&](const std::vector<onnx::Node>& nodes) {
        for (const onnx::Node& node : nodes) {
            for (const onnx::Attribute& attribute : node.attributes)
                std::ranges::for_each(attribute.tensors, look);
        }
    };
    const onnx::Model& model = inspection.view().model();
    for (const onnx::Graph& graph : model.graphs) {
        std::ranges::for_each(graph.initializers, look);
        look_at_nodes(graph.nodes);
    }
    for (const onnx::Function& function : model.functions) look_at_nodes(function.nodes);
}

// Whether a node is in training mode, by the operator set.
bool is_training(const onnx::Node& node, const View& view) {
    if (int_attribute(node, "training_mode").value_or(0) != 0) return true;
    if (node.op == "Dropout" && has_input(node, 2)) return true;
    const bool can_train = node.op == "BatchNormalization" || node.op == "Dropout";
    constexpr int64_t kLastIsTest = 6;
    if (can_train && view.opset() <= kLastIsTest)
        return int_attribute(node, "is_test").value_or(0) == 0;
    // Batch statistics are outputs in training only; later versions have `training_mode`.
    constexpr int64_t kLastByOutputs = 13;
    return node.op == "BatchNormalization" && view.opset() <= kLastByOutputs &&
           std::ranges::count_if(node.outputs,
                                 [](const std::string& name) { return !name.empty(); }) > 1;
}

bool has_training_info(const onnx::Model& model) {
    tensor::WireReader reader(model.rest);
    tensor::WireField field;
    while (reader.next(field).value_or(false)) {
        if (field.number == onnx::model_field::TrainingInfo) return true;
    }
    return false;
}

void check_determinism(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        const onnx::Operator* op = onnx::find_operator(node.op);
        if (op && op->is_random) {
            inspection.fail(node.place, fmt::format("`{}` gives random results", node.op));
        }
        if (is_training(node, inspection.view()))
            inspection.fail(node.place, fmt::format("`{}` is in training mode", node.op));
    }
    if (has_training_info(inspection.view().model()))
        inspection.fail(inspection.graph().place, "the model says how to train it");
}

}  // namespace

std::vector<Rule> model_rules() {
    using enum Severity;
    return {
        {"S001",
         "REQ-FO-000, REQ-FO-010, OP 000",
         Violation,
         "the model is valid ONNX for its operator sets",
         "a profile restricts ONNX and never extends it",
         "ONNX IR and operator documentation; WG requirements",
         check_valid},
        {"S002",
         "THAV-001, FO 000, REQ-FO-020",
         Restriction,
         "one version of one operator set: no functions, overloads or custom domains",
         "the exact version of each operator must follow from the file",
         "WG requirements",
         check_opsets},
        {"S003",
         "OP 023, OP 024",
         Restriction,
         "no sub-graphs (If, Loop, Scan)",
         "memory and time must not depend on data",
         "WG requirements",
         check_subgraphs},
        {"S008",
         "AI-005, AI-006",
         Restriction,
         "no external data that the model's hash does not cover",
         "a signature on the file must cover its parameters",
         "WG needs",
         check_external},
        {"S018",
         "OP 032, REQ-OP-010, REQ-OP-020",
         Restriction,
         "no random and no training operators",
         "inference is deterministic",
         "WG requirements",
         check_determinism},
    };
}

}  // namespace lemma::sonnx
