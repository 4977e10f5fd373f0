// SPDX-License-Identifier: Apache-2.0
#include "diff/meaning.h"

#include <unordered_map>
#include <unordered_set>

#include "diff/formula_graph.h"
#include "diff/views.h"
#include "show/cost.h"

namespace lemma::diff {

namespace {

class Finder {
public:
    Finder(ir::Program& program, Weights& weights, const MeaningOptions& options)
        : program_(program),
          weights_(weights),
          options_(options),
          views_(program, true),
          expressions_(program.symbols),
          found_(program.tensors.size()),
          known_(program.tensors.size()) {}

    Meanings run() {
        for (size_t i = 0; i < options_.inputs.size(); ++i) {
            const ir::TensorId input = options_.inputs[i];
            if (!input.valid()) continue;
            set(input, Hasher("input").add(i).hash());
            for (const ir::SymId extent : program_.tensors[input].shape) {
                for (const ir::SymId symbol : program_.symbols.symbols_of(extent)) {
                    if (!bound_.insert(symbol).second) continue;
                    expressions_.bind_outer(symbol, Hasher("extent").add(bound_.size()).hash());
                }
            }
        }
        walk(program_.graphs[program_.main].operations, 0);
        return std::move(found_);
    }

private:
    void set(ir::TensorId id, Hash hash) {
        found_[id] = hash;
        known_[id] = 1;
    }
    Hash meaning(ir::TensorId id) {
        if (known_[id] != 0) return found_[id];
        const ir::Tensor& tensor = program_.tensors[id];
        if (Weights::is_weight(tensor)) {
            const bool values = options_.weights || tensor.role == ir::TensorRole::Constant;
            const auto filled = views_.filled(id, expressions_);
            set(id, filled ? *filled : values ? weights_.content(id) : Hasher("weight").hash());
        } else {
            // An input without a partner.
            set(id, Hasher("unknown").add(tensor.name).hash());
        }
        return found_[id];
    }
    void walk(const std::vector<ir::OpId>& ops, uint64_t depth) {
        for (const ir::OpId id : ops) {
            const ir::Operation& op = program_.operations[id];
            switch (op.kind) {
                case ir::OperationKind::Compound:
                    walk(op.parts, depth);
                    break;
                case ir::OperationKind::Primitive:
                    add_formulas(op);
                    break;
                default:
                    add_function(op, depth);
            }
            bind_extents(op);
        }
    }

    // Runtime extents that appear with a result are known by it from now on.
    void bind_extents(const ir::Operation& op) {
        for (const ir::Port& port : op.outputs) {
            for (const ir::TensorId id : port.operand.items) {
                const auto& shape = program_.tensors[id].shape;
                for (size_t i = 0; i < shape.size(); ++i) {
                    if (program_.symbols.is_constant(shape[i])) continue;
                    if (program_.symbols.node(shape[i]).kind != ir::SymKind::Symbol) continue;
                    if (!bound_.insert(shape[i]).second) continue;
                    expressions_.bind_outer(shape[i],
                                            Hasher("extent of").add(meaning(id)).add(i).hash());
                }
            }
        }
    }

    void add_formulas(const ir::Operation& op) {
        std::unordered_map<ir::TensorId, uint64_t, IdHash> outputs;
        for (const ir::Port& port : op.outputs)
            for (const ir::TensorId id : port.operand.items) outputs.emplace(id, outputs.size());
        // Only the formulas that write a result count for it, unless they read one another.
        const auto tensors = [&](ir::TensorId id) {
            if (!outputs.contains(id)) return meaning(id);
            return known_[id] != 0 ? found_[id] : Hasher("result").hash();
        };
        std::unordered_map<ir::TensorId, Hasher, IdHash> hashers;
        bool joint = false;
        for (const ir::Formula& formula : op.formulas) {
            const Hash hash = views_.formula_hash(formula, expressions_, tensors);
            joint = joint || formula.writes.size() > 1;
            for (const ir::Access& access : formula.accesses)
                joint = joint || outputs.contains(access.tensor);
            for (const ir::Write& write : formula.writes)
                hashers.emplace(write.tensor, Hasher("made")).first->second.add(hash);
        }
        views_.learn(op);
        Hasher all("joint");
        for (const ir::Formula& formula : op.formulas)
            if (joint) all.add(views_.formula_hash(formula, expressions_, tensors));
        for (const auto& [id, number] : outputs) {
            if (const ir::TensorId copied = views_.alike(id); copied != id) {
                set(id, meaning(copied));
                continue;
            }
            const auto own = joint ? std::nullopt : views_.meaning(op, id, expressions_, tensors);
            if (own) {
                set(id, *own);
            } else {
                set_result(id, number, hashers, joint, all);
            }
        }
    }
    void set_result(ir::TensorId id,
                    uint64_t number,
                    const std::unordered_map<ir::TensorId, Hasher, IdHash>& hashers,
                    bool joint,
                    const Hasher& all) {
        const auto made = hashers.find(id);
        Hasher hasher = joint ? all : made == hashers.end() ? Hasher("made") : made->second;
        if (joint) hasher.add(number);
        const ir::Tensor& tensor = program_.tensors[id];
        hasher.add(static_cast<uint64_t>(tensor.dtype));
        for (const ir::SymId extent : tensor.shape)
            if (program_.symbols.as_int(extent) != 1) hasher.add(expressions_.hash(extent));
        set(id, hasher.hash());
    }

    // An intrinsic, or control flow.
    void add_function(const ir::Operation& op, uint64_t depth) {
        Hasher hasher("function");
        hasher.add(function_hash(program_, op, expressions_));
        for (const ir::Port& port : op.inputs)
            for (const ir::TensorId id : port.operand.items) hasher.add(meaning(id));
        if (const auto* loop = std::get_if<ir::Loop>(&op.control)) {
            uint64_t count = 0;
            const auto enter = [&](ir::TensorId id) {
                if (id.valid()) set(id, Hasher("inside").add(depth).add(count).hash());
                ++count;
            };
            for (const ir::TensorId id : loop->carried) enter(id);
            for (const ir::TensorId id : loop->items) enter(id);
            enter(loop->index);
        }
        for (const show::Body& body : show::bodies(op)) {
            const ir::Graph& graph = program_.graphs[body.graph];
            walk(graph.operations, depth + 1);
            hasher.add(std::string_view(body.role));
            for (const ir::Port& port : graph.outputs)
                for (const ir::TensorId id : port.operand.items) hasher.add(meaning(id));
        }
        uint64_t number = 0;
        for (const ir::Port& port : op.outputs)
            for (const ir::TensorId id : port.operand.items)
                set(id, Hasher(hasher).add(number++).hash());
    }

    ir::Program& program_;
    Weights& weights_;
    const MeaningOptions& options_;
    Views views_;
    ExprHasher expressions_;
    Meanings found_;
    Table<ir::TensorId, char> known_;
    std::unordered_set<ir::SymId, IdHash> bound_;
};

}  // namespace

Meanings find_meanings(ir::Program& program, Weights& weights, const MeaningOptions& options) {
    return Finder(program, weights, options).run();
}

}  // namespace lemma::diff
