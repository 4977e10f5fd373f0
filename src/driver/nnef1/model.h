// driver/nnef1/model.h — NNEF 1.0 models on the line of travel: graph.nnef and graph.quant are
// checked, then expanded to calls of the operators in stdlib/nnef1.
#pragma once

#include <memory>
#include <vector>

#include "driver/pipeline.h"
#include "nnef1/quantization.h"

namespace lemma::driver {

struct Nnef1Model {
    ModelFile model;
    diag::FileId file;
    nnef1::Document standard;  // the declarations of the specification
    nnef1::Document document;
    std::unique_ptr<nnef1::Operations> operations;
    nnef1::CheckedDocument checked;
    std::vector<nnef1::TensorQuantizer> quantizers;  // of graph.quant
};

nnef1::ImportOptions import_options(const CheckOptions& options);

// An error is trouble with a file itself; what is wrong inside it goes to `diag`. The model refers
// to itself, so it stays where it is.
Result<std::unique_ptr<Nnef1Model>> check_nnef1(const ModelFile& file,
                                                const CheckOptions& options,
                                                diag::SourceMap& sources,
                                                Diagnostics& diag);

// The operators of stdlib/nnef1, and a builder over them.
sknd::Package load_operators(const CheckOptions& options,
                             diag::SourceMap& sources,
                             Diagnostics& diag);
std::unique_ptr<ir::CallBuilder> operator_builder(const sknd::Package& operators,
                                                  const CheckOptions& options,
                                                  Diagnostics& calls);

// The program, with the quantisers of graph.quant at its tensors; the model was checked without
// errors.
nnef1::Imported import_nnef1(const Nnef1Model& model,
                             const sknd::Package& operators,
                             const CheckOptions& options,
                             Diagnostics& diag);
// What the command line says about graphs; what does not fit is reported.
bool fits_command_line(const Nnef1Model& model, const GraphOptions& options, Diagnostics& diag);

}  // namespace lemma::driver
