// SPDX-License-Identifier: Apache-2.0
#include "model/nnef1/quantizers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nnef1/check/literals.h"
#include "nnef1/syntax/parser.h"

namespace lemma::model {

namespace {

tensor::Shape shape_of(const ir::Program& program, const ir::Tensor& tensor) {
    tensor::Shape shape;
    for (const ir::SymId extent : tensor.shape) {
        shape.push_back(program.symbols.as_int(extent).value_or(1));
    }
    return shape;
}

// A program that only quantises one tensor.
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
    ir::Tensor input = add("x", tensor.dtype, shape_of(program, tensor));
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

// ---- Fragments of the document ------------------------------------------------------------------

std::string literal(const ir::SymbolPool& symbols, const ir::Scalar& value) {
    const auto type = std::holds_alternative<int64_t>(value)  ? nnef1::TypeName::Integer
                      : std::holds_alternative<bool>(value)   ? nnef1::TypeName::Logical
                      : std::holds_alternative<double>(value) ? nnef1::TypeName::Scalar
                                                              : nnef1::TypeName::String;
    return nnef1::scalar_text(symbols, value, type).value_or("0.0");
}

// A graph that only quantises one tensor; it replaces the document's graph.
std::string graph_text(const nnef1::TensorQuantizer& quantizer,
                       const ir::Program& program,
                       const ir::Tensor& tensor) {
    std::string text = fmt::format("graph quantize( x ) -> ( y )\n{{\nx = external(shape = {});\n",
                                   tensor::shape_text(shape_of(program, tensor)));
    std::vector<std::string> arguments = {"x"};
    for (const nnef1::QuantTensor& argument : quantizer.tensors) {
        std::vector<std::string> items;
        for (const ir::Scalar& item : argument.items)
            items.push_back(literal(program.symbols, item));
        if (argument.shape.empty()) {
            arguments.push_back(items.at(0));
            continue;
        }
        arguments.push_back(fmt::format("t{}", arguments.size()));
        text += fmt::format("{} = constant{}(shape = {}, value = [{}]);\n",
                            arguments.back(),
                            tensor::is_integer(argument.dtype) ? "<integer>" : "",
                            tensor::shape_text(argument.shape),
                            fmt::join(items, ", "));
    }
    for (const ir::Attribute& attribute : quantizer.attributes) {
        arguments.push_back(
            fmt::format("{} = {}",
                        attribute.name,
                        literal(program.symbols, std::get<ir::Scalar>(attribute.value))));
    }
    return text + fmt::format("y = {}({});\n}}\n", quantizer.op, fmt::join(arguments, ", "));
}

// Faults in fragments are reported there, others at the line of graph.quant.
void hand_on(const Diagnostics& trouble,
             diag::FileId file,
             size_t own_bytes,
             const Nnef1Model& model,
             const nnef1::TensorQuantizer& quantizer,
             Diagnostics& diag) {
    for (diag::Diagnostic item : trouble.items()) {
        if (item.severity != diag::Severity::Error) continue;
        const auto place = [&](Span span) {
            if (span.file != file) return span;
            return span.end <= own_bytes ? Span{model.file, span.begin, span.end} : quantizer.span;
        };
        item.span = place(item.span);
        for (diag::Note& note : item.notes) note.span = place(note.span);
        item.fixes.clear();
        diag.add(std::move(item));
    }
}

std::optional<ir::Program> fragment_program(const nnef1::TensorQuantizer& quantizer,
                                            const ir::Program& program,
                                            const ir::Tensor& tensor,
                                            const Nnef1Model& model,
                                            const CheckOptions& options,
                                            Finding& finding) {
    Diagnostics trouble;
    const size_t own_bytes = model.document.graph->span.begin;
    const diag::FileId file = finding.sources.add(
        model.model.path + " (quantised)",
        std::string(finding.sources.text(Span{model.file, 0, static_cast<uint32_t>(own_bytes)})) +
            graph_text(quantizer, program, tensor));
    const nnef1::Document document =
        nnef1::parse_document(finding.sources, file, {.dialect = options.dialect}, trouble);
    const nnef1::Document standard =
        nnef1::parse_standard(finding.sources, nnef1_text("standard.nnef"), trouble);
    std::optional<ir::Program> result;
    if (!trouble.has_errors() && document.graph) {
        const nnef1::Operations operations(standard, document, options.dialect, trouble);
        const auto checked = nnef1::check_document(document, operations, options.dialect, trouble);
        const Nnef1Library library(options, finding.sources, trouble);
        Diagnostics calls;
        const auto builder = library.builder(calls);
        if (!trouble.has_errors()) {
            result = nnef1::import_document({document, operations, checked},
                                            import_options(options),
                                            *builder,
                                            calls,
                                            trouble)
                         .program;
        }
    }
    hand_on(trouble, file, own_bytes, model, quantizer, finding.diag);
    if (!result && !trouble.has_errors()) {
        finding.diag.error(
            quantizer.span,
            DiagKind::BadQuantizer,
            fmt::format("`{}` has no body, so nobody knows what it computes", quantizer.op));
    }
    return result;
}

// Whether the result has the shape of the quantised tensor.
bool keeps_shape(const ir::Program& program,
                 const ir::Program& quantizer,
                 const ir::Tensor& tensor) {
    const ir::Port& output = quantizer.graphs[quantizer.main].outputs.at(0);
    const ir::Tensor& result = quantizer.tensors[output.operand.items.at(0)];
    return shape_of(quantizer, result) == shape_of(program, tensor);
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
        for (const ir::Tensor& tensor : program.tensors) {
            if (tensor.name != quantizer.tensor || !tensor::is_real(tensor.dtype)) continue;
            auto composed =
                quantizer.standard
                    ? quantizer_program(quantizer, program, tensor, library, finding.diag)
                    : fragment_program(quantizer, program, tensor, model, options, finding);
            if (!composed) break;
            if (!keeps_shape(program, *composed, tensor)) {
                finding.diag.error(
                    quantizer.span,
                    DiagKind::BadQuantizer,
                    fmt::format("the parameters of `{}` do not fit the shape {} of `{}`",
                                quantizer.op,
                                tensor::shape_text(shape_of(program, tensor)),
                                tensor.name));
            }
            result.emplace(tensor.name, std::move(*composed));
            break;
        }
    }
    if (finding.diag.has_errors()) return std::nullopt;
    return result;
}

}  // namespace lemma::model
