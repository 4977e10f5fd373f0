// SPDX-License-Identifier: Apache-2.0
// Tensors that a definition declares: constants, variables, outputs, and their shapes
// (spec 2.6, 2.7).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sknd/compose/composer.h"
#include "sknd/compose/formula_builder.h"

namespace lemma::sknd {

ir::TensorId Composer::add_tensor(ir::Tensor tensor) {
    tensor.identity = program_.symbols.symbol(tensor.name, ir::ScalarType::Str);
    const ir::SymId identity = tensor.identity;
    const ir::TensorId id = program_.tensors.add(std::move(tensor));
    tensor_by_identity_.emplace(identity, id);
    return id;
}

ir::TensorId Composer::add_scalar(Frame& frame, const Scalar& value) {
    ir::Tensor tensor;
    tensor.name = join_scope(frame.scope, "const");
    tensor.dtype = dtype_of(value);
    if (tensor.dtype == options_.real) tensor.dtype = dtype_of(frame, "real");
    tensor.role = ir::TensorRole::Constant;
    tensor.items = {value};
    return add_tensor(std::move(tensor));
}

bool Composer::declare_locals(Frame& frame) {
    for (const ParamDecl& decl : frame.definition().constants) {
        if (!declare_constant(frame, decl)) return false;
    }
    for (const ParamDecl& decl : frame.definition().variables) {
        auto operand = declare_tensor(frame, decl, ir::TensorRole::Variable);
        if (!operand) return false;
        frame.bind(decl.name.text, {*operand, false});
        expose(frame, join_scope(frame.scope, decl.name.text), *operand);
    }
    return true;
}

// Invocations of a graph without a label share its scope and its variables (spec 2.10).
std::optional<ir::TensorId> Composer::add_variable(Frame& frame,
                                                   const ParamDecl& decl,
                                                   ir::Tensor tensor) {
    const auto [found, fresh] = variables_.try_emplace(tensor.name);
    Variable& variable = found->second;
    if (fresh) {
        variable = {add_tensor(std::move(tensor)), &decl, frame.root};
        return variable.tensor;
    }
    const bool again = variable.decl == &decl && variable.root != frame.root &&
                       variable.root != 0 && frame.root != 0 &&
                       roots_[variable.root] == roots_[frame.root];
    if (!again) {
        call_error(frame,
                   DiagKind::DuplicateLabel,
                   fmt::format("two variables are named `{}`", tensor.name))
            .note("give the calls different labels, as `label: op(…)`");
        return std::nullopt;
    }
    const ir::Tensor& before = program_.tensors[variable.tensor];
    if (before.dtype != tensor.dtype || before.shape != tensor.shape) {
        call_error(frame,
                   DiagKind::DuplicateLabel,
                   fmt::format("the variable `{}` has the shape {} here, and {} in another "
                               "invocation of the graph",
                               tensor.name,
                               shape_text(tensor.shape),
                               shape_text(before.shape)))
            .note(
                "give one of the invocations a label, as `label: graph(…)`, for variables of its "
                "own");
        return std::nullopt;
    }
    variable.root = frame.root;
    return variable.tensor;
}

void Composer::expose(const Frame& frame, const std::string& path, const ir::Operand& operand) {
    if (!quantizes_) return;
    const auto [found, fresh] = scoped_.try_emplace(path, operand);
    if (fresh) return;
    if (frame.root == 0) {
        found->second = operand;
        return;
    }
    auto& items = found->second.items;
    for (const ir::TensorId id : operand.items) {
        if (std::ranges::find(items, id) == items.end()) items.push_back(id);
    }
}

bool Composer::declare_outputs(Frame& frame) {
    for (const ParamDecl& decl : frame.definition().outputs) {
        auto operand = declare_tensor(frame, decl, ir::TensorRole::Intermediate);
        if (!operand) return false;
        frame.bind(decl.name.text, {std::move(*operand), false});
    }
    return true;
}

bool Composer::declare_constant(Frame& frame, const ParamDecl& decl) {
    auto operand = declare_tensor(frame, decl, ir::TensorRole::Constant);
    if (!operand) return false;
    frame.bind(decl.name.text, {*operand, false});
    if (!decl.bounds.empty()) {
        // Filled by index symbols: an operation with one formula and no inputs.
        FormulaBuilder builder(*this, frame);
        auto formula = builder.build_constant(decl, operand->items[0]);
        if (!formula) return false;
        program_.tensors[operand->items[0]].role = ir::TensorRole::Intermediate;
        ir::Operation op;
        op.op = "constant";
        op.label = frame.scope;
        op.outputs.push_back({std::string(decl.name.text), *operand});
        op.formulas.push_back(std::move(*formula));
        op.span = decl.span;
        op_lists_.back().push_back(program_.operations.add(std::move(op)));
        return true;
    }
    const auto value = evaluate_known(
        frame, decl.value, fmt::format("the value of the constant `{}`", decl.name.text));
    if (!value) return false;
    std::vector<Scalar> items;
    if (const auto* scalar = std::get_if<Scalar>(&*value)) items = {*scalar};
    if (const auto* pack = std::get_if<Pack>(&*value)) items = pack->items;
    if (operand->packed) {
        if (items.size() != operand->items.size()) {
            inner_error(
                frame,
                decl.span,
                DiagKind::LengthMismatch,
                fmt::format("{} values for {} constants", items.size(), operand->items.size()));
            return false;
        }
        for (size_t i = 0; i < items.size(); ++i) {
            program_.tensors[operand->items[i]].items = {items[i]};
        }
        return true;
    }
    ir::Tensor& tensor = program_.tensors[operand->items[0]];
    if (std::holds_alternative<Pack>(*value)) {
        ir::SymId volume = program_.symbols.integer(1);
        for (const ir::SymId extent : tensor.shape) {
            volume = program_.symbols.apply(ir::SymOp::Mul, {volume, extent}).value_or(volume);
        }
        const auto count = program_.symbols.integer(static_cast<int64_t>(items.size()));
        if (surely_differ(volume, count)) {
            inner_error(frame,
                        decl.span,
                        DiagKind::LengthMismatch,
                        fmt::format("{} values for a constant of shape {}",
                                    items.size(),
                                    shape_text(tensor.shape)));
            return false;
        }
    }
    tensor.items = std::move(items);
    return true;
}

std::optional<ir::Operand> Composer::declare_tensor(Frame& frame,
                                                    const ParamDecl& decl,
                                                    ir::TensorRole role) {
    ir::Operand operand;
    operand.packed = decl.type.pack.has_value();
    size_t count = 1;
    if (operand.packed) {
        if (!decl.type.pack->length.valid()) {
            inner_error(
                frame, decl.span, DiagKind::LengthMismatch, "this pack of tensors has no length");
            return std::nullopt;
        }
        const auto length = pack_length(frame, *decl.type.pack);
        if (!length) return std::nullopt;
        const int64_t most = program_.symbols.range(*length).high;
        if (!program_.symbols.as_int(*length)) operand.length = *length;
        if (most < 0 || static_cast<uint64_t>(most) > options_.limits.max_pack_length) {
            inner_error(
                frame,
                decl.span,
                DiagKind::TooLarge,
                fmt::format(
                    "the pack `{}` would have {} tensors (--max-pack-length raises the limit)",
                    decl.name.text,
                    program_.symbols.text(*length)));
            return std::nullopt;
        }
        count = static_cast<size_t>(most);
    }
    const size_t name_size = 1 + (frame.scope.size() + decl.name.text.size()) / 16;
    if (!spend(frame, count * name_size)) return std::nullopt;
    const auto shapes = known_shapes(frame, decl, count);
    if (!shapes) return std::nullopt;
    for (size_t i = 0; i < count; ++i) {
        ir::Tensor tensor;
        tensor.name = join_scope(frame.scope, decl.name.text);
        if (operand.packed) tensor.name += fmt::format(".{}", i);
        tensor.dtype = dtype_of(frame, decl.type.base.text);
        tensor.shape = (*shapes)[i];
        tensor.role = role;
        if (role != ir::TensorRole::Variable) {
            operand.items.push_back(add_tensor(std::move(tensor)));
            continue;
        }
        const auto variable = add_variable(frame, decl, std::move(tensor));
        if (!variable) return std::nullopt;
        operand.items.push_back(*variable);
    }
    return operand;
}

// The shapes of the tensors of a pack, or of one tensor.
std::optional<std::vector<std::vector<ir::SymId>>> Composer::declared_shapes(Frame& frame,
                                                                             const TypeSpec& spec,
                                                                             size_t count) {
    std::vector<std::vector<ir::SymId>> shapes(count);
    if (!spec.shape) return shapes;
    for (const ExtentSpec& extent : *spec.shape) {
        if (!append_extent(frame, extent, shapes)) return std::nullopt;
    }
    if (!shapes.empty() && shapes[0].size() > static_cast<uint64_t>(options_.max_rank)) {
        inner_error(
            frame,
            spec.shape_span,
            DiagKind::TooLarge,
            fmt::format("a tensor of rank {} (--max-rank raises the limit)", shapes[0].size()));
        return std::nullopt;
    }
    for (const auto& shape : shapes) {
        for (const ir::SymId extent : shape) {
            if (program_.symbols.range(extent).high >= 0) continue;
            inner_error(frame,
                        spec.shape_span,
                        DiagKind::ExtentMismatch,
                        fmt::format("the extent {} is negative", program_.symbols.text(extent)));
            return std::nullopt;
        }
    }
    return shapes;
}

bool Composer::append_extent(Frame& frame,
                             const ExtentSpec& extent,
                             std::vector<std::vector<ir::SymId>>& shapes) {
    std::vector<Scalar> items;
    bool packed = false;
    if (is_dynamic(frame, extent)) {
        auto unknowns = dynamic_extents(frame, extent);
        if (!unknowns) return false;
        items = std::move(*unknowns);
        packed = extent.pack.has_value();
    } else {
        const size_t reports = reports_;
        const auto value = evaluate_in(frame, extent.extent);
        if (!value) {
            if (reports_ == reports) {
                inner_error(frame,
                            extent.span,
                            DiagKind::UnboundedExtent,
                            "this extent cannot be told before a run");
            }
            return false;
        }
        if (std::holds_alternative<Null>(*value)) return true;  // omitted (spec 2.6)
        if (const auto* scalar = std::get_if<Scalar>(&*value)) items = {*scalar};
        if (const auto* pack = std::get_if<Pack>(&*value)) {
            items = pack->items;
            packed = true;
        }
    }
    if (extent.spread) {
        for (size_t i = 0; i < shapes.size() && i < items.size(); ++i)
            shapes[i].push_back(to_sym(items[i]));
        if (items.size() >= shapes.size()) return true;
        inner_error(
            frame,
            extent.span,
            DiagKind::LengthMismatch,
            fmt::format("{} extents for a pack of {} tensors", items.size(), shapes.size()));
        return false;
    }
    if (extent.pack && extent.pack->length.valid() && !packed) {
        const auto count = evaluate_count(frame, extent.pack->length, "a number of extents");
        if (!count || !is_rank(frame, extent, *count)) return false;
        items.assign(static_cast<size_t>(*count), items.front());
    }
    if (!is_rank(frame, extent, static_cast<int64_t>(items.size())) ||
        !spend(frame, shapes.size() * items.size())) {
        return false;
    }
    for (auto& shape : shapes) {
        for (const Scalar& item : items) shape.push_back(to_sym(item));
    }
    return true;
}

bool Composer::is_rank(const Frame& frame, const ExtentSpec& extent, int64_t count) {
    if (count >= 0 && count <= options_.max_rank) return true;
    inner_error(
        frame,
        extent.span,
        count < 0 ? DiagKind::LengthMismatch : DiagKind::TooLarge,
        fmt::format(
            "{} extents{}", count, count < 0 ? "" : " of a tensor (--max-rank raises the limit)"));
    return false;
}

namespace {

std::string negative_bound(const ir::SymbolPool& symbols, ir::SymId bound) {
    return fmt::format(
        "the bound {} is negative, expected the largest number that a run may bring: 0, or more",
        symbols.text(bound));
}

}  // namespace

// `..(s|5)` is a runtime number of tensors.
std::optional<ir::SymId> Composer::pack_length(Frame& frame, const PackSpec& pack) {
    const auto* name = std::get_if<Identifier>(&frame.module().exprs[pack.length].node);
    if (!name || !pack.bound.valid() || frame.known(name->name)) {
        return evaluate_extent(frame, pack.length);
    }
    const auto bound = evaluate_extent(frame, pack.bound);
    if (!bound) return std::nullopt;
    const int64_t high = program_.symbols.range(*bound).high;
    if (high < 0) {
        inner_error(frame,
                    frame.module().exprs[pack.bound].span,
                    DiagKind::ExtentMismatch,
                    negative_bound(program_.symbols, *bound));
        return std::nullopt;
    }
    const ir::SymId symbol = program_.symbols.symbol(name->name, ir::ScalarType::Int, {0, high});
    frame.set(name->name, Scalar(symbol));
    return symbol;
}

// `~|bound` and `s|bound`: a new unknown.
bool Composer::is_dynamic(const Frame& frame, const ExtentSpec& extent) const {
    const Expr& expr = frame.module().exprs[extent.extent];
    if (std::holds_alternative<Omitted>(expr.node)) return true;
    const auto* name = std::get_if<Identifier>(&expr.node);
    return name && extent.bound.valid() && !frame.known(name->name);
}

// One unknown for each axis: `s|10 ..(3)` makes three.
std::optional<std::vector<Scalar>> Composer::dynamic_extents(Frame& frame,
                                                             const ExtentSpec& extent) {
    int64_t high = std::numeric_limits<int64_t>::max();
    if (extent.bound.valid()) {
        const auto bound = evaluate_extent(frame, extent.bound);
        if (!bound) return std::nullopt;
        high = program_.symbols.range(*bound).high;
        if (high < 0) {
            inner_error(frame,
                        frame.module().exprs[extent.bound].span,
                        DiagKind::ExtentMismatch,
                        negative_bound(program_.symbols, *bound));
            return std::nullopt;
        }
    }
    int64_t count = 1;
    if (extent.pack && extent.pack->length.valid()) {
        const auto given = evaluate_count(frame, extent.pack->length, "a number of extents");
        if (!given) return std::nullopt;
        count = *given;
    }
    if (!is_rank(frame, extent, count)) return std::nullopt;
    const auto* name = std::get_if<Identifier>(&frame.module().exprs[extent.extent].node);
    std::vector<Scalar> unknowns;
    for (int64_t i = 0; i < count; ++i) {
        std::string text(name ? name->name : "~");
        if (name && extent.pack) text += std::to_string(i);
        unknowns.emplace_back(
            program_.symbols.symbol(std::move(text), ir::ScalarType::Int, {0, high}));
    }
    if (name && extent.pack) {
        frame.set(name->name, Pack{unknowns, {}, ir::ScalarType::Int});
    } else if (name) {
        frame.set(name->name, unknowns.front());
    }
    return unknowns;
}

}  // namespace lemma::sknd
