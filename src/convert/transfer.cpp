// SPDX-License-Identifier: Apache-2.0
#include "convert/transfer.h"

#include <algorithm>

#include "base/check.h"

namespace lemma::convert {

// ---- Expressions --------------------------------------------------------------------------------

ir::SymId Transfer::symbol(ir::SymId id) {
    const auto found = symbols_.find(id);
    if (found != symbols_.end()) return found->second;
    const ir::SymId made = rebuilt(id);
    symbols_[id] = made;
    return made;
}

ir::SymId Transfer::rebuilt(ir::SymId id) {
    const ir::SymbolPool& from = from_.symbols;
    ir::SymbolPool& to = to_.symbols();
    if (const auto value = from.as_int(id)) return to.integer(*value);
    if (const auto value = from.as_real(id)) return to.real(*value);
    if (const auto value = from.as_bool(id)) return to.boolean(*value);
    if (const auto value = from.as_string(id)) return to.string(*value);
    const ir::SymNode node = from.node(id);
    if (node.kind == ir::SymKind::Symbol) {
        const bool number = node.type == ir::ScalarType::Int;
        return number ? to.symbol(node.name, node.type, from.range(id))
                      : to.symbol(node.name, node.type);
    }
    const auto apply = [&](ir::SymOp op, const std::vector<ir::SymId>& operands) {
        const auto made = to.apply(op, operands);
        LEMMA_CHECK(made.has_value());  // it has a value in its own program
        return *made;
    };
    if (node.kind == ir::SymKind::Polynomial) {
        std::vector<ir::SymId> terms;
        for (const ir::SymTerm& term : node.terms) {
            std::vector<ir::SymId> factors = {to.integer(term.coefficient)};
            for (const ir::SymFactor& factor : term.factors)
                factors.insert(factors.end(), factor.power, symbol(factor.atom));
            terms.push_back(apply(ir::SymOp::Mul, factors));
        }
        return apply(ir::SymOp::Add, terms);
    }
    std::vector<ir::SymId> operands;
    for (const ir::SymId operand : node.operands) operands.push_back(symbol(operand));
    if (node.op == ir::SymOp::Function) {
        const auto made = to.function(node.name, operands.at(0));
        LEMMA_CHECK(made.has_value());
        return *made;
    }
    if (node.op == ir::SymOp::Select) {
        const auto made = to.select(operands.at(0), operands.at(1), operands.at(2));
        LEMMA_CHECK(made.has_value());
        return *made;
    }
    const bool with_zero = node.op == ir::SymOp::LessEqual || node.op == ir::SymOp::Equal;
    if (with_zero && operands.size() == 1) operands.push_back(to.integer(0));
    return apply(node.op, operands);
}

ir::Scalar Transfer::scalar(const ir::Scalar& scalar) {
    const auto* const id = std::get_if<ir::SymId>(&scalar);
    if (!id) return scalar;
    const ir::SymId made = symbol(*id);
    if (const auto value = to_.symbols().as_int(made)) return *value;
    return made;
}

ir::Value Transfer::value(const ir::Value& value) {
    if (const auto* const one = std::get_if<ir::Scalar>(&value)) return scalar(*one);
    const auto* const pack = std::get_if<ir::Pack>(&value);
    if (!pack) return value;
    ir::Pack made = *pack;
    for (ir::Scalar& item : made.items) item = scalar(item);
    if (made.uniform) made.uniform = scalar(*made.uniform);
    return made;
}

// The ranks are equal, and no extents are known to differ.
bool Transfer::has_shape(const std::vector<ir::SymId>& to,
                         const std::vector<ir::SymId>& from) const {
    return std::ranges::equal(to, from, [&](ir::SymId made, ir::SymId wanted) {
        const auto extent = to_.symbols().as_int(made);
        const auto other = from_.symbols.as_int(wanted);
        return !extent || !other || *extent == *other;
    });
}

// An unknown extent of an operation corresponds to the unknown extent of its counterpart.
void Transfer::learn(const std::vector<ir::SymId>& from, const std::vector<ir::SymId>& to) {
    for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
        if (from_.symbols.is_constant(from[i]) || symbols_.contains(from[i])) continue;
        if (from_.symbols.node(from[i]).kind == ir::SymKind::Symbol) symbols_[from[i]] = to[i];
    }
}

// ---- Tensors ------------------------------------------------------------------------------------

bool Transfer::is_known(ir::TensorId id) const {
    return tensors_.contains(id) || from_.tensors[id].role != ir::TensorRole::Intermediate;
}

ir::TensorId Transfer::tensor(ir::TensorId id) {
    const auto found = tensors_.find(id);
    return found == tensors_.end() ? new_tensor(id) : found->second;
}

ir::TensorId Transfer::new_tensor(ir::TensorId id) {
    const ir::Tensor& from = from_.tensors[id];
    ir::Tensor made;
    made.name = from.name;
    made.dtype = from.dtype;
    made.role = from.role;
    for (const ir::SymId extent : from.shape) made.shape.push_back(symbol(extent));
    for (const ir::Scalar& item : from.items) made.items.push_back(scalar(item));
    const ir::TensorId to = to_.add_tensor(std::move(made));
    tensors_[id] = to;
    return to;
}

ir::Operand Transfer::operand(const ir::Operand& operand) {
    ir::Operand made;
    made.packed = operand.packed;
    for (const ir::TensorId id : operand.items) made.items.push_back(tensor(id));
    if (operand.length.valid()) made.length = symbol(operand.length);
    return made;
}

bool Transfer::take_outputs(const ir::Operation& op, const std::vector<ir::Operand>& results) {
    for (size_t i = 0; i < op.outputs.size() && i < results.size(); ++i) {
        const std::vector<ir::TensorId>& from = op.outputs[i].operand.items;
        const std::vector<ir::TensorId>& to = results[i].items;
        if (from.empty() || to.empty()) continue;
        if (from.size() != to.size()) return false;
        for (size_t k = 0; k < from.size(); ++k) {
            const ir::Tensor& tensor = to_.program().tensors[to[k]];
            if (!has_shape(tensor.shape, from_.tensors[from[k]].shape)) return false;
            learn(from_.tensors[from[k]].shape, tensor.shape);
            tensors_[from[k]] = to[k];
        }
        const ir::SymId length = op.outputs[i].operand.length;
        if (length.valid() && results[i].length.valid()) learn({length}, {results[i].length});
    }
    return true;
}

void Transfer::outputs_as_they_are(const ir::Operation& op) {
    for (const ir::Port& port : op.outputs) {
        for (const ir::TensorId id : port.operand.items) new_tensor(id);
    }
}

}  // namespace lemma::convert
