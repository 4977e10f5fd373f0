// SPDX-License-Identifier: Apache-2.0
#include "convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace lemma::convert {

Result<tensor::Tensor> variable_data(const model::LoadedModel& model, const ir::Tensor& variable) {
    LEMMA_TRY(auto data, model.data(variable));
    if (data) return std::move(*data);
    return std::unexpected(Error{fmt::format(
        "the variable `{}` has no data (--no-data converts the graph alone)", variable.name)});
}

namespace {

class Placer {
public:
    explicit Placer(model::LoadedModel& model) : program_(model.program) {
        for (const sknd::LoadedModule& module : model.package.modules) {
            if (module.standard) standard_.insert(module.files.begin(), module.files.end());
        }
    }

    void place(const std::vector<ir::OpId>& operations, Span call) {
        for (const ir::OpId id : operations) {
            ir::Operation& op = program_.operations[id];
            const bool inside = !op.span.valid() || standard_.contains(op.span.file);
            if (inside && call.valid()) op.span = call;
            const Span here = op.span;
            // Control flow inside the parts has its own graphs.
            if (const auto* const branch = std::get_if<ir::Branch>(&op.control)) {
                for (const ir::Branch::Arm& arm : branch->arms) {
                    graph(arm.condition, here);
                    graph(arm.consequent, here);
                }
                graph(branch->alternative, here);
            }
            if (const auto* const loop = std::get_if<ir::Loop>(&op.control)) {
                for (const ir::GraphId part :
                     {loop->pre_condition, loop->body, loop->post_condition})
                    graph(part, here);
            }
            place(op.parts, here);
        }
    }
    void graph(ir::GraphId id, Span call) {
        if (id.valid()) place(program_.graphs[id].operations, call);
    }

private:
    ir::Program& program_;
    std::set<diag::FileId> standard_;
};

}  // namespace

void place_at_calls(model::LoadedModel& model) { Placer(model).graph(model.program.main, Span{}); }

void warn_of_precision(const ir::Program& program, model::Finding& finding) {
    std::set<std::string_view> types;
    for (const ir::Tensor& tensor : program.tensors) {
        if (tensor::is_real(tensor.dtype)) types.insert(tensor::dtype_name(tensor.dtype));
    }
    if (types.empty() || types == std::set{tensor::dtype_name(ir::DType::F32)}) return;
    finding.diag.warning(
        Span{},
        DiagKind::NotSupported,
        types.size() == 1
            ? fmt::format("the model computes in {0}, and SkriptND has `real` only: run it with "
                          "`--real={0}`, else it computes in f32",
                          *types.begin())
            : fmt::format("the model computes in {}, and SkriptND has `real` only: all of it "
                          "computes in f32, or in what `--real` says",
                          fmt::join(types, " and ")));
}

}  // namespace lemma::convert
