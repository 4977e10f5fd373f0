// SPDX-License-Identifier: Apache-2.0
// Arithmetic on runtime extents, as nodes: each is a tensor of one i64.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/export/exporter.h"

namespace lemma::onnx {

namespace {

constexpr int kMaxDepth = 200;

}  // namespace

// An axis of a visible tensor, in the graph itself or around it.
std::string Exporter::extent_of_symbol(ir::SymId id) {
    for (size_t i = scopes_.size(); i > 0; --i) {
        const auto found = scopes_[i - 1].axes.find(id);
        if (found == scopes_[i - 1].axes.end()) continue;
        const auto& [name, axis] = found->second;
        const std::string shape = helper("Shape", {name}, DType::I64, {});
        graph().values.pop_back();  // its rank is unknown
        const std::string at = initializer({static_cast<int64_t>(axis)}, DType::I64, {1});
        return helper("Gather", {shape, at}, DType::I64, {1}, {int_attribute("axis", 0)});
    }
    return "";
}

std::string Exporter::extent(const ir::Operation* op, ir::SymId id, int depth) {
    if (const auto number = program_.symbols.as_int(id))
        return initializer({*number}, DType::I64, {1});
    for (size_t i = scopes_.size(); i > 0; --i) {
        const auto found = scopes_[i - 1].scalars.find(id);
        if (found != scopes_[i - 1].scalars.end()) return found->second;
    }
    std::string name = extent_of_symbol(id);
    const ir::SymNode node = program_.symbols.node(id);
    const auto low = [&](ir::SymId operand) { return program_.symbols.range(operand).low; };
    if (name.empty() && depth < kMaxDepth && node.type == ir::ScalarType::Int) {
        if (node.kind == ir::SymKind::Polynomial) name = polynomial(op, node, depth);
        if (node.kind == ir::SymKind::Operation) {
            // Division in ONNX rounds towards zero.
            const bool natural = std::ranges::all_of(
                node.operands, [&](ir::SymId operand) { return low(operand) >= 0; });
            if (node.op == ir::SymOp::Min) name = fold_extents(op, "Min", node.operands, depth);
            if (node.op == ir::SymOp::Max) name = fold_extents(op, "Max", node.operands, depth);
            if (node.op == ir::SymOp::Div && natural)
                name = fold_extents(op, "Div", node.operands, depth);
            if (node.op == ir::SymOp::Mod && natural)
                name = fold_extents(op, "Mod", node.operands, depth);
        }
    }
    if (name.empty()) {
        cannot(
            op,
            fmt::format("the extent `{}`, which only a run tells, cannot be computed by nodes of "
                        "ONNX",
                        program_.symbols.text(id)));
        return "";
    }
    scopes_.back().scalars[id] = name;
    return name;
}

std::string Exporter::fold_extents(const ir::Operation* op,
                                   std::string_view with,
                                   const std::vector<ir::SymId>& operands,
                                   int depth) {
    std::string all;
    for (const ir::SymId operand : operands) {
        const std::string name = extent(op, operand, depth + 1);
        if (name.empty()) return "";
        all = all.empty() ? name : helper(std::string(with), {all, name}, DType::I64, {1});
    }
    return all;
}

std::string Exporter::polynomial(const ir::Operation* op, const ir::SymNode& node, int depth) {
    std::string sum;
    for (const ir::SymTerm& term : node.terms) {
        std::string product;
        const auto times = [&](const std::string& name) {
            product = product.empty() ? name : helper("Mul", {product, name}, DType::I64, {1});
        };
        if (term.coefficient != 1 || term.factors.empty())
            times(initializer({term.coefficient}, DType::I64, {1}));
        for (const ir::SymFactor& factor : term.factors) {
            const std::string name = extent(op, factor.atom, depth + 1);
            if (name.empty()) return "";
            for (uint32_t i = 0; i < factor.power; ++i) times(name);
        }
        sum = sum.empty() ? product : helper("Add", {sum, product}, DType::I64, {1});
    }
    return sum;
}

// Conditions on extents: each is a tensor of one bool.
std::string Exporter::condition(const ir::Operation* op, ir::SymId id, int depth) {
    if (const auto known = program_.symbols.as_bool(id))
        return initializer({*known}, DType::Bool, {1});
    const ir::SymNode node = program_.symbols.node(id);
    const auto compared = [&](const char* with) -> std::string {
        std::vector<std::string> sides;
        for (const ir::SymId operand : node.operands)
            sides.push_back(extent(op, operand, depth + 1));
        if (sides.size() == 1) sides.push_back(initializer({int64_t{0}}, DType::I64, {1}));
        if (sides.size() != 2 || sides[0].empty() || sides[1].empty()) return "";
        return helper(with, sides, DType::Bool, {1});
    };
    const auto joined = [&](const char* with) -> std::string {
        std::string all;
        for (const ir::SymId operand : node.operands) {
            const std::string one = condition(op, operand, depth + 1);
            if (one.empty()) return "";
            all = all.empty() ? one : helper(with, {all, one}, DType::Bool, {1});
        }
        return all;
    };
    const bool integers = node.kind == ir::SymKind::Operation && !node.operands.empty() &&
                          depth < kMaxDepth &&
                          std::ranges::all_of(
                              node.operands,
                              [&](ir::SymId operand) {
                                  return program_.symbols.type(operand) == ir::ScalarType::Int;
                              });
    if (integers && node.op == ir::SymOp::Equal) return compared("Equal");
    if (integers && node.op == ir::SymOp::Less) return compared("Less");
    if (integers && node.op == ir::SymOp::LessEqual) return compared("LessOrEqual");
    if (node.kind == ir::SymKind::Operation && depth < kMaxDepth) {
        if (node.op == ir::SymOp::And) return joined("And");
        if (node.op == ir::SymOp::Or) return joined("Or");
        if (node.op == ir::SymOp::Not) {
            const std::string one = condition(op, node.operands.at(0), depth + 1);
            return one.empty() ? "" : helper("Not", {one}, DType::Bool, {1});
        }
    }
    cannot(op,
           fmt::format("the condition `{}`, which only a run decides, cannot be computed by nodes "
                       "of ONNX",
                       program_.symbols.text(id)));
    return "";
}

// A real that was converted from an integer is computed as that integer.
ir::SymId Exporter::as_integer(ir::SymId id) const {
    const ir::SymNode node = program_.symbols.node(id);
    const bool converted = node.kind == ir::SymKind::Operation && node.op == ir::SymOp::ToReal;
    return converted ? node.operands.at(0) : id;
}

std::string Exporter::list(const ir::Operation& op,
                           const std::vector<ir::Scalar>& items,
                           DType dtype) {
    const auto count = static_cast<int64_t>(items.size());
    const auto is_open = [](const ir::Scalar& item) {
        return std::holds_alternative<ir::SymId>(item);
    };
    if (std::ranges::none_of(items, is_open)) {
        // An empty list has no item to repeat.
        return initializer(items, dtype, {count});
    }
    std::vector<std::string> parts;
    for (const ir::Scalar& item : items) {
        const auto* const id = std::get_if<ir::SymId>(&item);
        if (dtype == DType::Bool) {
            parts.push_back(id ? condition(&op, *id, 0) : initializer({item}, DType::Bool, {1}));
            if (parts.back().empty()) return "";
            continue;
        }
        parts.push_back(id ? extent(&op, as_integer(*id), 0)
                           : initializer({item}, DType::I64, {1}));
        if (parts.back().empty()) return "";
    }
    const DType computed = dtype == DType::Bool ? DType::Bool : DType::I64;
    std::string all = parts[0];
    if (parts.size() > 1)
        all = helper("Concat", parts, computed, {count}, {int_attribute("axis", 0)});
    if (dtype == computed) return all;
    return helper(
        "Cast", {all}, dtype, {count}, {int_attribute("to", tensor::onnx_type_of(dtype))});
}

std::string Exporter::single(const ir::Operation& op, const ir::Scalar& item, DType dtype) {
    if (!std::holds_alternative<ir::SymId>(item)) return initializer({item}, dtype, {});
    const std::string one = list(op, {item}, dtype);
    if (one.empty()) return "";
    return helper("Squeeze", {one, initializer({int64_t{0}}, DType::I64, {1})}, dtype, {});
}

}  // namespace lemma::onnx
