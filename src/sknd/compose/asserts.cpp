// SPDX-License-Identifier: Apache-2.0
// Helper symbols and conditions of a call, interleaved so that a condition protects the helpers
// after it (spec 2.8, 2.9).
#include <fmt/format.h>

#include "sknd/compose/composer.h"
#include "sknd/names/identifiers.h"
#include "sknd/print/printer.h"

namespace lemma::sknd {

// Tensors count as known once they are bound: their members can be read.
bool Composer::all_known(const Frame& frame, ExprId expr) const {
    for (const std::string_view name : frame.names_in(expr)) {
        if (!frame.known(name) && !frame.find(name)) return false;
    }
    return true;
}

bool Composer::evaluate_helpers(Frame& frame) {
    const auto& usings = frame.definition().usings;
    if (!check_asserts(frame, false)) return false;
    for (size_t i = 0; i < usings.size(); ++i) {
        const UsingStmt& stmt = usings[i];
        if (i > 0 && !check_asserts(frame, frame.plan().asserts[i - 1])) return false;
        const size_t reports = reports_;
        const auto value = evaluate_in(frame, stmt.rhs);
        if (!value) {
            if (reports_ == reports) {
                inner_error(frame,
                            stmt.span,
                            DiagKind::TypeMismatch,
                            "this value depends on extents that only a run can tell");
            }
            return false;
        }
        if (!set_helper(frame, stmt, *value)) return false;
    }
    return check_asserts(frame, true);
}

bool Composer::set_helper(Frame& frame, const UsingStmt& stmt, const CompileValue& value) {
    if (stmt.lhs.list) {
        if (const auto* pack = std::get_if<Pack>(&value)) return split_helper(frame, stmt, *pack);
        for (const LValueItem& item : stmt.lhs.items) {
            for (const auto& target : item.targets) frame.set(target.name.text, Null{});
        }
        return true;
    }
    const LValueItem& item = stmt.lhs.items.front();
    const auto* pack = std::get_if<Pack>(&value);
    if (pack && !spend(frame, pack->items.size() / 4)) return false;
    if (pack && item.pack && item.pack->length.valid()) {
        const auto length = evaluate_count(frame, item.pack->length, "the length of a pack");
        if (!length) return false;
        if (*length != static_cast<int64_t>(pack->items.size())) {
            inner_error(frame,
                        stmt.span,
                        DiagKind::LengthMismatch,
                        fmt::format("`{}` has {} items, expected {}",
                                    item.targets[0].name.text,
                                    pack->items.size(),
                                    *length));
            return false;
        }
    }
    frame.set(item.targets[0].name.text, value);
    return true;
}

// [a, b..(n), (e, f)..] = pack
bool Composer::split_helper(Frame& frame, const UsingStmt& stmt, const Pack& pack) {
    const auto total = static_cast<int64_t>(pack.items.size());
    std::vector<int64_t> lengths;  // lengths of the item's targets
    int64_t stated = 0;
    std::optional<size_t> open;
    for (const LValueItem& item : stmt.lhs.items) {
        int64_t length = 1;
        if (item.pack && item.pack->length.valid()) {
            const auto count = evaluate_count(frame, item.pack->length, "the length of a pack");
            if (!count) return false;
            length = *count;
        } else if (item.pack) {
            open = lengths.size();
            length = 0;
        }
        lengths.push_back(length);
        stated += length * static_cast<int64_t>(std::max<size_t>(item.targets.size(), 1));
    }
    const auto width =
        open ? static_cast<int64_t>(stmt.lhs.items[*open].targets.size()) : int64_t{1};
    const bool fits = open ? stated <= total && (total - stated) % width == 0 : stated == total;
    if (!fits) {
        inner_error(frame,
                    stmt.span,
                    DiagKind::LengthMismatch,
                    fmt::format("a pack of {} items is taken apart into {}{}",
                                total,
                                open ? "at least " : "",
                                stated));
        return false;
    }
    if (open) lengths[*open] = (total - stated) / width;
    size_t at = 0;
    for (size_t i = 0; i < stmt.lhs.items.size(); ++i) {
        const LValueItem& item = stmt.lhs.items[i];
        std::vector<Pack> parts(item.targets.size());
        for (Pack& part : parts) part.type = pack.type;
        for (int64_t k = 0; k < lengths[i]; ++k) {
            for (Pack& part : parts) part.items.push_back(pack.items[at++]);
        }
        if (item.omitted) at += 1;
        for (size_t t = 0; t < parts.size(); ++t) {
            const std::string_view name = item.targets[t].name.text;
            if (item.pack) {
                frame.set(name, parts[t]);
            } else {
                frame.set(name, parts[t].items.front());
            }
        }
    }
    return true;
}

// Checks each condition as soon as its names are known, so that it is reported before errors that
// follow from it.
bool Composer::check_asserts(Frame& frame, bool last) {
    const auto& asserts = frame.definition().asserts;
    frame.asserts_done.resize(asserts.size(), false);
    bool good = true;
    for (size_t i = 0; i < asserts.size(); ++i) {
        if (frame.asserts_done[i] || (!last && !can_check(frame, asserts[i].condition))) continue;
        frame.asserts_done[i] = true;
        // After a failed condition, another one may have no value.
        good = check_assert(frame, asserts[i], !good) && good;
    }
    return good;
}

bool Composer::check_asserts(Frame& frame, const std::vector<size_t>& which) {
    const auto& asserts = frame.definition().asserts;
    bool good = true;
    for (const size_t i : which) {
        if (frame.asserts_done[i] || !can_check(frame, asserts[i].condition)) continue;
        frame.asserts_done[i] = true;
        good = check_assert(frame, asserts[i], !good) && good;
    }
    return good;
}

// Packed attributes with a single value get their length late.
bool Composer::can_check(const Frame& frame, ExprId condition) const {
    if (!all_known(frame, condition)) return false;
    for (const std::string_view name : frame.names_in(condition)) {
        const CompileValue* value = frame.value(name);
        if (value && !std::holds_alternative<Scalar>(*value)) continue;
        const auto attribute = frame.plan().attributes.find(name);
        if (attribute == frame.plan().attributes.end()) continue;
        if (frame.definition().attribs[attribute->second].type.pack) return false;
    }
    return true;
}

bool Composer::check_assert(Frame& frame, const AssertStmt& stmt, bool quietly) {
    const size_t reports = reports_;
    const auto value =
        quietly ? evaluate_quietly(frame, stmt.condition) : evaluate_in(frame, stmt.condition);
    if (!value) return reports_ == reports;
    std::vector<Scalar> conditions;
    if (const auto* scalar = std::get_if<Scalar>(&*value)) conditions = {*scalar};
    if (const auto* pack = std::get_if<Pack>(&*value)) conditions = pack->items;
    for (const Scalar& condition : conditions) {
        const ir::SymId id = to_sym(condition);
        const auto holds = program_.symbols.prove(id);
        if (holds && *holds) continue;
        const std::string message = assert_message(frame, stmt);
        if (!holds) {
            pending_assertions_.push_back({id, message});
            continue;
        }
        if (!frame.caller) {
            error(stmt.span, DiagKind::AssertFailed, message);
            return false;
        }
        call_error(frame, DiagKind::AssertFailed, message)
            .note(stmt.span, fmt::format("`{}` asks for this", frame.definition().name.text));
        return false;
    }
    return true;
}

// A condition may be checked before the helpers in its message; those that can be evaluated are.
void Composer::evaluate_ahead(Frame& frame) {
    for (const UsingStmt& stmt : frame.definition().usings) {
        const LValueItem& item = stmt.lhs.items.front();
        if (stmt.lhs.list || item.targets.empty() || frame.known(item.targets[0].name.text)) {
            continue;
        }
        if (!all_known(frame, stmt.rhs)) continue;
        if (const auto value = evaluate_quietly(frame, stmt.rhs)) {
            frame.set(item.targets[0].name.text, *value);
        }
    }
}

std::string Composer::assert_message(Frame& frame, const AssertStmt& stmt) {
    const Module& module = frame.module();
    evaluate_ahead(frame);
    const auto text_of = [&](ExprId expr) -> std::string {
        const auto value = evaluate_quietly(frame, expr);
        return value ? to_text(*value, program_.symbols) : "?";
    };
    std::string message;
    const auto* literal = stmt.message.valid()
                              ? std::get_if<StringLiteral>(&module.exprs[stmt.message].node)
                              : nullptr;
    if (literal) {
        // Elsewhere a null makes the text null; here the null is the problem to report.
        for (const StringLiteral::Part& part : literal->parts) {
            message += part.expr ? text_of(part.expr) : std::string(part.text);
        }
    } else {
        message = fmt::format("`{}` does not hold", print(module, stmt.condition));
    }
    std::string values;
    const auto add = [&](std::string_view label, ExprId expr) {
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", label, text_of(expr));
    };
    for (const auto& printed : stmt.printed) {
        add(printed.label ? *printed.label : print(module, printed.value), printed.value);
    }
    if (!stmt.message.valid() && stmt.printed.empty()) {
        std::set<std::string_view> names;
        for_each_identifier(module, stmt.condition, [&](std::string_view name, ExprId id) {
            if (frame.known(name) && names.insert(name).second) add(name, id);
        });
    }
    return values.empty() ? message : fmt::format("{} ({})", message, values);
}

}  // namespace lemma::sknd
