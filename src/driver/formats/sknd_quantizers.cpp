// Quantisers of `@quantize`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/match.h"
#include "driver/formats/sknd_quantizers.h"
#include "sknd/compose/compose.h"

namespace lemma::driver {

namespace {

std::string scalar_text(const ir::Program& program, const ir::Scalar& item) {
    return match(
        item,
        [](int64_t value) { return fmt::format("{}", value); },
        [](double value) { return ir::real_text(value); },
        [](bool value) { return std::string(value ? "true" : "false"); },
        [](const std::string& value) { return ir::quoted_text(value); },
        [&](ir::SymId id) { return program.symbols.text(id); });
}

std::string value_text(const ir::Program& program, const ir::Value& value) {
    return match(
        value,
        [](ir::Null) { return std::string(); },
        [&](const ir::Scalar& item) { return scalar_text(program, item); },
        [&](const ir::Pack& pack) {
            std::vector<std::string> items;
            for (const ir::Scalar& item : pack.items) items.push_back(scalar_text(program, item));
            return fmt::format("[{}]", fmt::join(items, ", "));
        });
}

// Extents that only a run tells are open.
std::string shape_text(const ir::Program& program, const ir::Tensor& tensor) {
    std::vector<std::string> extents;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = program.symbols.as_int(part);
        const int64_t most = program.symbols.range(part).high;
        extents.push_back(extent             ? fmt::format("{}", *extent)
                          : most < INT64_MAX ? fmt::format("~|{}", most)
                                             : "~");
    }
    return fmt::format("{}", fmt::join(extents, ", "));
}

// A graph that does nothing but quantise one tensor; it stands behind the model's own text, so that
// every operator is called by the name that the model uses.
std::string graph_text(const ir::Program& program, const ir::Tensor& tensor, size_t number) {
    std::vector<std::string> attributes;
    for (const ir::Attribute& attribute : tensor.quantizer->attributes) {
        const std::string value = value_text(program, attribute.value);
        if (!value.empty()) attributes.push_back(fmt::format("{}={}", attribute.name, value));
    }
    const std::string shape = shape_text(program, tensor);
    return fmt::format(
        "graph quantize__{} {{\n    @input {{ x: real[{}]; }}\n    @output {{ y: real[{}]; }}\n"
        "    @compose {{ y = {}{{{}}}(x); }}\n}}\n",
        number,
        shape,
        shape,
        tensor.quantizer->op,
        fmt::join(attributes, ", "));
}

}  // namespace

std::optional<Quantizers> sknd_quantizers(const LoadedModel& model,
                                          const std::string& main_text,
                                          const CheckOptions& options,
                                          Finding& finding) {
    Quantizers result;
    std::vector<const ir::Tensor*> tensors;
    const ir::Program& program = model.program;
    std::string text = main_text;
    for (const ir::Tensor& tensor : program.tensors) {
        if (!tensor.quantizer || !tensor::is_real(tensor.dtype)) continue;
        text += graph_text(program, tensor, tensors.size());
        tensors.push_back(&tensor);
    }
    if (tensors.empty()) return result;
    const diag::FileId file =
        finding.sources.add(model.file.path + " (quantised)", std::move(text));
    const sknd::Package package = sknd::load_package(finding.sources,
                                                     file,
                                                     model.file.name,
                                                     module_reader(model.file),
                                                     {.limits = options.parse},
                                                     finding.diag);
    sknd::check_types(package, {.limits = options.eval}, finding.diag);
    for (size_t i = 0; i < tensors.size() && !finding.diag.has_errors(); ++i) {
        sknd::ComposeOptions compose = options.graph.compose;
        compose.graph = fmt::format("quantize__{}", i);
        auto composed = sknd::compose(package, compose, finding.diag);
        if (!composed) break;
        result.emplace(tensors[i]->name, std::move(*composed));
    }
    if (finding.diag.has_errors()) return std::nullopt;
    return result;
}

}  // namespace lemma::driver
