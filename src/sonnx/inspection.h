// SPDX-License-Identifier: Apache-2.0
// sonnx/inspection.h — one rule applied to one model: it counts what it examines, and reports
// violations and undecided cases.
#pragma once

#include <functional>
#include <string>

#include "sonnx/rule.h"
#include "sonnx/view.h"

namespace lemma::sonnx {

class Inspection {
public:
    Inspection(const View& view, RuleResult& result) : view_(view), result_(result) {}

    const View& view() const { return view_; }
    const onnx::Graph& graph() const { return view_.graph(); }

    // `unit` names the counted things, in the plural.
    void examined(std::string_view unit = "nodes", int64_t count = 1) {
        result_.unit = unit;
        result_.examined += count;
    }
    // A type that decides the case is unknown.
    void undecided() { ++result_.undecided; }
    void fail(onnx::PathSpan place, std::string message) {
        result_.findings.push_back({place, std::move(message), false});
    }
    // A violation that `--fix` repairs; `fix` says how: "writes `1`".
    void fail_fixable(onnx::PathSpan place, std::string message, std::string fix = {}) {
        result_.findings.push_back({place, std::move(message), true, std::move(fix)});
    }
    void fail_maybe_fixable(bool fixable,
                            onnx::PathSpan place,
                            std::string message,
                            std::string fix) {
        fixable ? fail_fixable(place, std::move(message), std::move(fix))
                : fail(place, std::move(message));
    }

    // The nodes of the main graph with that operator.
    void each_node(std::string_view op, const std::function<void(const onnx::Node&)>& look) const {
        for (const onnx::Node& node : graph().nodes) {
            if (node.op == op && onnx::is_default_domain(node.domain)) look(node);
        }
    }

private:
    const View& view_;
    RuleResult& result_;
};

// The place of an attribute, or of its node.
onnx::PathSpan place_of(const onnx::Node& node, std::string_view attribute);

}  // namespace lemma::sonnx
