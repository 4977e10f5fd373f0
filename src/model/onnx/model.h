// SPDX-License-Identifier: Apache-2.0
// model/onnx/model.h — the steps of an ONNX model: it is read, checked and imported with the
// definitions of its operators; then the program gets the data of its variables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/loaded_model.h"
#include "model/options.h"
#include "onnx/import.h"

namespace lemma::model {

struct OnnxModel {
    diag::FileId file;
    onnx::Model model;
    onnx::Imported imported;  // without a program: a reported fault, or undecided shapes
    tensor::ReadExternal read_external;
    sknd::Package package;  // the definitions of its operators
};

// `inputs` are files as for `-i`, and `values` are tensors by the names of inputs. Both may decide
// shapes. An error concerns the file itself; faults in its contents go to `diag`.
Result<OnnxModel> load_onnx(const ModelFile& model,
                            const CheckOptions& options,
                            const GivenFiles& inputs,
                            const std::map<std::string, tensor::Tensor>& values,
                            diag::SourceMap& sources,
                            Diagnostics& diag);

// Reads the data of all variables once, to report faults.
void check_onnx_data(const OnnxModel& loaded, Diagnostics& diag);

// "the values of the inputs `shape` decide shapes, …"
std::string undecided_text(const onnx::Imported& imported);

// The imported program, with its initialisers.
LoadedModel with_data(const ModelFile& file, OnnxModel model);

// Checks the rules of the safety profile; writes its report and the explicit form on request.
Result<void> check_sonnx(const ModelFile& file, const LoadOptions& options, Finding& finding);

}  // namespace lemma::model
