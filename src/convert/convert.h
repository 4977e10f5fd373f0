// SPDX-License-Identifier: Apache-2.0
// convert/convert.h — a loaded model written in another format. Each target has a file here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/load.h"
#include "onnx/export.h"
#include "onnx/validate.h"

namespace lemma::convert {

// The ONNX operator sets that can be written.
inline constexpr int64_t kOldestOpset = onnx::kOldestWritten;
inline constexpr int64_t kNewestOpset = onnx::kNewestOpset;

enum class OutputFormat {
    ByName,
    SkriptND,
    Nnef1,
    Onnx
};  // ByName: the name of the output says it

struct ConvertOptions {
    bool flat = false;              // write compound operations as primitive ones where possible
    std::vector<std::string> keep;  // compound operations that `flat` keeps
    bool data = true;               // write the data of the variables
    int64_t opset = 0;              // ONNX opset; 0: the lowest that can express the model
    bool external_data = false;     // ONNX: keep data in a second file, whatever its size
    bool overwrite = false;         // replace existing files
    // Sees the complete files in their staging folder. If it refuses them, nothing is kept.
    std::function<bool(const std::string& path, model::Finding& finding)> accept;
};

// Loads a model and writes it in another format: the work of `lemma convert`. `finding` has the
// status and the problems.
struct ConvertRequest {
    std::string model;
    std::string out;  // a folder or an archive; ONNX: a file
    OutputFormat format = OutputFormat::ByName;
    model::LoadOptions load;
    ConvertOptions options;
};
void convert_model(const ConvertRequest& request, model::Finding& finding);

// The two halves of it, for callers that change the model in between. The format by the request;
// an error if its name says none, or if `out` cannot be written.
Result<OutputFormat> check_output(const ConvertRequest& request);
// Writes a loaded model; `request.model` and `request.load` do not count.
Result<void> write_model(model::LoadedModel& model,
                         const ConvertRequest& request,
                         model::Finding& finding);

// The steps of a conversion. Reports to `finding` what the format cannot express. An error is a
// problem with the output.
Result<void> write_sknd_model(const model::LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              model::Finding& finding);

Result<void> write_nnef1_model(const model::LoadedModel& model,
                               const std::string& out,
                               const ConvertOptions& options,
                               model::Finding& finding);

Result<void> write_onnx_model(const model::LoadedModel& model,
                              const std::string& out,
                              const ConvertOptions& options,
                              model::Finding& finding);

// The data of a variable. If it is missing, the error names the variable.
Result<tensor::Tensor> variable_data(const model::LoadedModel& model, const ir::Tensor& variable);
// Gives operations inside standard operators the places of the user's calls. Reports then name
// those calls.
void place_at_calls(model::LoadedModel& model);
// Warns about element types that SkriptND cannot keep: it has one type for real numbers.
void warn_of_precision(const ir::Program& program, model::Finding& finding);

}  // namespace lemma::convert
