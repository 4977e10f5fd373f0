// model/onnx/model.h — the steps of an ONNX model: read, checked and imported over the definitions
// of its operators; the program gets the data of its variables.
#pragma once

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
    onnx::Imported imported;  // without a program: reported, or undecided
    tensor::ReadExternal read_external;
    sknd::Package package;  // the definitions of its operators
};

// `inputs` are files as `-i` takes them; their tensors may decide shapes. An error is trouble with
// the file itself; what is wrong inside it goes to `diag`.
Result<OnnxModel> load_onnx(const ModelFile& model,
                            const CheckOptions& options,
                            const std::vector<std::string>& inputs,
                            diag::SourceMap& sources,
                            Diagnostics& diag);

// Looks at the data of all variables once, to report what is wrong with it.
void check_onnx_data(const OnnxModel& loaded, Diagnostics& diag);

// "the values of the inputs `shape` decide shapes, …"
std::string undecided_text(const onnx::Imported& imported);

// The program that the model was imported as, with its initialisers.
LoadedModel with_data(const ModelFile& file, OnnxModel model);

// The rules of the safety profile; writes its report and the explicit form where asked to.
Result<void> check_sonnx(const ModelFile& file, const LoadOptions& options, Finding& finding);

}  // namespace lemma::model
