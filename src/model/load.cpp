#include "model/load.h"

#include "ir/text/read.h"
#include "ir/verify/verify.h"
#include "model/files.h"

namespace lemma::model {

std::optional<LoadedModel> load_model(const std::string& argument,
                                      const LoadOptions& options,
                                      Finding& finding) {
    const auto fail = [&](Error error) {
        finding.fail(std::move(error));
        return std::nullopt;
    };
    const auto file = find_model(argument, options.source);
    if (!file) return fail(file.error());
    Result<std::optional<LoadedModel>> model;
    switch (file->format) {
        case Format::SkriptND:
            model = load_sknd(*file, options, finding);
            break;
        case Format::Nnef1:
            model = load_nnef1(*file, options, finding);
            break;
        case Format::Onnx:
            model = load_onnx_model(*file, options, finding);
            break;
    }
    if (!model) return fail(model.error());
    if (!*model && finding.status == kGood) finding.status = kWrong;
    return std::move(*model);
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

Result<void> check_model(const std::string& argument,
                         const LoadOptions& options,
                         Finding& finding) {
    LEMMA_TRY(const ModelFile file, find_model(argument, options.source));
    if (options.profile.sonnx && file.format != Format::Onnx)
        return std::unexpected(Error{"the profile `sonnx` is for ONNX models"});
    switch (file.format) {
        case Format::SkriptND:
            return check_sknd_model(file, options, finding);
        case Format::Nnef1:
            return check_nnef1_model(file, options, finding);
        case Format::Onnx:
            return check_onnx_model(file, options, finding);
    }
    return {};
}

}  // namespace lemma::model
