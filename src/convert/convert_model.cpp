// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "convert/convert.h"
#include "convert/output.h"
#include "tensor/archive/archive.h"

namespace lemma::convert {

namespace {

Result<OutputFormat> format_of(const ConvertRequest& request) {
    if (request.format != OutputFormat::ByName) return request.format;
    const std::filesystem::path path(request.out);
    const bool packed = tensor::is_archive_name(request.out);
    const std::string name = packed ? path.stem().string() : path.filename().string();
    // `net.sknd`, or packed `net.sknd.tgz`.
    for (const auto& [ending, format] : {std::pair(".sknd", OutputFormat::SkriptND),
                                         std::pair(".nnef", OutputFormat::Nnef1),
                                         std::pair(".onnx", OutputFormat::Onnx)}) {
        if (name.ends_with(ending)) return format;
    }
    return std::unexpected(Error{
        fmt::format("`{}` does not say which format to write: give it with --to", request.out)});
}

}  // namespace

Result<OutputFormat> check_output(const ConvertRequest& request) {
    LEMMA_TRY(const OutputFormat format, format_of(request));
    const OutputKind kind =
        format == OutputFormat::Onnx ? OutputKind::File : folder_or_archive(request.out);
    LEMMA_TRY(check_target(request.out, kind, request.options.overwrite));
    return format;
}

Result<void> write_model(model::LoadedModel& model,
                         const ConvertRequest& request,
                         model::Finding& finding) {
    LEMMA_TRY(const OutputFormat format, check_output(request));
    place_at_calls(model);
    if (!model.deciding.empty()) {
        finding.diag.warning(Span{},
                             DiagKind::NotSupported,
                             fmt::format("the values of `{}` decide shapes, so the model is "
                                         "converted for the values that are given",
                                         fmt::join(model.deciding, "`, `")));
    }
    if (format == OutputFormat::SkriptND) warn_of_precision(model.program, finding);
    switch (format) {
        case OutputFormat::ByName:
        case OutputFormat::SkriptND:
            return write_sknd_model(model, request.out, request.options, finding);
        case OutputFormat::Nnef1:
            return write_nnef1_model(model, request.out, request.options, finding);
        case OutputFormat::Onnx:
            return write_onnx_model(model, request.out, request.options, finding);
    }
    return {};
}

namespace {

Result<void> convert(const ConvertRequest& request, model::Finding& finding) {
    LEMMA_TRY(check_output(request));
    auto model = model::load_model(request.model, request.load, finding);
    if (!model) return {};
    return write_model(*model, request, finding);
}

}  // namespace

void convert_model(const ConvertRequest& request, model::Finding& finding) {
    if (const auto done = convert(request, finding); !done) finding.fail(done.error());
}

}  // namespace lemma::convert
