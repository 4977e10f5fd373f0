// SPDX-License-Identifier: Apache-2.0
#include "session/widen.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace lemma::session {

namespace {

class Widener {
public:
    explicit Widener(ir::Program& program) : program_(program), kept_(program.tensors.size()) {}

    void run() {
        for (const ir::Graph& graph : program_.graphs) {
            keep(graph.inputs);
            keep(graph.outputs);
            for (const ir::OpId id : graph.operations) {
                const ir::Operation& op = program_.operations[id];
                if (op.compound()) keep(op.outputs);
            }
        }
        for (const ir::Operation& op : program_.operations) {
            if (op.compound() || op.kind == ir::OperationKind::Primitive) continue;
            keep(op.inputs);  // intrinsics and control flow need their declared types
            keep(op.outputs);
        }
        for (const ir::Update& update : program_.updates) kept_[update.value.value] = true;
        for (const ir::Graph& graph : program_.graphs) {
            for (const ir::OpId id : graph.operations) {
                const ir::Operation& op = program_.operations[id];
                if (op.compound() && !rounds(op)) widen_parts(op);
            }
        }
    }

private:
    void keep(const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) kept_[id.value] = true;
        }
    }

    // Whether the operation rounds to whole numbers, like a quantiser. A quotient that is a half in
    // f32 must stay a half, so such an operation computes in f32 throughout.
    bool rounds(const ir::Operation& op) const {
        for (const ir::OpId id : op.parts) {
            if (rounds(program_.operations[id])) return true;
        }
        std::unordered_set<ir::SymId, IdHash> seen;
        for (const ir::Formula& formula : op.formulas) {
            for (const ir::Write& write : formula.writes) {
                if (rounds(write.value, seen)) return true;
            }
        }
        return false;
    }
    bool rounds(ir::SymId id, std::unordered_set<ir::SymId, IdHash>& seen) const {
        if (!seen.insert(id).second) return false;
        const ir::SymNode node = program_.symbols.node(id);
        const bool operation = node.kind == ir::SymKind::Operation;
        if (operation && node.op == ir::SymOp::ToInt) return true;
        if (operation && node.op == ir::SymOp::Function &&
            (node.name == "round" || node.name == "floor" || node.name == "ceil")) {
            return true;
        }
        for (const ir::SymId operand : node.operands) {
            if (rounds(operand, seen)) return true;
        }
        for (const ir::SymTerm& term : node.terms) {
            for (const ir::SymFactor& factor : term.factors) {
                if (rounds(factor.atom, seen)) return true;
            }
        }
        return false;
    }

    void widen_parts(const ir::Operation& compound) {
        for (const ir::OpId id : compound.parts) {
            const ir::Operation& part = program_.operations[id];
            if (part.compound()) {
                widen_parts(part);
            } else if (part.kind == ir::OperationKind::Primitive && !casts(part)) {
                widen(part);
            }
        }
    }

    // Whether the operation casts from another type: its result is meant to be rounded.
    bool casts(const ir::Operation& op) const {
        return std::ranges::none_of(op.inputs, [&](const ir::Port& port) {
            return std::ranges::any_of(port.operand.items, [&](ir::TensorId id) {
                const ir::Tensor& tensor = program_.tensors[id];
                return tensor.dtype == ir::DType::F32 || wide_.contains(id);
            });
        });
    }

    void widen(const ir::Operation& op) {
        for (const ir::Port& port : op.outputs) {
            for (const ir::TensorId id : port.operand.items) {
                ir::Tensor& tensor = program_.tensors[id];
                if (kept_[id.value] || tensor.dtype != ir::DType::F32) continue;
                tensor.dtype = ir::DType::F64;
                wide_.insert(id);
            }
        }
    }

    ir::Program& program_;
    std::vector<bool> kept_;  // by tensor: used outside a compound
    std::unordered_set<ir::TensorId, IdHash> wide_;
};

}  // namespace

void widen_inner_tensors(ir::Program& program) { Widener(program).run(); }

}  // namespace lemma::session
