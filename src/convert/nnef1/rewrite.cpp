#include "convert/nnef1/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/nnef1/model.h"
#include "sknd/modules/embedded.h"

namespace lemma::convert {

namespace {

using Variable = nnef1::ExportedGraph::Variable;

constexpr std::string_view kHead =
    "version 1.0;\n"
    "extension KHR_enable_fragment_definitions;\n"
    "extension KHR_enable_operator_expressions;\n";

nnef1::Document parse_library(diag::SourceMap& sources,
                              const std::string& name,
                              std::string_view text) {
    Diagnostics diag;
    auto document = nnef1::parse_library(sources, name, text, diag);
    LEMMA_CHECK(!diag.has_errors());
    return document;
}

nnef1::Document parse_library(diag::SourceMap& sources, const std::string& name) {
    return parse_library(sources, name, model::nnef1_text(name));
}

// The fragments of all files, which call each other.
std::string translations() {
    std::string text;
    for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) {
        if (file.path.starts_with("nnef1/translations/")) text += file.text;
    }
    return text;
}

// The limits are those of models that were read; ours come from one.
model::CheckOptions no_limits() {
    model::CheckOptions options;
    options.eval.max_pack_length = SIZE_MAX / 4;
    options.eval.max_string_bytes = SIZE_MAX / 4;
    options.eval.max_work = SIZE_MAX / 4;
    return options;
}

class Rewriter {
public:
    Rewriter(const ir::Program& program, const RewriteOptions& options, Diagnostics& diag)
        : program_(program),
          options_(options),
          diag_(diag),
          standard_(parse_library(sources_, "standard.nnef")),
          translations_(parse_library(sources_, "translations", translations())),
          operations_(standard_, translations_, nnef1::Dialect::Strict, trouble_) {
        LEMMA_CHECK(!trouble_.has_errors());
    }

    std::optional<RewrittenModel> run();

private:
    std::optional<RewrittenModel> write(const ir::Program& program,
                                        const nnef1::ExportedGraph& graph);
    std::string fragments();
    std::optional<nnef1::Imported> expand(const nnef1::ExportedGraph& draft);
    void report(const nnef1::ExportedGraph& draft, size_t graph_begin);
    std::optional<RewrittenModel> finish(const nnef1::ExportedGraph& draft,
                                         nnef1::Imported expanded);

    const ir::Program& program_;
    const RewriteOptions& options_;
    Diagnostics& diag_;
    diag::SourceMap sources_;
    Diagnostics trouble_;
    nnef1::Document standard_;
    nnef1::Document translations_;
    nnef1::Operations operations_;
    std::set<std::string_view> taken_apart_;
};

std::optional<RewrittenModel> Rewriter::run() {
    auto draft = nnef1::export_graph(program_, operations_, options_.names, diag_);
    if (!draft) return std::nullopt;
    if (draft->translated || options_.flat) {
        auto expanded = expand(*draft);
        return expanded ? finish(*draft, std::move(*expanded)) : std::nullopt;
    }
    return write(program_, *draft);
}

std::optional<RewrittenModel> Rewriter::write(const ir::Program& program,
                                              const nnef1::ExportedGraph& graph) {
    const size_t errors = diag_.error_count();
    auto quant = nnef1::export_quantizers(program, graph.names, operations_, diag_);
    std::string fragments;
    for (const std::string& name : quant.fragments) {
        const nnef1::Signature* const found = operations_.find(name);
        LEMMA_CHECK(found);
        fragments += fmt::format("{}\n\n", sources_.text(found->fragment->span));
    }
    auto text = nnef1::document_text(graph.text, fragments, diag_);
    if (!text || diag_.error_count() > errors) return std::nullopt;
    return RewrittenModel{
        .graph = std::move(*text), .quant = std::move(quant.text), .variables = graph.variables};
}

// The texts of all fragments that may be needed.
std::string Rewriter::fragments() {
    std::string text = translations();
    if (!options_.flat) return text;
    const nnef1::Document compounds = parse_library(sources_, "compounds.nnef");
    for (const nnef1::Fragment& fragment : compounds.fragments) {
        if (options_.keep.contains(std::string(fragment.name.text))) continue;
        text += fmt::format("{}\n", sources_.text(fragment.span));
        taken_apart_.insert(fragment.name.text);
    }
    return text;
}

// Operations that are taken apart are fragments of the document, not of the specification.
std::optional<nnef1::Imported> Rewriter::expand(const nnef1::ExportedGraph& draft) {
    std::string text = fmt::format("{}{}", kHead, fragments());
    const size_t graph_begin = text.size();
    text += draft.text;
    const diag::FileId file = sources_.add("graph.nnef", std::move(text));
    nnef1::ParseOptions parse;
    parse.limits.max_tokens = SIZE_MAX;
    const nnef1::Document document = nnef1::parse_document(sources_, file, parse, trouble_);
    nnef1::Document standard = parse_library(sources_, "standard.nnef");
    std::erase_if(standard.fragments, [&](const nnef1::Fragment& fragment) {
        return taken_apart_.contains(fragment.name.text);
    });
    const nnef1::Operations operations(standard, document, nnef1::Dialect::Strict, trouble_);
    if (!trouble_.has_errors()) {
        const auto checked =
            nnef1::check_document(document, operations, nnef1::Dialect::Strict, trouble_);
        if (!trouble_.has_errors()) {
            const model::CheckOptions options = no_limits();
            const model::Nnef1Library library(options, sources_, trouble_);
            Diagnostics calls;
            const auto builder = library.builder(calls);
            nnef1::Imported imported = nnef1::import_document({document, operations, checked},
                                                              model::import_options(options),
                                                              *builder,
                                                              calls,
                                                              trouble_);
            if (imported.program && !trouble_.has_errors()) return imported;
        }
    }
    report(draft, graph_begin);
    return std::nullopt;
}

// What is wrong with the draft is told about the operations that its lines come from.
void Rewriter::report(const nnef1::ExportedGraph& draft, size_t graph_begin) {
    for (const diag::Diagnostic& item : trouble_.items()) {
        if (item.severity != diag::Severity::Error) continue;
        std::vector<Span> places = {item.span};
        for (const diag::Note& note : item.notes) places.push_back(note.span);
        ir::OpId op;
        for (const Span place : places) {
            if (!place.valid() || place.begin < graph_begin) continue;
            const std::string_view before =
                std::string_view(draft.text)
                    .substr(0, std::min(draft.text.size(), place.begin - graph_begin));
            const auto line = static_cast<size_t>(std::ranges::count(before, '\n'));
            if (line < draft.lines.size()) op = draft.lines[line];
        }
        const auto* const operation = op.valid() ? &program_.operations[op] : nullptr;
        auto told = diag_.error(
            operation ? operation->span : Span{},
            DiagKind::NotSupported,
            operation
                ? fmt::format("`{}` cannot be written as NNEF 1.0: {}", operation->op, item.message)
                : fmt::format("the model cannot be written as NNEF 1.0: {}", item.message));
        if (operation && !operation->label.empty()) {
            told.note(fmt::format("in the operation `{}`", operation->label));
        }
    }
}

std::optional<RewrittenModel> Rewriter::finish(const nnef1::ExportedGraph& draft,
                                               nnef1::Imported expanded) {
    ir::Program program = std::move(*expanded.program);
    program.name = program_.name;
    std::map<std::string, std::string> labels;
    for (const nnef1::StoredVariable& variable : expanded.variables) {
        labels[program.tensors[variable.tensor].name] = variable.label;
    }
    for (const auto& [name, id] : draft.names) {
        const auto found = expanded.tensors.find(name);
        if (found == expanded.tensors.end()) continue;
        program.tensors[found->second].quantizer = program_.tensors[id].quantizer;
    }
    const nnef1::ExportOptions names{[&](const ir::Tensor& tensor) { return labels[tensor.name]; }};
    auto graph = nnef1::export_graph(program, operations_, names, diag_);
    if (!graph) return std::nullopt;
    auto result = write(program, *graph);
    if (!result) return std::nullopt;
    std::map<std::string, ir::TensorId> by_label;
    for (const Variable& variable : draft.variables) by_label[variable.label] = variable.tensor;
    for (Variable& variable : result->variables) {
        const auto found = by_label.find(variable.label);
        LEMMA_CHECK(found != by_label.end());
        variable.tensor = found->second;
    }
    return result;
}

}  // namespace

std::set<std::string> compound_operations() {
    diag::SourceMap sources;
    std::set<std::string> names;
    for (const nnef1::Fragment& fragment : parse_library(sources, "compounds.nnef").fragments) {
        names.emplace(fragment.name.text);
    }
    return names;
}

std::optional<RewrittenModel> rewrite_as_nnef1(const ir::Program& program,
                                               const RewriteOptions& options,
                                               Diagnostics& diag) {
    return Rewriter(program, options, diag).run();
}

}  // namespace lemma::convert
