// SPDX-License-Identifier: Apache-2.0
#include "model/nnef1/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/nnef1/labels.h"
#include "nnef1/syntax/parser.h"
#include "nnef1/syntax/quant_file.h"
#include "sknd/compose/calls.h"
#include "sknd/modules/embedded.h"

namespace lemma::model {

namespace {

nnef1::ParseOptions parse_options(const CheckOptions& options) {
    nnef1::ParseOptions parse{.dialect = options.dialect};
    parse.limits.max_depth = options.parse.max_depth;
    return parse;
}

// `graph.quant` beside `graph.nnef`.
std::string quant_name(const ModelFile& model) { return model.name + ".quant"; }

// Whether the document has the fragment that our writer adds for SkriptND quantisers.
bool has_away_quantizer(const nnef1::Document& document, const diag::SourceMap& sources) {
    const auto letters = [](std::string_view text) {
        std::string result(text);
        std::erase_if(result, [](char c) { return c == ' ' || c == '\n' || c == '\r'; });
        return result;
    };
    const std::string_view library = nnef1_text("translations/quant.nnef");
    const size_t begin = library.find(fmt::format("fragment {}(", nnef1::kAwayQuantizer));
    LEMMA_CHECK(begin != std::string_view::npos);
    const std::string wanted = letters(library.substr(begin, library.find('}', begin) + 1 - begin));
    return std::ranges::any_of(document.fragments, [&](const nnef1::Fragment& fragment) {
        return fragment.name.text == nnef1::kAwayQuantizer &&
               letters(sources.text(fragment.span)) == wanted;
    });
}

// Whether `--graph` and `-a` fit: an NNEF 1.0 model has one graph, without attributes.
bool fits_command_line(const Nnef1Model& model, const GraphOptions& options, Diagnostics& diag) {
    const nnef1::Name& name = model.document.graph->name;
    if (!options.graph.empty() && options.graph != name.text) {
        diag.error(name.span,
                   DiagKind::UndeclaredName,
                   fmt::format("no graph `{}`, the model has `{}`", options.graph, name.text));
        return false;
    }
    if (options.attributes.empty()) return true;
    diag.error(
        name.span,
        DiagKind::NoAttribute,
        fmt::format("`-a {}`: graphs of NNEF 1.0 have no attributes", options.attributes.front()));
    return false;
}

}  // namespace

std::string_view nnef1_text(std::string_view name) {
    const std::string path = fmt::format("nnef1/{}", name);
    for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) {
        if (file.path == path) return file.text;
    }
    LEMMA_CHECK(false);
    return "";
}

nnef1::ImportOptions import_options(const CheckOptions& options) {
    nnef1::ImportOptions result{.dialect = options.dialect,
                                .scalar = options.graph.compose.real,
                                .integer = options.graph.compose.integer};
    result.limits.max_array_length = options.eval.max_pack_length;
    result.limits.max_string_bytes = options.eval.max_string_bytes;
    const auto most = static_cast<size_t>(INT64_MAX / 2);
    result.limits.max_work = static_cast<int64_t>(std::min(options.eval.max_work, most));
    result.limits.max_call_depth = options.graph.compose.max_call_depth;
    return result;
}

Result<std::unique_ptr<Nnef1Model>> check_nnef1(const ModelFile& file,
                                                const CheckOptions& options,
                                                diag::SourceMap& sources,
                                                Diagnostics& diag) {
    LEMMA_TRY(std::string text, read_main(file));
    auto model = std::make_unique<Nnef1Model>();
    model->model = file;
    model->file = sources.add(file.path, std::move(text));
    const nnef1::ParseOptions parse = parse_options(options);
    model->document = nnef1::parse_document(sources, model->file, parse, diag);
    nnef1::QuantFile quant;
    const std::string name = quant_name(file);
    if (file.source->has(name)) {
        LEMMA_TRY(std::string lines, file.source->read_all(name, diag::kMaxSourceBytes));
        const diag::FileId id = sources.add(file.source->path_of(name), std::move(lines));
        quant = nnef1::parse_quant_file(sources, id, parse, diag);
    }
    if (options.syntax_only || diag.has_errors() || !model->document.graph) return model;
    const std::string_view standard = nnef1_text("standard.nnef");
    const bool tract = options.dialect == nnef1::Dialect::Tract;
    if (!tract) {
        model->standard =
            nnef1::parse_used_standard(sources, standard, model->document, quant, diag);
    } else {  // its operations are mapped to others
        model->standard = nnef1::parse_standard(sources, standard, diag);
        model->tract = nnef1::parse_library(sources, "tract.nnef", nnef1_text("tract.nnef"), diag);
    }
    model->operations = std::make_unique<nnef1::Operations>(
        model->standard, model->document, options.dialect, diag, tract ? &model->tract : nullptr);
    model->checked =
        nnef1::check_document(model->document, *model->operations, options.dialect, diag);
    model->quantizers = nnef1::check_quantization(
        quant, model->document, *model->operations, import_options(options), diag);
    for (nnef1::TensorQuantizer& quantizer : model->quantizers) {
        if (quantizer.op != nnef1::kAwayQuantizer) continue;
        quantizer.rounds_away = has_away_quantizer(model->document, sources);
    }
    return model;
}

namespace {

// The operations that the document can call. `unsqueeze`, `copy` and `add` implement other
// notations. If the document has any operator, all operators are included: they are few.
std::vector<std::string> called_operations(const nnef1::Document& document) {
    std::vector<std::string> names = {"unsqueeze", "copy"};
    bool operators = false;
    for (const nnef1::Expr& expr : document.exprs) {
        if (const nnef1::Invocation* call = document.invocation(expr)) {
            names.emplace_back(call->name.view());
            if (call->name == "add_n") names.emplace_back("add");
            if (call->name == "round") names.emplace_back("round_half_away");  // by dialect
            if (call->name == "cast") names.emplace_back("cast_by_cutting");
        }
        operators = operators || std::holds_alternative<nnef1::Unary>(expr.node) ||
                    std::holds_alternative<nnef1::Binary>(expr.node);
    }
    if (operators) {
        names.insert(names.end(), {"neg", "not"});
        names.insert(names.end(), nnef1::kBinaryFragments.begin(), nnef1::kBinaryFragments.end());
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace

Nnef1Library::Nnef1Library(const CheckOptions& options, diag::SourceMap& sources, Diagnostics& diag)
    : options_(options.graph.compose), package_(sknd::load_library(sources, "nnef1", diag)) {
    options_.limits = options.eval;
}

Nnef1Library::Nnef1Library(const nnef1::Document& document,
                           const CheckOptions& options,
                           diag::SourceMap& sources,
                           Diagnostics& diag)
    : options_(options.graph.compose),
      // The operations of tract are mapped to others.
      package_(options.dialect == nnef1::Dialect::Tract
                   ? sknd::load_library(sources, "nnef1", diag)
                   : sknd::load_library(sources, "nnef1", called_operations(document), diag)) {
    options_.limits = options.eval;
}

std::unique_ptr<ir::CallBuilder> Nnef1Library::builder(Diagnostics& calls) const {
    return sknd::make_call_builder(package_, options_, calls);
}

nnef1::Imported import_nnef1(const Nnef1Model& model,
                             const Nnef1Library& library,
                             const CheckOptions& options,
                             Diagnostics& diag) {
    Diagnostics calls;
    const auto builder = library.builder(calls);
    const nnef1::Model parts{model.document, *model.operations, model.checked};
    nnef1::ImportOptions how = import_options(options);
    std::optional<LabelFiles> files;
    if (options.dialect == nnef1::Dialect::Tract) {
        files.emplace(model.model, options.dialect);
        how.stored_kind = [&](const std::string& label) { return files->kind(label); };
    }
    nnef1::Imported imported = nnef1::import_document(parts, how, *builder, calls, diag);
    if (!imported.program) return imported;
    for (const nnef1::TensorQuantizer& quantizer : model.quantizers) {
        const auto found = imported.tensors.find(quantizer.tensor);
        if (found == imported.tensors.end()) continue;
        imported.program->tensors[found->second].quantizer = nnef1::to_quantizer(quantizer);
    }
    return imported;
}

nnef1::Imported compose_nnef1(const Nnef1Model& model,
                              const Nnef1Library& library,
                              const CheckOptions& options,
                              Finding& finding) {
    Diagnostics& diag = finding.diag;
    if (!fits_command_line(model, options.graph, diag)) {
        finding.status = kUnusable;
        return {};
    }
    if (diag.has_errors()) return {};
    nnef1::Imported imported = import_nnef1(model, library, options, diag);
    if (imported.custom.valid() && !diag.has_errors()) {
        diag.error(imported.custom,
                   DiagKind::NoOperator,
                   fmt::format("`{}` has no body, so nobody knows what it computes",
                               imported.custom_name));
    }
    return imported;
}

}  // namespace lemma::model
