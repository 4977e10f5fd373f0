#include "driver/nnef1/quantizers.h"

#include <fmt/format.h>

namespace lemma::driver {

namespace {

// A program that does nothing but quantise one tensor.
std::optional<ir::Program> quantizer_program(const nnef1::TensorQuantizer& quantizer,
                                             const ir::Program& program,
                                             const ir::Tensor& tensor,
                                             const Nnef1Library& library,
                                             Diagnostics& diag) {
    const auto builder = library.builder(diag);
    const auto add = [&](std::string name, ir::DType dtype, const std::vector<int64_t>& shape) {
        ir::Tensor made{.name = std::move(name), .dtype = dtype};
        for (const int64_t n : shape) made.shape.push_back(builder->symbols().integer(n));
        return made;
    };
    tensor::Shape shape;
    for (const ir::SymId extent : tensor.shape) {
        shape.push_back(program.symbols.as_int(extent).value_or(1));
    }
    ir::Tensor input = add("x", tensor.dtype, shape);
    input.role = ir::TensorRole::Input;
    const ir::TensorId x = builder->add_tensor(std::move(input));
    ir::Call call{.op = "nnef1." + quantizer.op,
                  .label = quantizer.tensor,
                  .types = {},
                  .attributes = quantizer.attributes,
                  .inputs = {ir::Operand::single(x)},
                  .results = {"y"},
                  .span = quantizer.span};
    for (const nnef1::QuantTensor& argument : quantizer.tensors) {
        ir::Tensor constant = add(argument.name, argument.dtype, argument.shape);
        constant.role = ir::TensorRole::Constant;
        constant.items = argument.items;
        call.inputs.push_back(ir::Operand::single(builder->add_tensor(std::move(constant))));
    }
    const auto outputs = builder->call(call);
    if (!outputs) return std::nullopt;
    ir::Graph graph{.name = "quantize",
                    .inputs = {{"x", ir::Operand::single(x)}},
                    .outputs = {{"y", outputs->at(0)}},
                    .operations = {}};
    return builder->finish(std::move(graph), {});
}

}  // namespace

std::optional<Quantizers> nnef1_quantizers(const Nnef1Model& model,
                                           const ir::Program& program,
                                           const CheckOptions& options,
                                           Finding& finding) {
    Quantizers result;
    if (model.quantizers.empty()) return result;
    const Nnef1Library library(options, finding.sources, finding.diag);
    for (const nnef1::TensorQuantizer& quantizer : model.quantizers) {
        if (!quantizer.standard) {
            finding.diag.error(
                quantizer.span,
                DiagKind::BadQuantizer,
                fmt::format("`{}` is no quantiser of the specification, and cannot be applied",
                            quantizer.op));
            continue;
        }
        for (const ir::Tensor& tensor : program.tensors) {
            if (tensor.name != quantizer.tensor || !tensor::is_real(tensor.dtype)) continue;
            auto composed = quantizer_program(quantizer, program, tensor, library, finding.diag);
            if (composed) result.emplace(tensor.name, std::move(*composed));
            break;
        }
    }
    if (finding.diag.has_errors()) return std::nullopt;
    return result;
}

}  // namespace lemma::driver
