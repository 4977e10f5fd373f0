// SPDX-License-Identifier: Apache-2.0
// Accesses of formulas: tensor elements become symbols, guards are kept where needed.
#include <fmt/format.h>

#include <algorithm>

#include "base/match.h"
#include "sknd/compose/formula_builder.h"

namespace lemma::sknd {

// The evaluator's interface is const; a builder never is.
std::optional<CompileValue> FormulaBuilder::access(ExprId id) const {
    return const_cast<FormulaBuilder*>(this)->build_access(id, std::get<Access>(expr(id).node));
}

std::optional<CompileValue> FormulaBuilder::guard(ExprId id) const {
    return const_cast<FormulaBuilder*>(this)->build_guard(id, std::get<Guard>(expr(id).node));
}

std::optional<Scalar> FormulaBuilder::item(const Pack& pack, ir::SymId index) const {
    constexpr size_t kFewItems = 8;
    const bool constant =
        std::none_of(pack.items.begin(), pack.items.end(), [](const Scalar& item) {
            return std::holds_alternative<ir::SymId>(item);
        });
    if (!constant || pack.items.size() <= kFewItems) return choose(index, pack.items);
    return const_cast<FormulaBuilder*>(this)->read_table(pack, index);
}

// Many values become a constant tensor that the formula reads.
std::optional<Scalar> FormulaBuilder::read_table(const Pack& pack, ir::SymId index) {
    ir::TensorId& table = tables_[pack.items];
    if (!table.valid()) {
        ir::Tensor tensor;
        tensor.name = join_scope(frame_.scope, "table");
        tensor.dtype = composer_.dtype_of(pack.items.front());
        tensor.role = ir::TensorRole::Constant;
        tensor.shape = {symbols().integer(static_cast<int64_t>(pack.items.size()))};
        tensor.items = pack.items;
        table = composer_.add_tensor(std::move(tensor));
    }
    return read(table, {{index, ir::Guard::None, {}, {}}}, {});
}

// items[chooser] as a chain of selects; the last item needs no test.
std::optional<Scalar> FormulaBuilder::choose(ir::SymId chooser,
                                             const std::vector<Scalar>& items) const {
    if (items.empty()) return std::nullopt;
    ir::SymId value = composer_.to_sym(items.back());
    for (size_t i = items.size() - 1; i-- > 0;) {
        const auto here = symbols().apply(ir::SymOp::Equal,
                                          {chooser, symbols().integer(static_cast<int64_t>(i))});
        if (!here) return std::nullopt;
        const auto chosen =
            symbols().apply(ir::SymOp::Select, {*here, composer_.to_sym(items[i]), value});
        if (!chosen) return std::nullopt;
        value = *chosen;
    }
    return Scalar(value);
}

// The expression before the indices: a tensor, a pack, or an item of a pack.
std::optional<FormulaBuilder::Element> FormulaBuilder::element(ExprId base) {
    if (const auto* paren = std::get_if<Paren>(&expr(base).node)) return element(paren->inner);
    Element result;
    if (const auto* name = std::get_if<Identifier>(&expr(base).node)) {
        const Binding* binding = frame_.find(name->name);
        if (!binding || binding->poison) return std::nullopt;
        result.items = binding->operand.items;
        result.packed = binding->operand.packed;
        result.null = binding->operand.null();
        return result;
    }
    const auto* index = std::get_if<Index>(&expr(base).node);
    if (!index) return std::nullopt;
    auto pack = element(index->base);
    if (!pack || pack->null || !pack->packed) return pack;
    const auto position = evaluate(index->index);
    const auto* scalar = position ? std::get_if<Scalar>(&*position) : nullptr;
    if (!scalar) return std::nullopt;
    const ir::SymId symbol = composer_.to_sym(*scalar);
    auto at = symbols().as_int(symbol);
    if (!at) {
        pack->chooser = symbol;
        pack->packed = false;
        return pack;
    }
    const auto size = static_cast<int64_t>(pack->items.size());
    if (*at < 0) *at += size;
    if (*at < 0 || *at >= size) {
        composer_.inner_error(
            frame_,
            expr(base).span,
            DiagKind::IndexRange,
            fmt::format("index {} is out of range for a pack of {} tensors", *at, size));
        return std::nullopt;
    }
    result.items = pack->items.subspan(static_cast<size_t>(*at), 1);
    return result;
}

std::optional<CompileValue> FormulaBuilder::build_access(ExprId id, const Access& node) {
    const auto found = element(node.base);
    if (!found) return std::nullopt;
    if (found->null) return CompileValue(Null{});
    std::vector<Scalar> values;
    bool packed = found->packed;
    for (const ir::TensorId tensor : found->items) {
        auto indices = build_indices(node.indices, composer_.program_.tensors[tensor]);
        if (!indices) return std::nullopt;
        if (indices->null) return CompileValue(Null{});
        packed = packed || indices->packed;
        for (auto& terms : indices->variants) {
            auto value = read(tensor, std::move(terms), expr(id).span);
            if (!value) return std::nullopt;
            values.push_back(std::move(*value));
        }
    }
    if (found->chooser.valid()) {
        const auto chosen = choose(found->chooser, values);
        if (!chosen) return std::nullopt;
        return CompileValue(*chosen);
    }
    if (!packed) return CompileValue(values.front());
    return CompileValue(Pack{std::move(values), {}, element_type(node.base)});
}

// The declared type, because a pack may have no tensors.
std::optional<ir::ScalarType> FormulaBuilder::element_type(ExprId base) const {
    while (!std::holds_alternative<Identifier>(expr(base).node)) {
        if (const auto* index = std::get_if<Index>(&expr(base).node))
            base = index->base;
        else if (const auto* paren = std::get_if<Paren>(&expr(base).node))
            base = paren->inner;
        else
            return std::nullopt;
    }
    const std::string_view name = std::get<Identifier>(expr(base).node).name;
    const Definition& definition = frame_.definition();
    for (const auto* decls : {&definition.inputs, &definition.outputs, &definition.constants}) {
        for (const ParamDecl& decl : *decls) {
            if (decl.name.text != name) continue;
            return scalar_type_of(composer_.dtype_of(frame_, decl.type.base.text));
        }
    }
    return std::nullopt;
}

std::optional<FormulaBuilder::Indices> FormulaBuilder::build_indices(const std::vector<ExprId>& ids,
                                                                     const ir::Tensor& tensor) {
    Indices indices;
    indices.variants.emplace_back();
    for (const ExprId id : ids) {
        if (!append_index(id, tensor, indices)) return std::nullopt;
        if (indices.null) return indices;
    }
    return indices;
}

bool FormulaBuilder::append_index(ExprId id, const ir::Tensor& tensor, Indices& indices) {
    const auto append_all = [&](const Scalar& value) {
        for (auto& terms : indices.variants) terms.push_back(index_term(value));
    };
    const auto fan_out = [&](const std::vector<Scalar>& values) {
        const auto before = std::move(indices.variants);
        indices.variants.clear();
        for (const auto& terms : before) {
            for (const Scalar& value : values) {
                indices.variants.push_back(terms);
                indices.variants.back().push_back(index_term(value));
            }
        }
        indices.packed = true;
    };
    if (std::holds_alternative<Range>(expr(id).node)) {
        // Positions along this axis: the range selects items 0, 1, … of its extent.
        const size_t axis = indices.variants.front().size();
        const auto extent =
            axis < tensor.shape.size() ? symbols().as_int(tensor.shape[axis]) : std::nullopt;
        const auto positions = extent ? range_positions(id, *extent) : std::nullopt;
        if (!positions || !check_many(indices.variants.size() * positions->size(), expr(id).span)) {
            return false;
        }
        fan_out(*positions);
        return true;
    }
    const auto* expand = std::get_if<Expand>(&expr(id).node);
    const auto value = evaluate(expand ? expand->item : id);
    if (!value) return false;
    if (std::holds_alternative<Null>(*value)) {
        indices.null = true;
        return true;
    }
    if (const auto* pack = std::get_if<Pack>(&*value)) {
        if (!expand) {
            if (!check_many(indices.variants.size() * pack->items.size(), expr(id).span)) {
                return false;
            }
            fan_out(pack->items);
            return true;
        }
        for (const Scalar& item : pack->items) append_all(item);
        return true;
    }
    int64_t copies = 1;
    if (expand && expand->count.valid()) {
        const auto count = composer_.evaluate_count(frame_, expand->count, "a number of indices");
        if (!count || !check_many(*count, expr(id).span)) return false;
        copies = *count;
    }
    for (int64_t i = 0; i < copies; ++i) append_all(std::get<Scalar>(*value));
    return true;
}

std::optional<std::vector<Scalar>> FormulaBuilder::range_positions(ExprId id, int64_t extent) {
    const auto& range = std::get<Range>(expr(id).node);
    const auto part = [&](ExprId which, int64_t missing) -> std::optional<int64_t> {
        if (!which.valid()) return missing;
        auto value = composer_.evaluate_count(frame_, which, "a part of a range index");
        if (value && *value < 0) *value += extent;
        return value;
    };
    const auto step = range.step.valid() ? composer_.evaluate_count(frame_, range.step, "a step")
                                         : std::optional<int64_t>(1);
    if (!step || *step == 0) return std::nullopt;
    const auto begin = part(range.begin, *step > 0 ? 0 : extent - 1);
    const auto end = part(range.end, *step > 0 ? extent : -1);
    if (!begin || !end) return std::nullopt;
    const bool up = *step > 0;
    const uint64_t stride = up ? static_cast<uint64_t>(*step) : -static_cast<uint64_t>(*step);
    const bool some = up ? *begin < *end : *begin > *end;
    const uint64_t way = up ? static_cast<uint64_t>(*end) - static_cast<uint64_t>(*begin)
                            : static_cast<uint64_t>(*begin) - static_cast<uint64_t>(*end);
    const uint64_t count = some ? (way - 1) / stride + 1 : 0;
    if (!check_many(count, expr(id).span)) return std::nullopt;
    std::vector<Scalar> positions;
    for (uint64_t i = 0; i < count; ++i) {
        const auto first = static_cast<uint64_t>(*begin);
        positions.emplace_back(static_cast<int64_t>(up ? first + i * stride : first - i * stride));
    }
    return positions;
}

bool FormulaBuilder::check_many(uint64_t count, Span span) {
    if (count <= composer_.options_.limits.max_pack_length) return true;
    composer_.inner_error(frame_,
                          span,
                          DiagKind::TooLarge,
                          fmt::format("{} indices (--max-pack-length raises the limit)", count));
    return false;
}

ir::IndexTerm FormulaBuilder::index_term(const Scalar& value) const {
    const ir::SymId symbol = composer_.to_sym(value);
    const auto guarded = guards_.find(symbol);
    if (guarded != guards_.end()) return guarded->second;
    return {symbol, ir::Guard::None, {}, {}};
}

std::optional<CompileValue> FormulaBuilder::build_guard(ExprId, const Guard& node) {
    const auto index = evaluate(node.index);
    if (!index || std::holds_alternative<Null>(*index)) return index;
    std::optional<CompileValue> below, above;
    if (node.below.valid()) {
        below = evaluate(node.below);
        above = evaluate(node.above);
        if (!below || !above) return std::nullopt;
    }
    const auto part = [&](const std::optional<CompileValue>& value, size_t i) -> ir::SymId {
        if (!value) return {};
        if (const auto* pack = std::get_if<Pack>(&*value)) {
            if (pack->items.empty()) return symbols().integer(0);
            return composer_.to_sym(pack->items[std::min(i, pack->items.size() - 1)]);
        }
        return composer_.to_sym(std::get<Scalar>(*value));
    };
    const auto make = [&](const Scalar& value, size_t i) -> Scalar {
        const ir::SymId symbol = symbols().symbol("guard", ir::ScalarType::Int);
        const auto kind = below ? ir::Guard::Remap : ir::Guard::Skip;
        guards_[symbol] = {composer_.to_sym(value), kind, part(below, i), part(above, i)};
        return symbol;
    };
    if (const auto* scalar = std::get_if<Scalar>(&*index)) return CompileValue(make(*scalar, 0));
    Pack guarded;
    guarded.type = ir::ScalarType::Int;
    const auto& items = std::get<Pack>(*index).items;
    for (size_t i = 0; i < items.size(); ++i) guarded.items.push_back(make(items[i], i));
    return CompileValue(std::move(guarded));
}

// Checks rank and ranges; removes guards that always hold.
bool FormulaBuilder::settle_indices(ir::TensorId id,
                                    std::vector<ir::IndexTerm>& indices,
                                    Span span) {
    const ir::Tensor& tensor = composer_.program_.tensors[id];
    if (indices.size() != tensor.shape.size()) {
        composer_.inner_error(frame_,
                              span,
                              DiagKind::RankMismatch,
                              fmt::format("`{}` has rank {}, found {} indices",
                                          tensor.name,
                                          tensor.shape.size(),
                                          indices.size()));
        return false;
    }
    for (size_t axis = 0; axis < indices.size(); ++axis) {
        ir::IndexTerm& term = indices[axis];
        if (term.guard == ir::Guard::None) {
            const ir::Interval range = symbols().range(term.value);
            const int64_t most = symbols().range(tensor.shape[axis]).high;
            if (!empty_loop_ && (range.high < 0 || range.low >= std::max<int64_t>(most, 1))) {
                composer_.inner_error(
                    frame_,
                    span,
                    DiagKind::IndexRange,
                    fmt::format("index {} of `{}` is always outside of its extent {}",
                                symbols().text(term.value),
                                tensor.name,
                                symbols().text(tensor.shape[axis])));
                return false;
            }
            continue;
        }
        const auto low = symbols().apply(ir::SymOp::LessEqual, {symbols().integer(0), term.value});
        const auto high = symbols().apply(ir::SymOp::Less, {term.value, tensor.shape[axis]});
        if (low && high && symbols().prove(*low) == true && symbols().prove(*high) == true) {
            term = {term.value, ir::Guard::None, {}, {}};
        }
    }
    return true;
}

std::optional<Scalar> FormulaBuilder::read(ir::TensorId tensor,
                                           std::vector<ir::IndexTerm> indices,
                                           Span span) {
    if (!settle_indices(tensor, indices, span)) return std::nullopt;
    const auto [known, added] = elements_.try_emplace({tensor, indices});
    if (!added) return Scalar(known->second);
    if (!composer_.spend(frame_, 1 + indices.size())) return std::nullopt;
    const ir::Tensor& data = composer_.program_.tensors[tensor];
    const ir::SymId symbol = symbols().symbol(data.name, scalar_type_of(data.dtype));
    known->second = symbol;
    formula_.accesses.push_back({symbol, tensor, std::move(indices)});
    access_spans_.push_back(span);
    return Scalar(symbol);
}

}  // namespace lemma::sknd
