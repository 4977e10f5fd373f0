// model/onnx/model.h — ONNX models: read, checked and imported over the definitions of
// their operators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sknd/check.h"
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

// `lemma check`: the program is not kept, the data is looked at once.
Result<ComposeCheck> check_onnx(const ModelFile& model,
                                const CheckOptions& options,
                                diag::SourceMap& sources,
                                Diagnostics& diag);

// Looks at the data of all variables once, to report what is wrong with it.
void check_onnx_data(const OnnxModel& loaded, Diagnostics& diag);

// "the values of the inputs `shape` decide shapes, …"
std::string undecided_text(const onnx::Imported& imported);

}  // namespace lemma::model
