// SPDX-License-Identifier: Apache-2.0
#include "ir/program/splice.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/match.h"
#include "ir/program/copy_expr.h"

namespace lemma::ir {

namespace {

class Splicer {
public:
    Splicer(Program& into, const Program& from, const std::string& scope)
        : into_(into), from_(from), scope_(scope), exprs_(from.symbols, into.symbols) {}

    std::optional<Spliced> run(const std::vector<TensorId>& inputs) {
        const Graph& main = from_.graphs[from_.main];
        if (inputs.size() != main.inputs.size() || !from_.updates.empty()) return std::nullopt;
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (!bind(main.inputs[i].operand, inputs[i])) return std::nullopt;
        }
        Spliced result;
        for (const OpId id : main.operations) {
            auto copied = operation(id);
            if (!copied) return std::nullopt;
            result.operations.push_back(into_.operations.add(std::move(*copied)));
        }
        for (const Port& port : main.outputs) {
            if (port.operand.packed || port.operand.null()) return std::nullopt;
            const auto output = tensor(port.operand.items[0]);
            if (!output) return std::nullopt;
            result.outputs.push_back(*output);
        }
        if (!failed_) return result;
        return std::nullopt;
    }

private:
    bool bind(const Operand& port, TensorId given) {
        if (port.packed || port.null()) return false;
        const Tensor& inner = from_.tensors[port.items[0]];
        const Tensor& outer = into_.tensors[given];
        if (inner.shape.size() != outer.shape.size()) return false;
        for (size_t i = 0; i < inner.shape.size(); ++i) exprs_.put(inner.shape[i], outer.shape[i]);
        exprs_.put(inner.identity, outer.identity);
        tensors_[port.items[0]] = given;
        return true;
    }

    // An expression without a value is remembered; the whole splice then fails.
    SymId expr(SymId id) {
        if (!id.valid()) return id;
        const auto copied = exprs_.copy(id);
        failed_ = failed_ || !copied;
        return copied.value_or(id);
    }

    Scalar scalar(const Scalar& item) {
        const auto* id = std::get_if<SymId>(&item);
        if (!id) return item;
        const SymId copied = expr(*id);
        if (const auto known = into_.symbols.as_int(copied)) return *known;
        return copied;
    }

    Value value(const Value& original) {
        return match(
            original,
            [](Null) -> Value { return Null{}; },
            [&](const Scalar& item) -> Value { return scalar(item); },
            [&](const Pack& pack) -> Value {
                Pack copied = pack;
                for (Scalar& item : copied.items) item = scalar(item);
                if (copied.uniform) copied.uniform = scalar(*copied.uniform);
                return copied;
            });
    }

    std::optional<TensorId> tensor(TensorId id) {
        if (const auto found = tensors_.find(id); found != tensors_.end()) return found->second;
        Tensor copied = from_.tensors[id];
        if (copied.role == TensorRole::Variable || copied.role == TensorRole::Input) {
            return std::nullopt;
        }
        copied.name = fmt::format("{}.{}", scope_, copied.name);
        for (SymId& extent : copied.shape) extent = expr(extent);
        copied.identity = expr(copied.identity);
        for (Scalar& item : copied.items) item = scalar(item);
        copied.quantizer.reset();
        return tensors_[id] = into_.tensors.add(std::move(copied));
    }

    TensorId inner_tensor(TensorId id) {
        const auto found = tensor(id);
        failed_ = failed_ || !found;
        return found.value_or(id);
    }

    std::vector<Port> ports(const std::vector<Port>& original) {
        std::vector<Port> copied = original;
        for (Port& port : copied) {
            for (TensorId& item : port.operand.items) item = inner_tensor(item);
            port.operand.length = expr(port.operand.length);
        }
        return copied;
    }

    void copy_terms(std::vector<IndexTerm>& terms) {
        for (IndexTerm& term : terms) {
            term.value = expr(term.value);
            term.below = expr(term.below);
            term.above = expr(term.above);
        }
    }

    Formula formula(const Formula& original) {
        Formula copied = original;
        for (Bound& bound : copied.bounds) bound = {expr(bound.index), expr(bound.extent)};
        for (Access& access : copied.accesses) {
            access.symbol = expr(access.symbol);
            access.tensor = inner_tensor(access.tensor);
            copy_terms(access.indices);
        }
        copied.condition = expr(copied.condition);
        for (Write& write : copied.writes) {
            write.tensor = inner_tensor(write.tensor);
            copy_terms(write.indices);
            write.value = expr(write.value);
        }
        copied.counter = expr(copied.counter);
        return copied;
    }

    std::optional<Operation> operation(OpId id) {
        Operation copied = from_.operations[id];
        if (copied.kind == OperationKind::Control) return std::nullopt;
        copied.label = copied.label.empty() ? scope_ : fmt::format("{}.{}", scope_, copied.label);
        for (Attribute& attribute : copied.attributes) attribute.value = value(attribute.value);
        copied.inputs = ports(copied.inputs);
        for (OpId& part : copied.parts) {
            auto inner = operation(part);
            if (!inner) return std::nullopt;
            part = into_.operations.add(std::move(*inner));
        }
        copied.outputs = ports(copied.outputs);
        for (Formula& item : copied.formulas) item = formula(item);
        for (Assertion& assertion : copied.assertions) {
            assertion.condition = expr(assertion.condition);
        }
        if (failed_) return std::nullopt;
        return copied;
    }

    Program& into_;
    const Program& from_;
    const std::string& scope_;
    ExprCopier exprs_;
    std::unordered_map<TensorId, TensorId, IdHash> tensors_;
    bool failed_ = false;
};

}  // namespace

std::optional<Spliced> splice(Program& into,
                              const Program& from,
                              const std::vector<TensorId>& inputs,
                              const std::string& scope) {
    return Splicer(into, from, scope).run(inputs);
}

}  // namespace lemma::ir
