// SPDX-License-Identifier: Apache-2.0
// Rules about what the model says about itself. A key that is there must mean something.
#include <fmt/format.h>

#include <algorithm>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/metadata.h"
#include "sonnx/parameters.h"

namespace lemma::sonnx {

namespace {

using diag::printable;

constexpr std::string_view kCriterion = "replication_criterion";
constexpr std::string_view kTrace = "training_trace";
constexpr std::string_view kParameters = "parameters_sha256";

// Metadata keys that requirements ask for.
struct Need {
    std::string_view key;
    std::string_view text;
};
constexpr Need kNeeds[] = {
    {kCriterion, "how near an implementation must come (`exact`, or a tolerance)"},
    {kTrace, "the training model and environment that it comes from"},
};

std::string shown(std::string_view text) {
    return printable(diag::shortened(std::string(text), 60));
}

void each_property(Inspection& inspection,
                   bool (*wanted)(std::string_view),
                   const std::function<void(const onnx::Property&)>& look) {
    for (const onnx::Property& each : inspection.view().model().metadata) {
        if (!wanted(each.key) || each.value.empty()) continue;
        inspection.examined("texts");
        look(each);
    }
}

// Calls back for each input and output that the user of the model sees.
void each_port(Inspection& inspection, const std::function<void(const onnx::ValueInfo&)>& look) {
    for (const auto* list : {&inspection.graph().inputs, &inspection.graph().outputs}) {
        for (const onnx::ValueInfo& value : *list) {
            if (!inspection.view().initializer(value.name)) look(value);
        }
    }
}

void check_presence(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::PathSpan place = inspection.graph().place;
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
    each_port(inspection, [&](const onnx::ValueInfo& value) {
        if (value.doc.empty())
            inspection.fail(value.place, "nothing says what the tensor means (`doc_string`)");
    });
}

void check_placeholders(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::PathSpan place = inspection.graph().place;
    const auto look = [&](std::string_view what, std::string_view text, onnx::PathSpan where) {
        if (text.empty()) return;
        inspection.examined("texts");
        if (is_placeholder(text)) {
            inspection.fail(where,
                            fmt::format("{} is `{}`, which only holds a place", what, shown(text)));
        }
    };
    look("the producer", model.producer, place);
    look("the description of the model", model.doc, place);
    for (const onnx::Property& each : model.metadata)
        look(fmt::format("the metadata `{}`", shown(each.key)), each.value, place);
    each_port(inspection, [&](const onnx::ValueInfo& value) {
        look("the meaning of the tensor", value.doc, value.place);
        if (!value.doc.empty() && value.doc == value.name)
            inspection.fail(value.place, "the meaning of the tensor only repeats its name");
    });
}

void check_versions(Inspection& inspection) {
    const onnx::Model& model = inspection.view().model();
    const onnx::PathSpan place = inspection.graph().place;
    const auto look = [&](std::string_view what, std::string_view text) {
        if (is_version(text)) return;
        inspection.fail(
            place,
            fmt::format("{} is `{}`, expected a version such as `1.4.2`", what, shown(text)));
    };
    inspection.examined("texts");
    if (!model.producer_version.empty())
        look("the version of the producer", model.producer_version);
    each_property(
        inspection,
        [](std::string_view key) { return key == "version" || key.ends_with("_version"); },
        [&](const onnx::Property& each) {
            look(fmt::format("the metadata `{}`", shown(each.key)), each.value);
        });
}

void check_dates(Inspection& inspection) {
    each_property(
        inspection,
        [](std::string_view key) {
            return key == "date" || key == "created" || key.ends_with("_date") ||
                   key.ends_with("_timestamp");
        },
        [&](const onnx::Property& each) {
            if (is_date(each.value)) return;
            inspection.fail(inspection.graph().place,
                            fmt::format("the metadata `{}` is `{}`, expected a date such as "
                                        "`2026-10-03`",
                                        shown(each.key),
                                        shown(each.value)));
        });
}

void check_hashes(Inspection& inspection) {
    const onnx::PathSpan place = inspection.graph().place;
    each_property(
        inspection,
        [](std::string_view key) { return key == "sha256" || key.ends_with("_sha256"); },
        [&](const onnx::Property& each) {
            if (!is_sha256(each.value)) {
                return inspection.fail(
                    place,
                    fmt::format("the metadata `{}` is `{}`, expected 64 hexadecimal digits",
                                shown(each.key),
                                shown(each.value)));
            }
            if (each.key != kParameters) return;
            const auto actual = parameters_hash(inspection.graph());
            if (!actual) return inspection.undecided();
            std::string stated = each.value.substr(each.value.size() - 64);
            std::ranges::transform(stated, stated.begin(), [](char c) {
                return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
            });
            if (stated == *actual) return;
            inspection.fail(place,
                            fmt::format("the metadata `{}` is {}, but that of the parameters is {}",
                                        kParameters,
                                        stated,
                                        *actual));
        });
}

void check_criterion(Inspection& inspection) {
    const onnx::PathSpan place = inspection.graph().place;
    each_property(
        inspection,
        [](std::string_view key) { return key == kCriterion || key == kTrace; },
        [&](const onnx::Property& each) {
            if (each.key == kCriterion && !is_criterion(each.value)) {
                inspection.fail(place,
                                fmt::format("the metadata `{}` is `{}`, expected `exact` or a "
                                            "tolerance such as `abs 1e-6`",
                                            each.key,
                                            shown(each.value)));
            }
            // One word identifies nothing, unless it is a hash, a version or an address.
            const bool identifies = each.value.find_first_of(" /:0123456789") != std::string::npos;
            if (each.key == kTrace && !identifies) {
                inspection.fail(
                    place,
                    fmt::format("the metadata `{}` is `{}`, which identifies no "
                                "training run: expected an address, a version or a hash",
                                each.key,
                                shown(each.value)));
            }
        });
}

}  // namespace

std::vector<Rule> metadata_rules() {
    using enum Severity;
    return {
        {"S019",
         "AI-000, AI-002, FO 010, FO 012, FO 013, REQ-FO-040, ARCYS-001",
         Advisory,
         "metadata: version, producer, meaning of inputs and outputs, training trace, replication "
         "criterion",
         "the model is the description that an implementation is verified against",
         "WG needs and requirements (ARP6983)",
         check_presence},
        {"META-1",
         "FO 010, ARCYS-001",
         Advisory,
         "texts of the metadata say something: no placeholders, no repeated names",
         "a text that says nothing hides that the fact is missing",
         "WG needs and requirements; rule catalogue",
         check_placeholders},
        {"META-2",
         "AI-005, THAV-001",
         Advisory,
         "versions in the metadata are versions",
         "a change of the model must be seen in its version",
         "WG needs; rule catalogue",
         check_versions},
        {"META-3",
         "AI-005",
         Advisory,
         "dates in the metadata are dates (ISO 8601)",
         "readers in different countries must read the same day",
         "WG needs; rule catalogue",
         check_dates},
        {"META-4",
         "AI-006",
         Advisory,
         "hashes in the metadata are hashes, and `parameters_sha256` is that of the parameters",
         "a wrong hash shows that parameters were changed after the training",
         "WG needs; rule catalogue",
         check_hashes},
        {"META-5",
         "AI-000, FO 012, FO 013",
         Advisory,
         "the replication criterion can be tested, and the training trace identifies a training "
         "run",
         "a criterion that cannot be tested cannot be met",
         "WG needs and requirements (ARP6983)",
         check_criterion},
    };
}

}  // namespace lemma::sonnx
