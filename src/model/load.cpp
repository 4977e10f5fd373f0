// SPDX-License-Identifier: Apache-2.0
// The pipeline of a model, for all formats on one page:
//
//     find → read → check → compose → ir::Program → data
//
// Each format has its steps in a folder: sknd/model.h, nnef1/model.h and onnx/model.h. `load_model`
// runs the whole pipeline. `check_model` checks everything and keeps nothing.
#include "model/load.h"

#include <fmt/format.h>

#include "ir/text/read.h"
#include "ir/verify/verify.h"
#include "model/checked_model.h"
#include "model/dump.h"
#include "model/files.h"
#include "model/nnef1/labels.h"
#include "model/nnef1/model.h"
#include "model/nnef1/quantizers.h"
#include "model/onnx/model.h"
#include "model/retype_reals.h"
#include "model/sknd/model.h"
#include "sknd/types/unused.h"

namespace lemma::model {

namespace {

// Empty after a fault inside the model, which is reported.
using Loaded = Result<std::optional<LoadedModel>>;

// After a stage of loading: found, checked, composed, and its data checked.
enum class Stage : uint64_t { Found, Checked, Composed, Complete };
Result<void> after(Stage stage, const LoadOptions& options) {
    const RunControl* const control = options.control;
    const auto all = static_cast<uint64_t>(Stage::Complete);
    if (control && control->stop_after("load", static_cast<uint64_t>(stage), all))
        return std::unexpected(control->error());
    return {};
}

// ---- SkriptND -----------------------------------------------------------------------------------

Loaded load_sknd(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    LEMMA_TRY(SkndModel model, check_sknd(file, options.check, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    LEMMA_TRY(after(Stage::Checked, options));
    auto program = compose_graph(model, options.check, finding);
    if (!program) return std::nullopt;
    LEMMA_TRY(after(Stage::Composed, options));
    if (options.data != DataMode::Ignore)
        DataCheck(file, model.package, options.data, finding.diag).check(*program);
    if (finding.diag.has_errors()) return std::nullopt;
    return with_data(std::move(model), std::move(*program), options, finding.sources);
}

Result<void> check_sknd_model(const ModelFile& file,
                              const LoadOptions& options,
                              Finding& finding,
                              CheckedModel& checked) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(checked.sknd, check_sknd(file, check, finding.sources, finding.diag));
    const SkndModel& model = *checked.sknd;
    LEMMA_TRY(after(Stage::Checked, options));
    if (!check.syntax_only && !check.types_only && !finding.diag.has_errors())
        checked.programs = check_graphs(model, check, finding);
    if (!check.syntax_only && !finding.diag.has_errors())
        sknd::report_unused(model.package, finding.diag);
    finding.dump = dump(check.dump, finding.sources, model);
    return {};
}

// ---- NNEF 1.0 -----------------------------------------------------------------------------------

Loaded load_nnef1(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(auto model, check_nnef1(file, check, finding.sources, finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    LEMMA_TRY(after(Stage::Checked, options));
    Nnef1Library library(model->document, check, finding.sources, finding.diag);
    nnef1::Imported imported = compose_nnef1(*model, library, check, finding);
    if (!imported.program) return std::nullopt;
    LEMMA_TRY(after(Stage::Composed, options));
    LabelFiles files(file, check.dialect);
    CheckOptions data = check;
    data.data = options.data;
    if (options.data != DataMode::Ignore)
        files.check(imported, data, std::nullopt, finding.diag);  // the run reads the items
    if (finding.diag.has_errors()) return std::nullopt;
    return with_data(
        std::move(model), std::move(library), std::move(imported), std::move(files), options);
}

Result<void> check_nnef1_model(const ModelFile& file,
                               const LoadOptions& options,
                               Finding& finding,
                               CheckedModel& checked) {
    const CheckOptions& check = options.check;
    LEMMA_TRY(checked.nnef1, check_nnef1(file, check, finding.sources, finding.diag));
    const Nnef1Model* const model = checked.nnef1.get();
    if (check.syntax_only || check.types_only || finding.diag.has_errors()) return {};
    LEMMA_TRY(after(Stage::Checked, options));
    const Nnef1Library library(model->document, check, finding.sources, finding.diag);
    if (finding.diag.has_errors()) return {};
    checked.imported = import_nnef1(*model, library, check, finding.diag);
    const nnef1::Imported& imported = checked.imported;
    // Reports quantisers that do not fit.
    if (imported.program) nnef1_quantizers(*model, *imported.program, check, finding);
    if (imported.custom.valid()) {
        finding.remarks.push_back({imported.custom,
                                   fmt::format("`{}` has no body: shapes behind it are not checked",
                                               imported.custom_name)});
    }
    const bool required = check.data == DataMode::Require;
    LabelFiles(file, check.dialect)
        .check(
            imported, check, required ? std::optional(options.source) : std::nullopt, finding.diag);
    return {};
}

// ---- ONNX ---------------------------------------------------------------------------------------

Loaded load_onnx_model(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    LEMMA_TRY(const OnnxFile onnx, open_onnx(file));
    const bool stores = may_be_stored(options, finding.sources);
    if (stores) {
        if (auto stored = find_stored(file, onnx, options, finding.sources)) {
            LEMMA_TRY(after(Stage::Composed, options));
            retype_reals(*stored, options.check.graph.compose.real);
            return stored;
        }
    }
    LEMMA_TRY(OnnxModel model,
              load_onnx(file,
                        onnx,
                        options.check,
                        {options.inputs, options.read_input},
                        options.values,
                        finding.sources,
                        finding.diag));
    if (finding.diag.has_errors()) return std::nullopt;
    if (!model.imported.program) {
        return std::unexpected(
            Error{undecided_text(model.imported) +
                  ": give them with `-i NAME=FILE` or, in the library, with `values`"});
    }
    LEMMA_TRY(after(Stage::Composed, options));
    // Warnings are not kept, and must not be lost.
    if (stores && finding.diag.items().empty()) store(model, onnx, options, finding.sources);
    LoadedModel loaded = with_data(file, onnx, std::move(model));
    retype_reals(loaded, options.check.graph.compose.real);
    return loaded;
}

Result<void> check_onnx_model(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    if (options.profile.sonnx) return check_sonnx(file, options, finding);
    LEMMA_TRY(const OnnxFile onnx, open_onnx(file));
    LEMMA_TRY(
        const OnnxModel model,
        load_onnx(file, onnx, options.check, {}, options.values, finding.sources, finding.diag));
    if (!model.imported.undecided.empty() && !finding.diag.has_errors()) {
        finding.remarks.push_back(
            {{model.file, 0, 0},
             undecided_text(model.imported) + ": what depends on them is not checked"});
    }
    if (options.check.data != DataMode::Ignore) check_onnx_data(model, finding.diag);
    return {};
}

// ---- All formats --------------------------------------------------------------------------------

Loaded load(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    LEMMA_TRY(after(Stage::Found, options));
    switch (file.format) {
        case Format::SkriptND:
            return load_sknd(file, options, finding);
        case Format::Nnef1:
            return load_nnef1(file, options, finding);
        case Format::Onnx:
            return load_onnx_model(file, options, finding);
    }
    return std::nullopt;
}

}  // namespace

std::optional<LoadedModel> load_model(const std::string& argument,
                                      const LoadOptions& options,
                                      Finding& finding) {
    return load_model(find_model(argument, options.memory, options.source), options, finding);
}

std::optional<LoadedModel> load_model(const Result<ModelFile>& file,
                                      const LoadOptions& options,
                                      Finding& finding) {
    Loaded model = file ? load(*file, options, finding) : std::unexpected(file.error());
    if (!model) {
        finding.fail(std::move(model).error());
        return std::nullopt;
    }
    if (!*model && finding.status == kGood) finding.status = kWrong;
    return std::move(*model);
}

Result<void> check_model(const std::string& argument,
                         const LoadOptions& options,
                         Finding& finding) {
    LEMMA_TRY(const ModelFile file, find_model(argument, options.memory, options.source));
    return check_model(file, options, finding);
}

Result<void> check_model(const ModelFile& file, const LoadOptions& options, Finding& finding) {
    CheckedModel checked;
    return check_model(file, options, finding, checked);
}

Result<void> check_model(const ModelFile& file,
                         const LoadOptions& options,
                         Finding& finding,
                         CheckedModel& checked) {
    if (options.profile.sonnx && file.format != Format::Onnx)
        return std::unexpected(Error{"the profile `sonnx` is for ONNX models"});
    switch (file.format) {
        case Format::SkriptND:
            return check_sknd_model(file, options, finding, checked);
        case Format::Nnef1:
            return check_nnef1_model(file, options, finding, checked);
        case Format::Onnx:
            return check_onnx_model(file, options, finding);
    }
    return {};
}

std::optional<ir::Program> load_program(const std::string& path, Finding& finding) {
    auto text = read_text(path, FileKind::Any);
    if (!text) {
        finding.fail(text.error());
        return std::nullopt;
    }
    const diag::FileId file = finding.sources.add(path, std::move(*text));
    auto program = ir::read_program(finding.sources, file, finding.diag);
    if (program) {
        for (std::string& problem : ir::verify(*program)) {
            finding.diag.error(Span{file, 0, 0}, DiagKind::BadProgram, std::move(problem));
        }
    }
    if (!finding.diag.has_errors()) return program;
    finding.status = kWrong;
    return std::nullopt;
}

}  // namespace lemma::model
