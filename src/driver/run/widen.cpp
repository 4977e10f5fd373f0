#include "driver/run/widen.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lemma::driver {

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
            keep(op.inputs);  // intrinsics and control flow are given what they ask for
            keep(op.outputs);
        }
        for (const ir::Operation& op : program_.operations) keep_rounded(op);
        for (const ir::Update& update : program_.updates) kept_[update.value.value] = true;
        for (const ir::Graph& graph : program_.graphs) {
            for (const ir::OpId id : graph.operations) {
                const ir::Operation& op = program_.operations[id];
                if (op.compound()) widen_parts(op);
            }
        }
    }

private:
    void keep(const std::vector<ir::Port>& ports) {
        for (const ir::Port& port : ports) {
            for (const ir::TensorId id : port.operand.items) kept_[id.value] = true;
        }
    }

    // What a formula rounds to whole numbers: a quotient that is a half in f32 counts as one.
    void keep_rounded(const ir::Operation& op) {
        for (const ir::Formula& formula : op.formulas) {
            std::unordered_map<ir::SymId, ir::TensorId, IdHash> elements;
            for (const ir::Access& access : formula.accesses) {
                elements[access.symbol] = access.tensor;
            }
            std::unordered_set<ir::SymId, IdHash> seen;
            for (const ir::Write& write : formula.writes) {
                keep_rounded(write.value, elements, seen);
            }
        }
    }
    void keep_rounded(ir::SymId id,
                      const std::unordered_map<ir::SymId, ir::TensorId, IdHash>& elements,
                      std::unordered_set<ir::SymId, IdHash>& seen) {
        if (!seen.insert(id).second) return;
        const ir::SymNode node = program_.symbols.node(id);
        const bool function = node.kind == ir::SymKind::Operation &&
                              node.op == ir::SymOp::Function && node.operands.size() == 1;
        if (function && (node.name == "round" || node.name == "floor" || node.name == "ceil")) {
            for (const ir::SymId symbol : program_.symbols.symbols_of(node.operands[0])) {
                const auto found = elements.find(symbol);
                if (found != elements.end()) kept_[found->second.value] = true;
            }
        }
        for (const ir::SymId operand : node.operands) keep_rounded(operand, elements, seen);
        for (const ir::SymTerm& term : node.terms) {
            for (const ir::SymFactor& factor : term.factors) {
                keep_rounded(factor.atom, elements, seen);
            }
        }
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

    // From another type: the result is meant to be rounded.
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
    std::vector<bool> kept_;  // by tensor: seen from outside of a compound
    std::unordered_set<ir::TensorId, IdHash> wide_;
};

}  // namespace

void widen_inner_tensors(ir::Program& program) { Widener(program).run(); }

}  // namespace lemma::driver
