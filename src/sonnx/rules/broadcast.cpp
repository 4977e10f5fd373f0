// SPDX-License-Identifier: Apache-2.0
// Broadcasting (document 004): shapes must fit, and no broadcast is implicit.
#include "sonnx/broadcast.h"

#include <fmt/format.h>

#include "diag/utf8.h"
#include "sonnx/inspection.h"
#include "sonnx/matmul.h"

namespace lemma::sonnx {

namespace {

void check_fit(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        const BroadcastPlan plan = plan_broadcast(node, inspection.view());
        if (!plan.applies) continue;
        inspection.examined();
        if (plan.undecided) inspection.undecided();
        if (!plan.conflict.empty()) inspection.fail(node.place, plan.conflict);
    }
}

void check_implicit(Inspection& inspection) {
    for (const onnx::Node& node : inspection.graph().nodes) {
        const BroadcastPlan plan = plan_broadcast(node, inspection.view());
        if (!plan.applies) continue;
        inspection.examined();
        if (plan.undecided) inspection.undecided();
        for (const Expansion& expansion : plan.expansions) {
            inspection.fail_fixable(
                node.place,
                fmt::format("the input `{}` of shape {} is broadcast to {} without an `Expand`",
                            diag::printable(node.inputs[expansion.input]),
                            shape_text(expansion.from),
                            shape_text(expansion.to)),
                plan_matmul_2d(node, inspection.view())
                    ? "makes it a product of two matrices"
                    : "expands a small constant, and puts an `Expand` before other tensors");
        }
    }
}

}  // namespace

std::vector<Rule> broadcast_rules() {
    using enum Severity;
    return {
        {"BC-66",
         "broadcast C1, broadcast condition 1, broadcast condition 2",
         Violation,
         "extents of an axis are equal, or 1",
         "other shapes have no common one; where one extent is 1 the result has the other, 0 too",
         "broadcast (004), C1; notes 62 to 66, 70",
         check_fit},
        {"S013",
         "BC-67, AI-008, OP 016",
         Restriction,
         "no implicit broadcasting",
         "each repetition of data is a node of its own",
         "WG needs and minutes 2025-01-15; notes 67",
         check_implicit},
    };
}

}  // namespace lemma::sonnx
