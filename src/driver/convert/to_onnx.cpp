// To ONNX: one file with the graph and the elements of its variables.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "driver/convert/convert.h"
#include "driver/onnx/rewrite.h"
#include "onnx/export.h"
#include "onnx/write.h"
#include "tensor/file_io.h"

namespace lemma::driver {

namespace {

// What readers of protocol buffers take.
constexpr size_t kMaxMessageBytes = INT32_MAX;

void warn_of_quantizers(const ir::Program& program, Finding& finding) {
    const auto count = std::ranges::count_if(
        program.tensors, [](const ir::Tensor& tensor) { return tensor.quantizer.has_value(); });
    if (count == 0) return;
    finding.diag.warning(
        Span{},
        DiagKind::NotSupported,
        fmt::format("what the model says about the quantisation of {} tensor{} is left out: ONNX "
                    "has operators for that only",
                    count,
                    count == 1 ? "" : "s"));
}

}  // namespace

Result<void> write_onnx_model(const LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              Finding& finding) {
    const auto wrong = [&]() -> Result<void> {
        finding.status = kWrong;
        return {};
    };
    std::optional<OnnxProgram> rewritten;
    if (needs_rewriting(model.program)) {
        rewritten = rewrite_as_onnx(model.program, finding.diag);
        if (!rewritten) return wrong();
    }
    onnx::ExportOptions how{.opset = options.opset, .data = {}};
    if (options.data) {
        how.data = [&](const ir::Tensor& variable) {
            if (!rewritten) return variable_data(model, variable);
            const ir::TensorId id = rewritten->variables.at(variable.name);
            return variable_data(model, model.program.tensors[id]);
        };
    }
    LEMMA_TRY(
        const std::optional<onnx::Model> written,
        onnx::export_model(rewritten ? rewritten->program : model.program, how, finding.diag));
    if (!written) return wrong();
    warn_of_quantizers(model.program, finding);
    const std::string bytes = onnx::write_model(*written);
    if (bytes.size() > kMaxMessageBytes) {
        return std::unexpected(Error{fmt::format(
            "`{}` would have {} bytes, and a file of ONNX has {} at most: data in files of its own "
            "is not written",
            out,
            bytes.size(),
            kMaxMessageBytes)});
    }
    return tensor::write_file(out, bytes);
}

}  // namespace lemma::driver
