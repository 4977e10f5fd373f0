// SPDX-License-Identifier: Apache-2.0
#include "sknd/compose/formula_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/match.h"
#include "sknd/names/identifiers.h"
#include "tensor/convert.h"

namespace lemma::sknd {

namespace {

ir::FormulaOp formula_op(LowerOp op) {
    switch (op) {
        case LowerOp::Assign:
            return ir::FormulaOp::Assign;
        case LowerOp::Sum:
            return ir::FormulaOp::Sum;
        case LowerOp::Product:
            return ir::FormulaOp::Product;
        case LowerOp::All:
            return ir::FormulaOp::All;
        case LowerOp::Any:
            return ir::FormulaOp::Any;
        case LowerOp::Min:
            return ir::FormulaOp::Min;
        case LowerOp::Max:
            return ir::FormulaOp::Max;
        case LowerOp::Update:
            return ir::FormulaOp::Update;
    }
    return ir::FormulaOp::Assign;
}

}  // namespace

FormulaBuilder::FormulaBuilder(Composer& composer, Frame& frame)
    : composer_(composer), frame_(frame) {}

std::optional<std::vector<ir::Formula>> FormulaBuilder::build() {
    const auto& statements = frame_.definition().lowers;
    for (size_t i = 0; i < statements.size(); ++i) {
        const LowerStmt& stmt = statements[i];
        const size_t reports = composer_.reports_;
        if (build_statement(stmt, frame_.plan().unrollings[i])) continue;
        if (composer_.reports_ == reports) {
            if (runs_over_nothing()) continue;
            composer_.inner_error(frame_,
                                  stmt.span,
                                  DiagKind::BadArgument,
                                  "this formula cannot be worked out for the call");
        }
        return std::nullopt;
    }
    add_implicit_initializers();
    return std::move(formulas_);
}

// An empty pack has no item to index, and an empty range asks for none: `shape` of a tensor of rank
// 0.
bool FormulaBuilder::runs_over_nothing() const {
    return std::ranges::any_of(formula_.bounds, [&](const ir::Bound& bound) {
        return symbols().as_int(bound.extent) == 0;
    });
}

std::optional<ir::Formula> FormulaBuilder::build_constant(const ParamDecl& decl,
                                                          ir::TensorId tensor) {
    if (!declare_bounds(decl.bounds)) return std::nullopt;
    const auto value = evaluate(decl.value);
    const auto* scalar = value ? std::get_if<Scalar>(&*value) : nullptr;
    if (!scalar) return std::nullopt;
    ir::Write write{tensor, {}, composer_.to_sym(*scalar)};
    // The bounds run over the axes in order (notes, A63).
    for (const ir::Bound& bound : formula_.bounds)
        write.indices.push_back({bound.index, {}, {}, {}});
    if (!settle_indices(tensor, write.indices, decl.span)) return std::nullopt;
    formula_.writes.push_back(std::move(write));
    return std::move(formula_);
}

// ---- Statements ---------------------------------------------------------------------------------

bool FormulaBuilder::build_statement(const LowerStmt& stmt, const Unrolling& unrolling) {
    locals_.clear();
    const std::vector<size_t> bounds = bounds_to_unroll(unrolling);
    if (!stmt.unroll) return build_unrolled(stmt, bounds, 0);
    const auto count =
        composer_.evaluate_count(frame_, stmt.unroll->count, "the count of `unroll`");
    if (!count) return false;
    if (*count > composer_.options_.max_unroll) {
        composer_.inner_error(
            frame_,
            stmt.unroll->span,
            DiagKind::TooLarge,
            fmt::format("`unroll` with {} iterations (--max-unroll raises the limit)", *count));
        return false;
    }
    for (int64_t i = 0; i < *count; ++i) {
        locals_.clear();
        if (stmt.unroll->index) locals_.set(stmt.unroll->index->text, Scalar(i));
        if (!build_unrolled(stmt, bounds, 0)) return false;
    }
    return true;
}

// Indices that select tensors of a pack, or that bounds of other indices read, are unrolled: one
// formula for each value, because formulas have no packs.
bool FormulaBuilder::build_unrolled(const LowerStmt& stmt,
                                    const std::vector<size_t>& bounds,
                                    size_t next) {
    if (next == bounds.size()) return build_once(stmt);
    const LoopBound* bound = &stmt.bounds[bounds[next]];
    const auto extent = evaluate(bound->bound);
    const auto* scalar = extent ? std::get_if<Scalar>(&*extent) : nullptr;
    if (!scalar) return false;
    const ir::SymId symbol = composer_.to_sym(*scalar);
    const int64_t most = symbols().range(symbol).high;
    if (most > composer_.options_.max_unroll) {
        composer_.inner_error(
            frame_,
            bound->span,
            DiagKind::TooLarge,
            fmt::format(
                "`{}` takes {} values, each a formula of its own (--max-unroll raises the limit)",
                bound->index.text,
                symbols().text(symbol)));
        return false;
    }
    for (int64_t i = 0; i < most; ++i) {
        locals_.set(bound->index.text, Scalar(i));
        if (!build_unrolled(stmt, bounds, next + 1)) return false;
    }
    return true;
}

std::vector<size_t> FormulaBuilder::bounds_to_unroll(const Unrolling& unrolling) const {
    std::vector<bool> found = unrolling.always;
    for (const Unrolling::Pick& pick : unrolling.picks) {
        const Binding* tensor = frame_.find(pick.pack);
        if (tensor && tensor->operand.packed) found[pick.bound] = true;
    }
    std::vector<size_t> bounds;
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i]) bounds.push_back(i);
    }
    return bounds;
}

bool FormulaBuilder::build_once(const LowerStmt& stmt) {
    if (!composer_.spend(frame_, 4 + stmt.bounds.size())) return false;
    formula_ = ir::Formula{};
    elements_.clear();
    access_spans_.clear();
    empty_loop_ = false;
    formula_.op = formula_op(stmt.op);
    guards_.clear();
    dropped_ = false;
    locals_.push();
    bool good = declare_bounds(stmt.bounds);
    if (good && !dropped_) good = declare_locals(stmt);
    if (good && !dropped_) {
        const auto value = evaluate(stmt.value);
        good = value.has_value();
        if (value && !std::holds_alternative<Null>(*value)) {
            good = add_writes(stmt, *value) && add_condition(stmt);
            if (good && !dropped_) good = check_ranges(stmt);
            if (good && !dropped_) finish_statement(stmt);
        }
    }
    locals_.pop();
    return good;
}

bool FormulaBuilder::declare_bounds(const std::vector<LoopBound>& bounds) {
    for (const LoopBound& bound : bounds) {
        if (!declare_bound(bound)) return false;
    }
    return true;
}

bool FormulaBuilder::declare_bound(const LoopBound& bound) {
    if (const CompileValue* number = locals_.find(bound.index.text)) {
        // Unrolled; an item of a pack of dynamic length exists only below that length.
        const auto extent = evaluate(bound.bound);
        const auto* scalar = extent ? std::get_if<Scalar>(&*extent) : nullptr;
        if (!scalar) return extent.has_value();
        const auto inside = symbols().apply(
            ir::SymOp::Less,
            {composer_.to_sym(std::get<Scalar>(*number)), composer_.to_sym(*scalar)});
        if (!inside) return false;
        const auto holds = symbols().prove(*inside);
        if (holds && !*holds) dropped_ = true;
        if (!holds) formula_.condition = *inside;
        return true;
    }
    const auto extent = evaluate(bound.bound);
    if (!extent) return false;
    const auto add = [&](const Scalar& value, std::string_view name) -> Scalar {
        const ir::SymId size = composer_.to_sym(value);
        const int64_t high = symbols().range(size).high;
        const ir::SymId index =
            symbols().symbol(name, ir::ScalarType::Int, {0, std::max<int64_t>(high, 1) - 1});
        formula_.bounds.push_back({index, size});
        empty_loop_ = empty_loop_ || symbols().as_int(size) == 0;
        return index;
    };
    if (const auto* scalar = std::get_if<Scalar>(&*extent)) {
        locals_.set(bound.index.text, add(*scalar, bound.index.text));
    } else if (const auto* pack = std::get_if<Pack>(&*extent)) {
        Pack indices;
        indices.type = ir::ScalarType::Int;
        for (size_t i = 0; i < pack->items.size(); ++i) {
            indices.items.push_back(add(pack->items[i], fmt::format("{}{}", bound.index.text, i)));
        }
        locals_.set(bound.index.text, std::move(indices));
    } else {
        dropped_ = true;
    }
    return true;
}

bool FormulaBuilder::declare_locals(const LowerStmt& stmt) {
    for (const auto& local : stmt.locals) {
        auto value = evaluate(local.value);
        if (!value) return false;
        locals_.set(local.name.text, std::move(*value));
    }
    return true;
}

bool FormulaBuilder::add_condition(const LowerStmt& stmt) {
    if (!stmt.condition.valid()) return true;
    const auto value = evaluate(stmt.condition);
    if (!value) return false;
    const auto* scalar = std::get_if<Scalar>(&*value);
    if (!scalar) {
        dropped_ = true;
        return true;
    }
    ir::SymId condition = composer_.to_sym(*scalar);
    if (formula_.condition.valid()) {
        const auto both = symbols().apply(ir::SymOp::And, {formula_.condition, condition});
        if (!both) return false;
        condition = *both;
    }
    const auto holds = symbols().prove(condition);
    if (holds && !*holds) dropped_ = true;
    formula_.condition = holds ? ir::SymId{} : condition;
    return true;
}

bool FormulaBuilder::add_writes(const LowerStmt& stmt, const CompileValue& value) {
    const auto* target = std::get_if<Access>(&expr(stmt.target).node);
    if (!target) return false;
    const auto element = this->element(target->base);
    if (!element || element->null) return false;
    if (element->chooser.valid()) {
        composer_.inner_error(frame_,
                              expr(target->base).span,
                              DiagKind::BadLoweringTarget,
                              "which tensor of the pack is written here is not known before a run");
        return false;
    }
    if (element->items.empty()) dropped_ = true;
    const auto* scalar = std::get_if<Scalar>(&value);
    const auto* pack = std::get_if<Pack>(&value);
    if (pack && pack->items.empty()) {
        if (!dropped_) report_pack_index(*target);
        return dropped_;
    }
    for (size_t i = 0; i < element->items.size(); ++i) {
        const ir::TensorId tensor = element->items[i];
        auto indices = build_indices(target->indices, composer_.program_.tensors[tensor]);
        if (indices && indices->packed && indices->variants.size() != 1) {
            report_pack_index(*target);
            return false;
        }
        if (!indices || indices->variants.size() != 1) return false;
        auto& terms = indices->variants.front();
        if (!settle_indices(tensor, terms, expr(stmt.target).span)) return false;
        const Scalar item = scalar ? *scalar : pack->items[std::min(i, pack->items.size() - 1)];
        formula_.writes.push_back({tensor, std::move(terms), composer_.to_sym(item)});
    }
    return true;
}

// `y[k]`, where `k` stands for several indices.
void FormulaBuilder::report_pack_index(const Access& target) {
    for (const ExprId id : target.indices) {
        const auto value = evaluate(id);
        const auto* pack = value ? std::get_if<Pack>(&*value) : nullptr;
        if (!pack) continue;
        const auto* name = std::get_if<Identifier>(&expr(id).node);
        composer_
            .inner_error(frame_,
                         expr(id).span,
                         DiagKind::BadLoweringTarget,
                         fmt::format("this index is a pack of {}, expected a single one",
                                     pack->items.size()))
            .note(fmt::format("`..` behind it takes them all: `{}..`", name ? name->name : "i"));
        return;
    }
}

void FormulaBuilder::finish_statement(const LowerStmt& stmt) {
    for (const ir::Write& write : formula_.writes) {
        if (stmt.op == LowerOp::Assign) {
            initialized_.insert(write.tensor);
        } else {
            accumulated_.emplace(write.tensor, formula_.op);
        }
        for (const ir::IndexTerm& term : write.indices) {
            // The append form: an output extent as an index (notes, A62).
            const auto& shape = composer_.program_.tensors[write.tensor].shape;
            const bool counts = std::find(shape.begin(), shape.end(), term.value) != shape.end() &&
                                !symbols().as_int(term.value);
            if (counts) formula_.counter = term.value;
        }
    }
    formulas_.push_back(std::move(formula_));
}

// ---- Initialisation -----------------------------------------------------------------------------

std::optional<Scalar> FormulaBuilder::null_element(ir::FormulaOp op, ir::DType dtype) const {
    const bool real = tensor::is_real(dtype);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const auto number = [&](int64_t value) {
        return real ? Scalar(static_cast<double>(value)) : Scalar(value);
    };
    switch (op) {
        case ir::FormulaOp::Sum:
            return number(0);
        case ir::FormulaOp::Product:
            return number(1);
        case ir::FormulaOp::All:
            return Scalar(true);
        case ir::FormulaOp::Any:
            return Scalar(false);
        case ir::FormulaOp::Min:
            return real ? Scalar(kInf) : Scalar(tensor::integer_range(dtype).high);
        case ir::FormulaOp::Max:
            return real ? Scalar(-kInf) : Scalar(tensor::integer_range(dtype).low);
        case ir::FormulaOp::Assign:
        case ir::FormulaOp::Update:
            return std::nullopt;
    }
    return std::nullopt;
}

ir::Formula FormulaBuilder::fill(ir::TensorId tensor, const Scalar& value) {
    ir::Formula formula;
    ir::Write write{tensor, {}, composer_.to_sym(value)};
    const auto& shape = composer_.program_.tensors[tensor].shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const int64_t high = symbols().range(shape[axis]).high;
        const ir::SymId index = symbols().symbol(
            fmt::format("i{}", axis), ir::ScalarType::Int, {0, std::max<int64_t>(high, 1) - 1});
        formula.bounds.push_back({index, shape[axis]});
        write.indices.push_back({index, {}, {}, {}});
    }
    formula.writes.push_back(std::move(write));
    return formula;
}

void FormulaBuilder::add_implicit_initializers() {
    std::vector<ir::Formula> all;
    for (const auto& [tensor, op] : accumulated_) {
        if (initialized_.contains(tensor)) continue;
        const auto value = null_element(op, composer_.program_.tensors[tensor].dtype);
        if (value) all.push_back(fill(tensor, *value));
    }
    all.insert(all.end(),
               std::make_move_iterator(formulas_.begin()),
               std::make_move_iterator(formulas_.end()));
    formulas_ = std::move(all);
}

const CompileValue* FormulaBuilder::lookup(std::string_view name) const {
    const CompileValue* local = locals_.find(name);
    return local ? local : frame_.lookup(name);
}

}  // namespace lemma::sknd
