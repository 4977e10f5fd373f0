// SPDX-License-Identifier: Apache-2.0
// Reports messages of the builder about a call at its invocation: at the wrong argument if it is
// known, with the fragments that led there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

// The parameters that a text names in quotes, in order.
std::vector<size_t> named_params(const Signature& signature, std::string_view text) {
    std::vector<size_t> found;
    for (size_t begin = text.find_first_of("'`"); begin < text.size();) {
        const size_t end = text.find(text[begin], begin + 1);
        if (end == std::string_view::npos) break;
        const std::string_view word = text.substr(begin + 1, end - begin - 1);
        if (const auto param = signature.find_param(word)) found.push_back(*param);
        begin = text.find_first_of("'`", end + 1);
    }
    return found;
}

// Messages in stdlib/nnef1 begin with the wrong parameter, if there is only one: "'axes' must be
// distinct". A message about two parameters concerns the whole invocation.
std::optional<size_t> blamed_param(const Signature& signature, std::string_view text) {
    const std::vector<size_t> named = named_params(signature, text);
    if (named.empty()) return std::nullopt;
    const bool first = text[0] == '\'' || text[0] == '`';
    const bool alone = std::ranges::all_of(named, [&](size_t one) { return one == named[0]; });
    return first || alone ? std::optional(named[0]) : std::nullopt;
}

}  // namespace

void Expander::hand_on_reports(const Frame& frame) {
    for (diag::Diagnostic item : calls_.items()) {
        const auto notes = chain(frame);
        item.notes.insert(item.notes.end(), notes.begin(), notes.end());
        diag_.add(std::move(item));
    }
    calls_ = Diagnostics();
}

void Expander::hand_on_reports(const Call& call, const Frame& frame) {
    Diagnostics about_call;
    for (diag::Diagnostic item : calls_.items()) {
        const auto blamed = blamed_param(call.signature, item.message);
        if (blamed && item.span == call.span) item.span = call.spans[*blamed];
        // Messages of the composer name extents as the definitions do.
        const bool about_shapes =
            item.kind == DiagKind::ExtentMismatch || item.kind == DiagKind::RankMismatch;
        if (about_shapes && blamed) {
            const std::string shapes = shapes_text(call.arguments[*blamed]);
            const std::string_view name = call.signature.fragment->params[*blamed].name.text;
            if (!shapes.empty()) {
                item.notes.insert(item.notes.begin(),
                                  {{}, fmt::format("`{}` is given {}", name, shapes)});
            }
        }
        about_call.add(std::move(item));
    }
    calls_ = std::move(about_call);
    hand_on_reports(frame);
}

// `shape [2, 3]`, or `shapes [2, 3], [3, 2]` for arrays.
std::string Expander::shapes_text(const Value& value) const {
    constexpr size_t kMost = 8;
    const auto shape_of_tensor = [&](ir::TensorId id) {
        return shape_text(builder_.program().tensors[id].shape);
    };
    if (const auto* id = std::get_if<ir::TensorId>(&value.node)) {
        return fmt::format("shape {}", shape_of_tensor(*id));
    }
    const Values* const items = value.items();
    if (!items) return "";
    std::vector<std::string> shapes;
    for (const Value& item : *items) {
        const auto* id = std::get_if<ir::TensorId>(&item.node);
        if (!id) return "";
        if (shapes.size() == kMost) {
            shapes.emplace_back("…");
            break;
        }
        shapes.push_back(shape_of_tensor(*id));
    }
    return fmt::format("shapes {}", fmt::join(shapes, ", "));
}

// Tensors of a graph must fit into files (notes on 4.1: at most eight axes).
bool Expander::fits_files(const Call& call, const ir::Operand& output, const Frame& frame) {
    for (const ir::TensorId id : output.items) {
        const size_t rank = builder_.program().tensors[id].shape.size();
        if (rank <= kMaxRank) continue;
        report(call.span,
               DiagKind::TooLarge,
               fmt::format("the result of `{}` has rank {}, expected at most {}",
                           call.signature.name(),
                           rank,
                           kMaxRank),
               frame);
        return false;
    }
    return true;
}

// Axes are matched from the first one on. This may enlarge the larger operand where matching from
// the last axis, as in other formats, would not. The user may have meant the latter.
void Expander::warn_of_broadcast(const Call& call,
                                 const std::vector<ir::Operand>& inputs,
                                 const Frame& frame) {
    const std::string_view name = call.signature.name();
    const bool elementwise = std::ranges::find(kBinaryFragments, name) != kBinaryFragments.end() ||
                             name == "min" || name == "max";
    if (!elementwise || inputs.size() != 2 || options_.dialect == Dialect::Tract) return;
    const auto shape_of = [&](size_t input) {
        return builder_.program().tensors[inputs[input].items.at(0)].shape;
    };
    const size_t smaller = shape_of(0).size() < shape_of(1).size() ? 0 : 1;
    const std::vector<ir::SymId> few = shape_of(smaller);
    const std::vector<ir::SymId> many = shape_of(1 - smaller);
    const ir::SymId one = builder_.symbols().integer(1);
    const size_t missing = many.size() - few.size();
    std::vector<ir::SymId> result = many;
    std::vector<ir::SymId> behind(missing, one);
    for (size_t i = 0; i < few.size(); ++i) {
        if (few[i] != one && few[i] != many[missing + i]) return;
        if (result[i] == one) result[i] = few[i];
        behind.push_back(few[i]);
    }
    if (missing == 0 || result == many) return;
    diag::Diagnostic item{.severity = diag::Severity::Warning,
                          .kind = DiagKind::ExtentMismatch,
                          .span = call.spans[smaller],
                          .path = "",
                          .message = fmt::format(
                              "shapes {} and {} are matched from the first axis on, which gives {}",
                              shape_text(many),
                              shape_text(few),
                              shape_text(result))};
    item.notes = chain(frame);
    diag_.add(std::move(item))
        .note(fmt::format("to match the last axes, give it the shape {}", shape_text(behind)));
}

}  // namespace lemma::nnef1
