// SPDX-License-Identifier: Apache-2.0
// Evaluation and errors while composing: an error is reported where the user can act on it, with
// the chain of calls as notes.
#include <fmt/format.h>

#include <algorithm>

#include "sknd/compose/composer.h"
#include "sknd/print/printer.h"

namespace lemma::sknd {

void Composer::add_call_notes(const Frame& frame, diag::Report& report) {
    constexpr int kMostNotes = 8;
    int notes = 0;
    for (const Frame* at = &frame; at->caller; at = at->caller) {
        if (++notes > kMostNotes) {
            report.note("… and further calls");
            return;
        }
        report.note(at->call_span, fmt::format("in `{}`, called here", at->definition().name.text));
    }
}

void Composer::give_up(const Frame& frame, DiagKind kind, std::string message) {
    call_error(frame, kind, std::move(message));
    exhausted_ = true;
}

bool Composer::spend(const Frame& frame, size_t nodes) { return spend(frame, Span{}, nodes); }

bool Composer::spend(const Frame& frame, Span span, size_t nodes) {
    if (exhausted_) return false;
    const size_t most = work_.most / kNodeWork;
    if (nodes <= most && work_.spend(nodes * kNodeWork)) return true;
    const char* message = "the graph grows too large (--max-work raises the limit)";
    if (span.file.valid()) {
        inner_error(frame, span, DiagKind::TooLarge, message);
    } else {
        call_error(frame, DiagKind::TooLarge, message);
    }
    exhausted_ = true;
    return false;
}

diag::Report Composer::error(Span span, DiagKind kind, std::string message) {
    ++reports_;
    return (exhausted_ ? unheard_ : diag_).error(span, kind, std::move(message));
}

diag::Report Composer::call_error(const Frame& frame, DiagKind kind, std::string message) {
    // The responsible call: the innermost one in the user's text.
    const Frame* at = &frame;
    while (at->caller && at->caller->standard()) at = at->caller;
    const Span span = at->caller ? at->call_span : at->definition().name.span;
    auto report = error(span, kind, std::move(message));
    for (const Frame* inner = &frame; inner != at; inner = inner->caller) {
        report.note(inner->call_span,
                    fmt::format("in `{}`, called here", inner->definition().name.text));
    }
    if (at->caller) add_call_notes(*at->caller, report);
    return report;
}

// Two inputs with separate generic types that the body combines as if they were the same: int and
// real, because there is no implicit conversion.
std::optional<std::pair<const ParamDecl*, const ParamDecl*>> Composer::mixed_inputs(
    const Frame& frame) const {
    const ParamDecl* whole = nullptr;
    const ParamDecl* real = nullptr;
    for (const ParamDecl& decl : frame.definition().inputs) {
        const Binding* const binding = frame.find(decl.name.text);
        if (!binding || binding->operand.items.empty()) continue;
        const bool generic = std::ranges::any_of(
            frame.definition().dtypes,
            [&](const DtypeDecl& dtype) { return dtype.name.text == decl.type.base.text; });
        if (!generic) continue;
        const auto type = scalar_type_of(program_.tensors[binding->operand.items[0]].dtype);
        if (type == ir::ScalarType::Int && !whole) whole = &decl;
        if (type == ir::ScalarType::Real && !real) real = &decl;
    }
    if (!whole || !real) return std::nullopt;
    return std::pair(whole, real);
}

diag::Report Composer::inner_error(const Frame& frame,
                                   Span span,
                                   DiagKind kind,
                                   std::string message) {
    if (!frame.standard()) {
        auto report = error(span, kind, std::move(message));
        add_call_notes(frame, report);
        return report;
    }
    const auto mixed = kind == DiagKind::OperandType ? mixed_inputs(frame) : std::nullopt;
    if (mixed) {
        const auto& [whole, real] = *mixed;
        message = fmt::format("`{}` takes inputs of one type, found int for `{}` and real for `{}`",
                              frame.definition().name.text,
                              whole->name.text,
                              real->name.text);
    }
    auto report = call_error(frame, kind, std::move(message));
    if (mixed) {
        report.note(
            fmt::format("there is no implicit conversion; convert one of them first, as "
                        "`layout.cast<real>({})`",
                        mixed->first->name.text));
    } else {
        report.note(span, "found here");
    }
    return report;
}

std::optional<CompileValue> Composer::evaluate_in(const Frame& frame,
                                                  const Environment& environment,
                                                  ExprId expr) {
    if (exhausted_) return std::nullopt;
    Diagnostics found(8);
    auto value =
        evaluate(frame.module(), expr, environment, program_.symbols, options_.limits, found);
    for (const diag::Diagnostic& item : found.items()) {
        auto report = inner_error(frame, item.span, item.kind, item.message);
        for (const diag::Note& note : item.notes) report.note(note.span, note.message);
    }
    exhausted_ = work_.done > work_.most;
    return value;
}

std::optional<CompileValue> Composer::evaluate_quietly(const Frame& frame, ExprId expr) {
    Diagnostics sink(1);
    return evaluate(frame.module(), expr, frame, program_.symbols, options_.limits, sink);
}

std::optional<CompileValue> Composer::evaluate_known(const Frame& frame,
                                                     ExprId expr,
                                                     const std::string& what) {
    const size_t reports = reports_;
    auto value = evaluate_in(frame, expr);
    if (!value && reports_ == reports) {
        inner_error(frame,
                    frame.module().exprs[expr].span,
                    DiagKind::TypeMismatch,
                    fmt::format("{} depends on a length that only a run tells", what))
            .note(fmt::format("`{}` is worked out when the graph is composed",
                              print(frame.module(), expr)));
    }
    return value;
}

ir::SymId Composer::to_sym(const Scalar& value) {
    return std::visit(
        [&](const auto& v) -> ir::SymId {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, int64_t>) return program_.symbols.integer(v);
            if constexpr (std::is_same_v<T, double>) return program_.symbols.real(v);
            if constexpr (std::is_same_v<T, bool>) return program_.symbols.boolean(v);
            if constexpr (std::is_same_v<T, std::string>) return program_.symbols.string(v);
            if constexpr (std::is_same_v<T, ir::SymId>) return v;
        },
        value);
}

std::optional<ir::SymId> Composer::evaluate_extent(const Frame& frame, ExprId expr) {
    const size_t reports = reports_;
    const auto value = evaluate_in(frame, expr);
    if (value) {
        if (const auto* scalar = std::get_if<Scalar>(&*value)) {
            const ir::SymId id = to_sym(*scalar);
            if (program_.symbols.type(id) == ir::ScalarType::Int) return id;
        }
    }
    if (reports_ == reports) {
        inner_error(frame,
                    frame.module().exprs[expr].span,
                    DiagKind::TypeMismatch,
                    "this is not an int that is known when the graph is composed");
    }
    return std::nullopt;
}

std::optional<int64_t> Composer::evaluate_count(const Frame& frame,
                                                ExprId expr,
                                                std::string_view what) {
    const size_t reports = reports_;
    const auto value = evaluate_in(frame, expr);
    const auto* scalar = value ? std::get_if<Scalar>(&*value) : nullptr;
    if (scalar) {
        if (const auto* count = std::get_if<int64_t>(scalar)) return *count;
        if (const auto* flag = std::get_if<bool>(scalar)) return *flag ? 1 : 0;
    }
    if (reports_ == reports) {
        inner_error(frame,
                    frame.module().exprs[expr].span,
                    DiagKind::TypeMismatch,
                    fmt::format("{} must be known when the graph is composed", what));
    }
    return std::nullopt;
}

bool Composer::surely_differ(ir::SymId a, ir::SymId b) {
    if (a == b) return false;
    const auto difference = program_.symbols.apply(ir::SymOp::Sub, {a, b});
    if (!difference) return false;
    const ir::Interval range = program_.symbols.range(*difference);
    return range.low > 0 || range.high < 0;
}

bool Composer::may_be_equal(const std::vector<ir::SymId>& a, const std::vector<ir::SymId>& b) {
    bool equal = a.size() == b.size();
    for (size_t axis = 0; equal && axis < a.size(); ++axis) {
        equal = !surely_differ(a[axis], b[axis]);
    }
    return equal;
}

std::string Composer::shape_text(const std::vector<ir::SymId>& shape) const {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += program_.symbols.text(shape[i]);
    }
    return text + "]";
}

}  // namespace lemma::sknd
