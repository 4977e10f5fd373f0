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

// A file of a model, before its contents are read.
struct OnnxFile {
    tensor::SharedBytes bytes;
    std::vector<std::string_view> parts;  // all but the elements of large tensors
    tensor::ReadExternal read_external;
};
Result<OnnxFile> open_onnx(const ModelFile& model);

struct OnnxModel {
    diag::FileId file;
    onnx::Model model;
    onnx::Imported imported;             // without a program: a reported fault, or undecided shapes
    tensor::ReadExternal read_external;  // of data in other files
    sknd::Package package;               // the definitions of its operators
};

// `inputs` are files as for `-i`, and `values` are tensors by the names of inputs. Both may decide
// shapes. An error concerns the file itself; faults in its contents go to `diag`.
Result<OnnxModel> load_onnx(const ModelFile& model,
                            const OnnxFile& file,
                            const CheckOptions& options,
                            const GivenFiles& inputs,
                            const std::map<std::string, tensor::Tensor>& values,
                            diag::SourceMap& sources,
                            Diagnostics& diag);

// Reads the data of all variables once, to report faults.
void check_onnx_data(const OnnxModel& loaded, Diagnostics& diag);

// "the values of the inputs `shape` decide shapes, …"
std::string undecided_text(const onnx::Imported& imported);

// What the file says about itself.
Metadata metadata_of(const onnx::Model& model);
// The imported program, with its initialisers.
LoadedModel with_data(const ModelFile& file, const OnnxFile& onnx, OnnxModel model);
// The same from parts of it. `data` refers to the bytes of the file.
LoadedModel with_data(const ModelFile& file,
                      const OnnxFile& onnx,
                      ir::Program program,
                      std::vector<onnx::VariableData> data);

// ---- Stored programs (stored.cpp) ---------------------------------------------------------------

// Whether the program depends on the parts of the file and the options alone.
bool may_be_stored(const LoadOptions& options, const diag::SourceMap& sources);
// The model as an earlier load left it in the store; nothing if it is not there.
std::optional<LoadedModel> find_stored(const ModelFile& model,
                                       const OnnxFile& file,
                                       const LoadOptions& options,
                                       diag::SourceMap& sources);
// `sources` holds the texts of the model and its library, and nothing else.
void store(const OnnxModel& model,
           const OnnxFile& file,
           const LoadOptions& options,
           const diag::SourceMap& sources);

// Checks the rules of the safety profile; writes its report and the explicit form on request.
Result<void> check_sonnx(const ModelFile& file, const LoadOptions& options, Finding& finding);

}  // namespace lemma::model
