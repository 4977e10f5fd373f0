// Rules about the model as a whole: its form, its operator sets, what belongs to its identity.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diag/utf8.h"
#include "onnx/validate.h"
#include "sonnx/inspection.h"
#include "sonnx/operators.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

// Kinds that rules of their own tell.
bool has_own_rule(DiagKind kind) {
    return kind == DiagKind::DuplicateName || kind == DiagKind::UndeclaredName ||
           kind == DiagKind::MissingOutput || kind == DiagKind::UsedBeforeAssigned ||
           kind == DiagKind::CyclicGraph || kind == DiagKind::BadOpset;
}

onnx::Place place_of(const diag::Diagnostic& item) { return {item.span.begin, item.span.end}; }

// What this tool cannot read or run is no fault of the model, but leaves the rule undecided.
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
    const Subject& subject = inspection.view().subject();
    if (!subject.composed || subject.base.dropped_errors() > 0) inspection.undecided();
}

void check_opsets(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::Place place = inspection.graph().place;
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

void check_external(Inspection& inspection) {
    for (const onnx::TensorData& data : inspection.graph().initializers) {
        inspection.examined("initialisers");
        if (data.proto.external) {
            inspection.fail(data.place,
                            fmt::format("the elements are in `{}`, which the hash of the model "
                                        "does not cover",
                                        printable(data.proto.external->location)));
        }
    }
}

void check_determinism(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        inspection.examined();
        if (is_stochastic(node.op)) {
            inspection.fail(node.place, fmt::format("`{}` gives random results", node.op));
        }
        const auto mode = int_attribute(node, "training_mode");
        const bool trains_input = node.op == "Dropout" && has_input(node, 2);
        if ((mode && *mode != 0) || trains_input)
            inspection.fail(node.place, fmt::format("`{}` is in training mode", node.op));
    }
}

// Keys that the metadata of a model may answer a need with.
struct Need {
    std::string_view key;
    std::string_view text;
};
constexpr Need kNeeds[] = {
    {"replication_criterion", "how near an implementation must come (`exact`, or a tolerance)"},
    {"training_trace", "the training model and environment that it comes from"},
};

void check_metadata(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::Place place = inspection.graph().place;
    inspection.examined("models");
    if (model.version <= 0) inspection.fail(place, "the model has no version (`model_version`)");
    if (model.producer.empty()) inspection.fail(place, "the model does not say what produced it");
    for (const Need& need : kNeeds) {
        const bool there = std::ranges::any_of(model.metadata, [&](const onnx::Property& each) {
            return each.key == need.key && !each.value.empty();
        });
        if (there) continue;
        inspection.fail(place, fmt::format("the metadata has no `{}`: {}", need.key, need.text));
    }
    for (const auto* list : {&inspection.graph().inputs, &inspection.graph().outputs}) {
        for (const onnx::ValueInfo& value : *list) {
            if (value.doc.empty() && !inspection.view().initializer(value.name))
                inspection.fail(value.place, "nothing says what the tensor means (`doc_string`)");
        }
    }
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
        {"S019",
         "AI-000, AI-002, FO 010, FO 012, FO 013, REQ-FO-040, ARCYS-001",
         Advisory,
         "metadata: version, producer, meaning of inputs and outputs, training trace, replication "
         "criterion",
         "the model is the description that an implementation is verified against",
         "WG needs and requirements (ARP6983)",
         check_metadata},
    };
}

}  // namespace lemma::sonnx
