// convert/convert.h — a loaded model written in another format. Each target has a file here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/load.h"

namespace lemma::convert {

struct ConvertOptions {
    bool flat = false;              // no compound operations where primitive ones can say it
    std::vector<std::string> keep;  // compound operations that stay as they are with `flat`
    bool data = true;               // write the data of the variables
    int64_t opset = 0;              // of ONNX; 0: the lowest that says what the model needs
    bool external_data = false;     // of ONNX: data in a file beside the model, as if it were large
    bool overwrite = false;         // files that are there already
};

// What the format cannot express is reported to the finding; an error is trouble with the output.
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

// Data of a variable that the model must have; an error names the variable without.
Result<tensor::Tensor> variable_data(const model::LoadedModel& model, const ir::Tensor& variable);
// Moves the operations inside of standard operators to the calls that the user wrote, so that
// reports name these.
void place_at_calls(model::LoadedModel& model);
// SkriptND has one type for real numbers: what it cannot keep is told.
void warn_of_precision(const ir::Program& program, model::Finding& finding);

}  // namespace lemma::convert
