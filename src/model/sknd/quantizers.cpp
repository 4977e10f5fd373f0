// SPDX-License-Identifier: Apache-2.0
// Quantisers of `@quantize`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/match.h"
#include "model/sknd/quantizers.h"
#include "sknd/compose/compose.h"

namespace lemma::model {

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

// Run-time extents are open.
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

// A graph that only quantises one tensor. It follows the model's text, so that operators have the
// names that the model uses.
std::string graph_text(const ir::Program& program, const ir::Tensor& tensor, size_t number) {
    std::vector<std::string> attributes;
    for (const ir::Attribute& attribute : tensor.quantizer->attributes) {
        const std::string value = value_text(program, attribute.value);
        if (!value.empty()) attributes.push_back(fmt::format("{}={}", attribute.name, value));
    }
    const std::string shape = shape_text(program, tensor);
    const std::string list =
        attributes.empty() ? "" : fmt::format("{{{}}}", fmt::join(attributes, ", "));
    return fmt::format(
        "graph quantize__{} {{\n    @input {{ x: real[{}]; }}\n    @output {{ y: real[{}]; }}\n"
        "    @compose {{ y = {}{}(x); }}\n}}\n",
        number,
        shape,
        shape,
        tensor.quantizer->op,
        list);
}

// The statement about the tensor, or the block that contains it.
Span statement_about(const LoadedModel& model, const ir::Tensor& tensor) {
    const sknd::Package& package = model.package;
    for (const sknd::Definition& definition : package[package.main()].module.definitions) {
        if (!definition.graph || definition.name.text != model.program.name) continue;
        for (const sknd::QuantizeStmt& stmt : definition.quantizes) {
            if (stmt.tensor.text() == tensor.name) return stmt.span;
        }
        const sknd::BlockSpan* const block = definition.block(sknd::BlockKind::Quantize);
        return block ? block->span : definition.name.span;
    }
    return {model.source, 0, 0};
}

// The model's text followed by these graphs. Faults there are reported in the model's text.
class QuantizedText {
public:
    QuantizedText(const LoadedModel& model, std::string text)
        : model_(model), text_(std::move(text)), own_size_(text_.size()) {}

    void add(const ir::Tensor& tensor) {
        tensors_.push_back({text_.size(), &tensor});
        text_ += graph_text(model_.program, tensor, tensors_.size() - 1);
    }
    const std::string& text() const { return text_; }
    size_t count() const { return tensors_.size(); }
    const ir::Tensor& tensor(size_t number) const { return *tensors_[number].tensor; }

    void report(const Diagnostics& found, diag::FileId file, Diagnostics& diag) const {
        for (diag::Diagnostic item : found.items()) {
            if (item.severity != diag::Severity::Error) continue;
            item.span = place(item.span, file);
            for (diag::Note& note : item.notes) note.span = place(note.span, file);
            std::erase_if(item.fixes,
                          [&](const diag::FixIt& fix) { return fix.span.file == file; });
            diag.add(std::move(item));
        }
    }

private:
    Span place(Span span, diag::FileId file) const {
        if (span.file != file) return span;
        if (span.end <= own_size_) return {model_.source, span.begin, span.end};
        const Part* found = &tensors_.front();
        for (const Part& part : tensors_) {
            if (part.begin <= span.begin) found = &part;
        }
        return statement_about(model_, *found->tensor);
    }

    struct Part {
        size_t begin;
        const ir::Tensor* tensor;
    };
    const LoadedModel& model_;
    std::string text_;
    const size_t own_size_;
    std::vector<Part> tensors_;
};

}  // namespace

std::optional<Quantizers> sknd_quantizers(const LoadedModel& model,
                                          const std::string& main_text,
                                          const CheckOptions& options,
                                          Finding& finding) {
    Quantizers result;
    QuantizedText text(model, main_text);
    for (const ir::Tensor& tensor : model.program.tensors) {
        if (tensor.quantizer && tensor::is_real(tensor.dtype)) text.add(tensor);
    }
    if (text.count() == 0) return result;
    Diagnostics diag;
    const diag::FileId file = finding.sources.add(model.file.path + " (quantised)", text.text());
    const sknd::Package package = sknd::load_package(finding.sources,
                                                     file,
                                                     model.file.name,
                                                     module_reader(model.file),
                                                     {.limits = options.parse},
                                                     diag);
    sknd::check_types(package, {.limits = options.eval, .graph = model.program.name}, diag);
    for (size_t i = 0; i < text.count() && !diag.has_errors(); ++i) {
        sknd::ComposeOptions compose = options.graph.compose;
        compose.graph = fmt::format("quantize__{}", i);
        compose.attributes.clear();  // those of the model's own graph
        auto composed = sknd::compose(package, compose, diag);
        if (!composed) break;
        result.emplace(text.tensor(i).name, std::move(*composed));
    }
    text.report(diag, file, finding.diag);
    if (diag.has_errors()) return std::nullopt;
    return result;
}

}  // namespace lemma::model
