// SPDX-License-Identifier: Apache-2.0
// Input shapes of a call: deduces or checks the names in shapes and pack lengths (spec 2.6.1).
#include <fmt/format.h>

#include <algorithm>

#include "sknd/compose/composer.h"
#include "sknd/names/binding.h"
#include "sknd/names/identifiers.h"
#include "sknd/print/printer.h"

namespace lemma::sknd {

namespace {

// Evaluates with one unknown name as a symbol.
class WithUnknown : public Environment {
public:
    WithUnknown(const Frame& frame, std::string_view name, ir::SymId symbol)
        : frame_(frame), name_(name), value_(Scalar(symbol)) {}
    const CompileValue* lookup(std::string_view name) const override {
        return name == name_ ? &value_ : frame_.lookup(name);
    }
    const CompileValue* member(std::string_view name, MemberKind member) const override {
        return frame_.member(name, member);
    }
    std::optional<CompileValue> member_of(const CompileValue& tensors,
                                          MemberKind member) const override {
        return frame_.member_of(tensors, member);
    }
    std::optional<ir::ScalarType> type(std::string_view name) const override {
        return frame_.type(name);
    }
    bool spend(size_t items) const override { return frame_.spend(items); }

private:
    const Frame& frame_;
    const std::string_view name_;
    CompileValue value_;
};

}  // namespace

bool Composer::bind_inputs(Frame& frame, const CallArgs& args) {
    for (const size_t i : frame.plan().binding_order) {
        const ParamDecl& decl = frame.definition().inputs[i];
        const bool given = i < args.inputs.size() && !args.inputs[i].operand.null();
        if (given) {
            if (!bind_input(frame, decl, args.inputs[i])) return false;
        } else if (decl.value.valid()) {
            if (!bind_default_input(frame, decl)) return false;
        } else {
            bind_null(frame, decl);
        }
    }
    return true;
}

bool Composer::bind_input(Frame& frame, const ParamDecl& decl, const Binding& binding) {
    frame.bind(decl.name.text, binding);
    if (!bind_pack_size(frame, decl, binding.operand)) return false;
    return !decl.type.shape || bind_shape(frame, decl, binding.operand);
}

// A default is a tensor of rank 0 that stands for the declared shape (notes, resolution 19).
bool Composer::bind_default_input(Frame& frame, const ParamDecl& decl) {
    const auto value = evaluate_known(
        frame, decl.value, fmt::format("the default of the input `{}`", decl.name.text));
    if (!value) return false;
    auto binding = as_tensors(frame, *value);
    if (!binding) return false;
    for (const ir::TensorId id : binding->operand.items) {
        ir::Tensor& tensor = program_.tensors[id];
        tensor.dtype = dtype_of(frame, decl.type.base.text);
        const auto shapes = declared_shapes(frame, decl.type, 1);
        if (!shapes) return false;
        tensor.shape = shapes->front();
    }
    frame.bind(decl.name.text, *binding);
    return bind_pack_size(frame, decl, binding->operand);
}

void Composer::bind_null(Frame& frame, const ParamDecl& decl) {
    frame.bind(decl.name.text, Binding{});
    const auto forget = [&](ExprId expr) {
        for (const std::string_view name : frame.names_in(expr)) {
            if (!frame.known(name)) frame.set(name, Null{});
        }
    };
    forget(decl.type.rank);
    if (decl.type.pack) forget(decl.type.pack->length);
    if (!decl.type.shape) return;
    for (const ExtentSpec& extent : *decl.type.shape) {
        forget(extent.extent);
        if (extent.pack) forget(extent.pack->length);
    }
}

bool Composer::bind_pack_size(Frame& frame, const ParamDecl& decl, const ir::Operand& operand) {
    if (!decl.type.pack || !decl.type.pack->length.valid()) return true;
    const ir::SymId count =
        operand.length.valid()
            ? operand.length
            : program_.symbols.integer(static_cast<int64_t>(operand.items.size()));
    return bind_value(frame, decl, decl.type.pack->length, {count}, false);
}

bool Composer::bind_shape(Frame& frame, const ParamDecl& decl, const ir::Operand& operand) {
    std::vector<std::vector<ir::SymId>> shapes;
    for (const ir::TensorId id : operand.items) shapes.push_back(program_.tensors[id].shape);
    if (shapes.empty()) return true;  // an empty pack has no shape
    const auto rank = static_cast<int64_t>(shapes.front().size());
    for (const auto& shape : shapes) {
        if (shape.size() == shapes.front().size()) continue;
        call_error(frame,
                   DiagKind::RankMismatch,
                   fmt::format("the tensors of the pack `{}` have ranks {} and {}",
                               decl.name.text,
                               rank,
                               shape.size()))
            .note(decl.name.span, "declared here");
        return false;
    }
    if (decl.type.rank.valid() &&
        !bind_value(frame, decl, decl.type.rank, {program_.symbols.integer(rank)}, false)) {
        return false;
    }
    if (!check_asserts(frame, false)) return false;
    const auto counts = split_axes(frame, decl, rank);
    if (!counts) return false;
    size_t axis = 0;
    for (size_t i = 0; i < decl.type.shape->size(); ++i) {
        const ExtentSpec& extent = (*decl.type.shape)[i];
        const auto count = static_cast<size_t>((*counts)[i]);
        if (extent.spread) {
            std::vector<ir::SymId> each;
            for (const auto& shape : shapes) each.push_back(shape[axis]);
            if (!bind_value(frame, decl, extent.extent, each, true)) return false;
        } else {
            for (const auto& shape : shapes) {
                const std::vector<ir::SymId> axes(
                    shape.begin() + static_cast<int64_t>(axis),
                    shape.begin() + static_cast<int64_t>(axis + count));
                if (!bind_extents(frame, decl, extent, axes)) return false;
            }
        }
        axis += count;
    }
    return true;
}

// The number of axes of each item of the shape; the item of unknown length gets the rest.
std::optional<std::vector<int64_t>> Composer::split_axes(Frame& frame,
                                                         const ParamDecl& decl,
                                                         int64_t rank) {
    std::vector<int64_t> counts;
    int64_t total = 0;
    std::optional<size_t> open;
    for (const ExtentSpec& extent : *decl.type.shape) {
        int64_t count = 1;
        if (extent.pack && !extent.spread) {
            const ExprId length = extent.pack->length;
            const CompileValue* known = nullptr;
            if (!length.valid()) {
                const auto* name =
                    std::get_if<Identifier>(&frame.module().exprs[extent.extent].node);
                known = name ? frame.value(name->name) : nullptr;
            }
            if (length.valid() && all_known(frame, length)) {
                const auto value = evaluate_count(frame, length, "a number of extents");
                if (!value) return std::nullopt;
                count = *value;
            } else if (known && std::holds_alternative<Pack>(*known)) {
                count = static_cast<int64_t>(std::get<Pack>(*known).items.size());
            } else {
                open = counts.size();
                count = 0;
            }
        } else if (!extent.spread && all_known(frame, extent.extent)) {
            // A null component is omitted (spec 2.6).
            const auto value = evaluate_in(frame, extent.extent);
            if (value && std::holds_alternative<Null>(*value)) count = 0;
        }
        counts.push_back(count);
        total += count;
    }
    const bool negative =
        std::any_of(counts.begin(), counts.end(), [](int64_t c) { return c < 0; });
    if (negative || (open ? total > rank : total != rank)) {
        call_error(frame,
                   DiagKind::RankMismatch,
                   fmt::format("`{}` has rank {}, expected {}{}",
                               decl.name.text,
                               rank,
                               open ? "at least " : "",
                               total))
            .note(decl.name.span, "declared here");
        return std::nullopt;
    }
    if (open) counts[*open] = rank - total;
    return counts;
}

bool Composer::bind_extents(Frame& frame,
                            const ParamDecl& decl,
                            const ExtentSpec& extent,
                            const std::vector<ir::SymId>& axes) {
    if (std::holds_alternative<Omitted>(frame.module().exprs[extent.extent].node)) return true;
    const ExprId length = extent.pack ? extent.pack->length : ExprId{};
    bool conditional = false;
    if (length.valid() && all_known(frame, length)) {
        const auto value = evaluate_in(frame, length);
        const auto* scalar = value ? std::get_if<Scalar>(&*value) : nullptr;
        conditional = scalar && std::holds_alternative<bool>(*scalar);
    } else if (length.valid()) {
        const ir::SymId count = program_.symbols.integer(static_cast<int64_t>(axes.size()));
        if (!bind_value(frame, decl, length, {count}, false)) return false;
    }
    if (conditional) {
        const std::optional<std::string_view> name = unknown_name(frame, extent.extent);
        if (axes.empty()) {
            if (name) frame.set(*name, Null{});
            return true;
        }
        return bind_value(frame, decl, extent.extent, axes, false);
    }
    if (!extent.pack && axes.empty()) return true;
    return bind_value(frame, decl, extent.extent, axes, extent.pack.has_value());
}

std::optional<std::string_view> Composer::unknown_name(const Frame& frame, ExprId expr) const {
    std::optional<std::string_view> unknown;
    for (const std::string_view name : frame.names_in(expr)) {
        if (!frame.known(name)) unknown = name;
    }
    return unknown;
}

bool Composer::bind_value(Frame& frame,
                          const ParamDecl& decl,
                          ExprId expr,
                          const std::vector<ir::SymId>& values,
                          bool packed) {
    if (const std::optional<std::string_view> name = unknown_name(frame, expr)) {
        Pack pack;
        pack.type = ir::ScalarType::Int;
        for (const ir::SymId value : values) {
            const auto solved = solve(frame, decl, expr, *name, value);
            if (!solved) return false;
            pack.items.push_back(std::get<Scalar>(extent_value(program_.symbols, *solved)));
        }
        if (packed) {
            frame.set(*name, std::move(pack));
        } else {
            frame.set(*name, pack.items.front());
        }
        return true;
    }
    const auto known =
        evaluate_known(frame, expr, fmt::format("an extent or length of `{}`", decl.name.text));
    if (!known) return false;
    if (std::holds_alternative<Null>(*known)) return true;
    std::vector<Scalar> wanted(values.size());
    if (const auto* scalar = std::get_if<Scalar>(&*known)) {
        wanted.assign(values.size(), *scalar);
    } else {
        wanted = std::get<Pack>(*known).items;
    }
    if (wanted.size() != values.size()) {
        call_error(frame,
                   DiagKind::RankMismatch,
                   fmt::format("`{}` has {} extents for `{}`, expected {}",
                               decl.name.text,
                               values.size(),
                               print(frame.module(), expr),
                               wanted.size()))
            .note(decl.name.span, "declared here");
        return false;
    }
    for (size_t i = 0; i < values.size(); ++i) {
        if (!require_equal(frame, decl, expr, values[i], to_sym(wanted[i]))) return false;
    }
    return true;
}

bool Composer::require_equal(
    Frame& frame, const ParamDecl& decl, ExprId expr, ir::SymId got, ir::SymId want) {
    if (got == want) return true;
    if (!surely_differ(got, want)) {
        const auto equal = program_.symbols.apply(ir::SymOp::Equal, {got, want});
        if (equal) {
            pending_assertions_.push_back({*equal,
                                           fmt::format("`{}` of `{}` in `{}` must be {}",
                                                       print(frame.module(), expr),
                                                       decl.name.text,
                                                       frame.definition().name.text,
                                                       program_.symbols.text(want))});
        }
        return true;
    }
    const bool items = decl.type.pack && decl.type.pack->length == expr;
    const std::string found = program_.symbols.text(got), wanted = program_.symbols.text(want);
    auto report = call_error(
        frame,
        DiagKind::ExtentMismatch,
        items ? fmt::format("`{}` has {} items, expected {}", decl.name.text, found, wanted)
              : fmt::format("`{}` of `{}` is {}, expected {}",
                            print(frame.module(), expr),
                            decl.name.text,
                            found,
                            wanted));
    note_sources(frame, decl, expr, report);
    report.note(frame.module().exprs[expr].span,
                fmt::format("declared by `{}` here", frame.definition().name.text));
    return false;
}

// Adds notes with the parameters of the call that define the names of the expression.
void Composer::note_sources(const Frame& frame,
                            const ParamDecl& decl,
                            ExprId expr,
                            diag::Report& report) const {
    const ReadNames::List& names = frame.names_in(expr);
    const auto speaks_of = [&](ExprId other) {
        return other.valid() && std::ranges::any_of(frame.names_in(other), [&](std::string_view n) {
                   return std::ranges::find(names, n) != names.end();
               });
    };
    constexpr size_t kMostNotes = 4;
    size_t notes = 0;
    for (const ParamDecl& other : frame.definition().attribs) {
        const CompileValue* const value = frame.value(other.name.text);
        const auto* pack = value ? std::get_if<Pack>(value) : nullptr;
        if (&other == &decl || !pack || !other.type.pack || !speaks_of(other.type.pack->length) ||
            notes++ >= kMostNotes) {
            continue;
        }
        report.note(fmt::format("`{}` has {} items", other.name.text, pack->items.size()));
    }
    for (const ParamDecl& other : frame.definition().inputs) {
        const Binding* const binding = frame.find(other.name.text);
        if (!binding || binding->operand.items.empty() || !other.type.shape) continue;
        const bool speaks = std::ranges::any_of(*other.type.shape, [&](const ExtentSpec& extent) {
            return speaks_of(extent.extent) || (extent.pack && speaks_of(extent.pack->length));
        });
        if ((&other != &decl && !speaks) || notes++ >= kMostNotes) continue;
        report.note(fmt::format("`{}` has the shape {}",
                                other.name.text,
                                shape_text(program_.tensors[binding->operand.items[0]].shape)));
    }
}

// The value of `name` for which the affine expression has the given value.
std::optional<ir::SymId> Composer::solve(
    Frame& frame, const ParamDecl& decl, ExprId expr, std::string_view name, ir::SymId value) {
    if (std::holds_alternative<Identifier>(frame.module().exprs[expr].node)) return value;
    ir::SymbolPool& symbols = program_.symbols;
    const ir::SymId unknown = symbols.symbol(name, ir::ScalarType::Int);
    const auto with = evaluate_in(frame, WithUnknown(frame, name, unknown), expr);
    const auto* scalar = with ? std::get_if<Scalar>(&*with) : nullptr;
    const auto affine = scalar ? symbols.affine_in(to_sym(*scalar), unknown) : std::nullopt;
    if (affine) {
        const auto rest = symbols.apply(ir::SymOp::Sub, {value, symbols.integer(affine->offset)});
        const auto factor = symbols.integer(affine->factor);
        const auto remainder = rest ? symbols.apply(ir::SymOp::Mod, {*rest, factor}) : std::nullopt;
        const auto solution = rest ? symbols.apply(ir::SymOp::Div, {*rest, factor}) : std::nullopt;
        const bool exact = remainder && !surely_differ(*remainder, symbols.integer(0));
        const bool negative = solution && symbols.range(*solution).high < 0;
        if (solution && exact && !negative) return *solution;
    }
    call_error(frame,
               DiagKind::ExtentMismatch,
               fmt::format("no `{}` makes `{}` equal to {} for `{}`",
                           name,
                           print(frame.module(), expr),
                           symbols.text(value),
                           decl.name.text))
        .note(decl.name.span, "declared here");
    return std::nullopt;
}

}  // namespace lemma::sknd
