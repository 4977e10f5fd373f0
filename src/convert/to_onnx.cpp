// SPDX-License-Identifier: Apache-2.0
// To ONNX: one file with the graph and the elements of its variables, or one file for each.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "convert/onnx/target.h"
#include "convert/written.h"
#include "onnx/export.h"
#include "onnx/external.h"
#include "onnx/write.h"
#include "tensor/files/file_parts.h"

namespace lemma::convert {

namespace {

// The size limit of protocol buffers.
constexpr size_t kMaxMessageBytes = INT32_MAX;
// Leaves room for the graph.
constexpr int64_t kMaxDataInside = kMaxMessageBytes - (int64_t{1} << 27);

void warn_of_quantizers(const ir::Program& program, model::Finding& finding) {
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

// Data goes to a second file if it does not fit into a message, or if the options ask for it.
Result<void> write_files(onnx::Model& model,
                         const std::string& out,
                         const ConvertOptions& options,
                         Output& output) {
    const std::string name = std::filesystem::path(out).filename();
    if (options.external_data || onnx::tensor_bytes(model) > kMaxDataInside) {
        const std::string data = name + ".data";
        const auto parts = onnx::move_out(data, model);
        LEMMA_TRY(parts.empty() ? Result<void>()
                                : tensor::write_file_parts(output.path_of(data), parts));
    }
    const std::string bytes = onnx::write_model(model);
    if (bytes.size() > kMaxMessageBytes) {
        return std::unexpected(Error{fmt::format(
            "`{}` would have {} bytes without its data, and a file of ONNX has {} at most",
            out,
            bytes.size(),
            kMaxMessageBytes)});
    }
    return output.write(name, bytes);
}

}  // namespace

Result<void> write_onnx_model(const model::LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              model::Finding& finding) {
    const auto wrong = [&]() -> Result<void> {
        finding.status = model::kWrong;
        return {};
    };
    const OnnxTarget target;
    std::optional<RewrittenProgram> rewritten;
    if (needs_rewriting(model.program, target)) {
        rewritten = rewrite(model.program, target, finding.diag);
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
        std::optional<onnx::Model> written,
        onnx::export_model(rewritten ? rewritten->program : model.program, how, finding.diag));
    if (!written) return wrong();
    warn_of_quantizers(model.program, finding);
    LEMMA_TRY(Output output,
              Output::create(out, {.kind = OutputKind::File, .overwrite = options.overwrite}));
    LEMMA_TRY(write_files(*written, out, options, output));
    return finish_output(model, options, std::move(output), finding);
}

}  // namespace lemma::convert
