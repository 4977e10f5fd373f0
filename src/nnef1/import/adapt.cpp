// SPDX-License-Identifier: Apache-2.0
// Ranks that other tools accept and the specification does not. If the dialect allows them, they
// are brought to the form of the specification.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nnef1/import/expander.h"

namespace lemma::nnef1 {

namespace {

// A tensor of rank 1 that needs another axis.
struct MissingAxis {
    std::string_view op;
    std::string_view param;
    int64_t axis;
};
constexpr std::array kMissingAxes = {
    MissingAxis{"conv", "bias", 0},
    MissingAxis{"deconv", "bias", 0},
    MissingAxis{"separable_conv", "bias", 0},
    MissingAxis{"separable_deconv", "bias", 0},
    MissingAxis{"linear", "bias", 0},
    MissingAxis{"avg_roi_pool", "batch_index", 1},
    MissingAxis{"max_roi_pool", "batch_index", 1},
    MissingAxis{"roi_resample", "batch_index", 1},
    MissingAxis{"avg_roi_align", "batch_index", 1},
    MissingAxis{"max_roi_align", "batch_index", 1},
};

}  // namespace

// Operations with another meaning in a dialect are separate operators (stdlib/nnef1/dialects.sknd).
std::string Expander::operator_name(const Call& call) const {
    const std::string_view name = call.signature.name();
    const bool khronos = options_.dialect == Dialect::Khronos;
    if (name == "cast" && khronos) return "nnef1.cast_by_cutting";
    if (const char* const other = tract_operator(call)) return other;
    if (name == "round" && options_.dialect != Dialect::Strict) return "nnef1.round_half_away";
    return fmt::format("nnef1.{}", name);
}

void Expander::add_missing_axes(Call& call, const Frame& frame) {
    if (options_.dialect == Dialect::Strict) return;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
        const std::string_view param = call.signature.fragment->params[i].name.text;
        const auto row = std::ranges::find_if(kMissingAxes, [&](const MissingAxis& one) {
            return one.op == call.signature.name() && one.param == param;
        });
        const auto* id = std::get_if<ir::TensorId>(&call.arguments[i].node);
        if (row == kMissingAxes.end() || !id) continue;
        if (builder_.program().tensors[*id].shape.size() != 1) continue;
        diag_.warning(call.spans[i],
                      DiagKind::NonStandard,
                      fmt::format("`{}` of rank 1 is taken as if axis {} was 1", param, row->axis));
        const ir::Pack axes{.items = {row->axis}, .uniform = {}, .type = ir::ScalarType::Int};
        const auto outputs = builder_.call({.op = "nnef1.unsqueeze",
                                            .label = fmt::format("{}.{}", call.label, param),
                                            .types = {},
                                            .attributes = {{"axes", axes}},
                                            .inputs = {ir::Operand::single(*id)},
                                            .results = {},
                                            .span = call.spans[i]});
        if (!calls_.items().empty()) hand_on_reports(frame);
        call.arguments[i] = outputs ? Value{outputs->at(0).items[0]} : Value{};
    }
}

}  // namespace lemma::nnef1
