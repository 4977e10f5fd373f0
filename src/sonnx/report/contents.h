// SPDX-License-Identifier: Apache-2.0
// sonnx/report/contents.h — the tables of a report: operators, tensors and nodes of the model.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/operators.h"
#include "sonnx/report/dispositions.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

struct OperatorUse {
    std::string op;                  // with its domain, if it is not the default one
    std::optional<int64_t> version;  // the version that the operator set selects
    int64_t nodes = 0;
    onnx::Standing standing{};
};

enum class TensorPart : uint8_t { Input, Output, Constant, Intermediate };
// "input", "output", "constant", "intermediate"
std::string_view part_text(TensorPart part);

struct TensorEntry {
    std::string name;
    TensorPart part{};
    std::string type;   // "FLOAT"; "unknown"
    std::string shape;  // "1×3×8×8"; "unknown"
    bool declared = false;
    std::string meaning = {};  // the text of the model about an input or output
};

struct NodeEntry {
    size_t index = 0;  // in the graph
    const onnx::Node* node = nullptr;
    std::optional<int64_t> version = {};
    Dispositions dispositions = {};
    // Bounds of the errors that the node makes and passes on; empty: not known.
    std::optional<double> introduced = {}, propagated = {};
};

struct Contents {
    std::vector<OperatorUse> operators;  // by name
    std::vector<TensorEntry> tensors;    // inputs, outputs, intermediate ones, constants
    std::vector<NodeEntry> nodes;        // in the order of the model
};

// The tables of the main graph.
Contents contents_of(const Subject& subject);

}  // namespace lemma::sonnx
