// NNEF 1.0 models.
#include <fmt/format.h>

#include "driver/load.h"
#include "driver/nnef1/labels.h"
#include "driver/nnef1/model.h"
#include "driver/run/stored_codes.h"

namespace lemma::driver {

namespace {

// Where the data of each variable is: variables of one label are one tensor.
using Labels = std::map<std::string, std::string>;

DataReader data_reader(const ModelFile& file, Labels labels, const tensor::SourceLimits& limits) {
    return [file, files = std::make_shared<LabelFiles>(file), labels = std::move(labels), limits](
               const ir::Tensor& variable) -> Result<std::optional<tensor::Tensor>> {
        const auto name = files->find(labels.at(variable.name));
        if (!name) return std::nullopt;
        LEMMA_TRY(const std::string bytes, file.source->read_all(*name, limits.max_file_bytes));
        auto tensor = decode_data(bytes, variable);
        if (tensor) return std::move(*tensor);
        return std::unexpected(Error{fmt::format(
            "cannot read `{}`: {}", file.source->path_of(*name), tensor.error().message)});
    };
}

// A program that does nothing but quantise one tensor.
std::optional<ir::Program> quantizer_program(const nnef1::TensorQuantizer& quantizer,
                                             const LoadedModel& model,
                                             const ir::Tensor& tensor,
                                             const CheckOptions& options,
                                             Diagnostics& diag) {
    const auto builder = operator_builder(model.package, options, diag);
    const auto add = [&](ir::Tensor made, const std::vector<int64_t>& shape) {
        for (const int64_t n : shape) made.shape.push_back(builder->symbols().integer(n));
        return ir::Operand::single(builder->add_tensor(std::move(made)));
    };
    std::vector<int64_t> shape;
    for (const ir::SymId extent : tensor.shape) {
        shape.push_back(model.program.symbols.as_int(extent).value_or(1));
    }
    ir::Tensor input{.name = "x", .dtype = tensor.dtype};
    input.role = ir::TensorRole::Input;
    ir::Call call{.op = "nnef1." + quantizer.op,
                  .label = quantizer.tensor,
                  .types = {},
                  .attributes = quantizer.attributes,
                  .inputs = {add(std::move(input), shape)},
                  .results = {"y"},
                  .span = quantizer.span};
    for (const nnef1::QuantTensor& argument : quantizer.tensors) {
        ir::Tensor constant{.name = argument.name, .dtype = argument.dtype};
        constant.role = ir::TensorRole::Constant;
        constant.items = argument.items;
        call.inputs.push_back(add(std::move(constant), argument.shape));
    }
    const auto outputs = builder->call(call);
    if (!outputs) return std::nullopt;
    ir::Graph graph{.name = "quantize",
                    .inputs = {{"x", call.inputs[0]}},
                    .outputs = {{"y", outputs->at(0)}},
                    .operations = {}};
    return builder->finish(std::move(graph), {});
}

auto quantizer_of(std::vector<nnef1::TensorQuantizer> quantizers, const CheckOptions& options) {
    return [quantizers = std::move(quantizers), options](
               const LoadedModel& model,
               const ir::Tensor& tensor,
               Diagnostics& diag) -> std::optional<ir::Program> {
        for (const nnef1::TensorQuantizer& quantizer : quantizers) {
            if (quantizer.tensor != tensor.name) continue;
            if (quantizer.standard) {
                return quantizer_program(quantizer, model, tensor, options, diag);
            }
            diag.error(quantizer.span,
                       DiagKind::BadQuantizer,
                       fmt::format("`{}` is no operation of the specification, and cannot be "
                                   "applied here",
                                   quantizer.op));
        }
        return std::nullopt;
    };
}

// The program, if there is one, and its variables. Reports operations that only others know.
nnef1::Imported import_model(const Nnef1Model& model,
                             const sknd::Package& operators,
                             const CheckOptions& options,
                             Diagnostics& diag) {
    nnef1::Imported imported = import_nnef1(model, operators, options, diag);
    if (!imported.custom.valid() || diag.has_errors()) return imported;
    diag.error(
        imported.custom,
        DiagKind::NoOperator,
        fmt::format("`{}` has no body, so nobody knows what it computes", imported.custom_name));
    return imported;
}

}  // namespace

Result<std::optional<LoadedModel>> load_nnef1(const ModelFile& file,
                                              const LoadOptions& options,
                                              Finding& finding) {
    LEMMA_TRY(const auto checked, check_nnef1(file, options.check, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    if (!fits_command_line(*checked, options.check.graph, finding.diag)) {
        finding.status = kUnusable;
        return std::nullopt;
    }
    LoadedModel model{.file = file, .source = checked->file};
    model.package = load_operators(options.check, finding.sources, finding.diag);
    if (finding.diag.has_errors()) return std::nullopt;
    nnef1::Imported imported = import_model(*checked, model.package, options.check, finding.diag);
    LabelFiles(file).check(imported.variables, options.data, options.check.dialect, finding.diag);
    if (!imported.program || finding.diag.has_errors()) return std::nullopt;
    model.program = std::move(*imported.program);
    Labels labels;
    for (const nnef1::StoredVariable& variable : imported.variables) {
        labels[model.program.tensors[variable.tensor].name] = variable.label;
    }
    model.data_name = [labels](const ir::Tensor& variable) {
        return label_file(labels.at(variable.name));
    };
    model.data = data_reader(file, std::move(labels), options.source);
    model.quantizer = quantizer_of(checked->quantizers, options.check);
    return model;
}

Result<void> check_nnef1_model(const ModelFile& file,
                               const LoadOptions& options,
                               Finding& finding) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(const auto model, check_nnef1(file, check, finding.sources, finding.diag));
    if (check.syntax_only || check.types_only || finding.diag.has_errors()) return {};
    if (!fits_command_line(*model, check.graph, finding.diag)) {
        finding.status = kUnusable;
        return {};
    }
    const sknd::Package operators = load_operators(check, finding.sources, finding.diag);
    if (finding.diag.has_errors()) return {};
    const nnef1::Imported imported = import_nnef1(*model, operators, check, finding.diag);
    if (imported.custom.valid()) {
        finding.remarks.push_back(
            {imported.custom,
             fmt::format("`{}` is not known here: shapes behind it are not checked",
                         imported.custom_name)});
    }
    LabelFiles(file).check(imported.variables, check.data, check.dialect, finding.diag);
    return {};
}

}  // namespace lemma::driver
