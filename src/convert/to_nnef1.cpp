// SPDX-License-Identifier: Apache-2.0
// To NNEF 1.0: graph.nnef, a .dat file for each label, and graph.quant for tensors with quantisers.
#include <fmt/format.h>

#include "convert/convert.h"
#include "convert/nnef1/target.h"
#include "convert/output.h"
#include "convert/written.h"
#include "model/nnef1/labels.h"
#include "nnef1/export/export.h"

namespace lemma::convert {

namespace {

// Variables of NNEF 1.0 keep their labels; those of other formats are labelled by their names.
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

// A model in the operations of NNEF 1.0, and its texts.
struct Nnef1Texts {
    std::optional<RewrittenProgram> rewritten;  // empty: the model's program is written unchanged
    nnef1::ExportedGraph graph;
    std::string document, quant;
};

// The variable of the model that the written variable comes from.
const ir::Tensor& origin(const model::LoadedModel& model,
                         const Nnef1Texts& texts,
                         const ir::Tensor& variable) {
    if (!texts.rewritten) return variable;
    return model.program.tensors[texts.rewritten->variables.at(variable.name)];
}

std::optional<Nnef1Texts> write_texts(const model::LoadedModel& model,
                                      const ConvertOptions& options,
                                      Diagnostics& diag) {
    const size_t errors = diag.error_count();
    if (!nnef1::check_inputs(model.program, diag)) return std::nullopt;
    const Nnef1Target target(
        model.program, {.flat = options.flat, .keep = {options.keep.begin(), options.keep.end()}});
    Nnef1Texts texts;
    if (needs_rewriting(model.program, target)) {
        texts.rewritten = rewrite(model.program, target, diag);
        if (!texts.rewritten) return std::nullopt;
    }
    const ir::Program& program = texts.rewritten ? texts.rewritten->program : model.program;
    const nnef1::ExportOptions names{
        [&](const ir::Tensor& tensor) { return label_of(model, origin(model, texts, tensor)); }};
    auto graph = nnef1::export_graph(program, target.operations(), names, diag);
    if (!graph) return std::nullopt;
    texts.graph = std::move(*graph);
    auto quant = nnef1::export_quantizers(program, texts.graph.names, target.operations(), diag);
    texts.quant = std::move(quant.text);
    std::string fragments;
    for (const std::string& name : quant.fragments) {
        fragments += fmt::format("{}\n\n", target.fragment_text(name));
    }
    auto document = nnef1::document_text(texts.graph.text, fragments, diag);
    if (!document || diag.error_count() > errors) return std::nullopt;
    texts.document = std::move(*document);
    return texts;
}

}  // namespace

Result<void> write_nnef1_model(const model::LoadedModel& model,
                               const std::string& out,
                               const ConvertOptions& options,
                               model::Finding& finding) {
    LEMMA_TRY(check_keep(options.keep));
    const auto texts = write_texts(model, options, finding.diag);
    if (!texts) {
        finding.status = model::kWrong;
        return {};
    }
    LEMMA_TRY(
        Output output,
        Output::create(out, {.kind = folder_or_archive(out), .overwrite = options.overwrite}));
    LEMMA_TRY(output.write("graph.nnef", texts->document));
    if (!texts->quant.empty()) {
        LEMMA_TRY(output.write("graph.quant", texts->quant));
    }
    const ir::Program& program = texts->rewritten ? texts->rewritten->program : model.program;
    for (const auto& variable : texts->graph.variables) {
        const ir::Tensor& tensor = program.tensors[variable.tensor];
        const bool constant = tensor.role == ir::TensorRole::Constant;
        // Constants belong to the graph, so their values are written without `data`, too.
        if (!options.data && !constant) continue;
        LEMMA_TRY(const tensor::Tensor data,
                  constant ? constant_data(program, tensor)
                           : variable_data(model, origin(model, *texts, tensor)));
        LEMMA_TRY(output.write_tensor(model::label_file(variable.label), data));
    }
    return finish_output(model, options, std::move(output), finding);
}

}  // namespace lemma::convert
