// SPDX-License-Identifier: Apache-2.0
// sonnx/report/places.h — finds the node or tensor that a place in the model belongs to.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "sonnx/report/report.h"

namespace lemma::sonnx {

class Places {
public:
    explicit Places(const Report& report);

    // The node at the place, or around it: `graph/node[3]:Conv/attribute pads` belongs to node 3.
    std::optional<size_t> node(const std::string& place) const;
    // The anchor of the node or tensor; empty for places elsewhere.
    std::string anchor(onnx::PathSpan place) const;

private:
    const Report& report_;
    std::unordered_map<std::string, size_t> nodes_;         // by the text of the place
    std::unordered_map<std::string, std::string> anchors_;  // of declarations and initialisers
};

}  // namespace lemma::sonnx
