// To NNEF 1.0: graph.nnef, a .dat file for each label, and graph.quant for tensors with quantisers.
#include <fmt/format.h>

#include "convert/convert.h"
#include "convert/nnef1/rewrite.h"
#include "convert/output.h"
#include "convert/written.h"
#include "model/nnef1/labels.h"

namespace lemma::convert {

namespace {

// Labels of NNEF 1.0 stay; in other formats variables have names.
std::string label_of(const model::LoadedModel& model, const ir::Tensor& variable) {
    if (model.file.format != model::Format::Nnef1) return variable.name;
    std::string file = model.data_name(variable);
    return file.substr(0, file.rfind(".dat"));
}

Result<tensor::Tensor> constant_data(const ir::Program& program, const ir::Tensor& constant) {
    tensor::Shape shape;
    for (const ir::SymId extent : constant.shape) {
        shape.push_back(program.symbols.as_int(extent).value_or(1));
    }
    LEMMA_TRY(tensor::Tensor data, tensor::Tensor::zeros(constant.dtype, std::move(shape)));
    for (int64_t i = 0; i < data.size(); ++i) {
        const ir::Scalar& item =
            constant.items[constant.items.size() == 1 ? 0 : static_cast<size_t>(i)];
        if (const auto* real = std::get_if<double>(&item)) {
            data.set_real(i, *real);
        } else if (const auto* integer = std::get_if<int64_t>(&item)) {
            data.set_integer(i, *integer);
        } else if (const auto* flag = std::get_if<bool>(&item)) {
            data.set_integer(i, *flag ? 1 : 0);
        } else {
            return std::unexpected(Error{
                fmt::format("the constant `{}` has items that only a run tells", constant.name)});
        }
    }
    return data;
}

Result<void> check_keep(const std::vector<std::string>& keep) {
    const std::set<std::string> known = compound_operations();
    for (const std::string& name : keep) {
        if (known.contains(name)) continue;
        return std::unexpected(
            Error{fmt::format("--keep: NNEF 1.0 has no compound operation `{}`", name)});
    }
    return {};
}

}  // namespace

Result<void> write_nnef1_model(const model::LoadedModel& model,
                               const std::string& out,
                               const ConvertOptions& options,
                               model::Finding& finding) {
    if (auto good = check_keep(options.keep); !good) return good;
    RewriteOptions rewrite{
        .flat = options.flat, .keep = {options.keep.begin(), options.keep.end()}, .names = {}};
    rewrite.names.label = [&](const ir::Tensor& variable) { return label_of(model, variable); };
    const auto rewritten = rewrite_as_nnef1(model.program, rewrite, finding.diag);
    if (!rewritten) {
        finding.status = model::kWrong;
        return {};
    }
    LEMMA_TRY(
        Output output,
        Output::create(out, {.kind = folder_or_archive(out), .overwrite = options.overwrite}));
    if (auto done = output.write("graph.nnef", rewritten->graph); !done) return done;
    if (!rewritten->quant.empty()) {
        if (auto done = output.write("graph.quant", rewritten->quant); !done) return done;
    }
    for (const auto& variable : rewritten->variables) {
        const ir::Tensor& tensor = model.program.tensors[variable.tensor];
        const bool constant = tensor.role == ir::TensorRole::Constant;
        // What a constant holds is part of the graph.
        if (!options.data && !constant) continue;
        LEMMA_TRY(const tensor::Tensor data,
                  constant ? constant_data(model.program, tensor) : variable_data(model, tensor));
        if (auto done = output.write_tensor(model::label_file(variable.label), data); !done)
            return done;
    }
    return finish_output(model, options, std::move(output), finding);
}

}  // namespace lemma::convert
