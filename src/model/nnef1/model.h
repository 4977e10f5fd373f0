// model/nnef1/model.h — the steps of an NNEF 1.0 model: graph.nnef and graph.quant are checked,
// then expanded to calls of the operators in stdlib/nnef1; the program gets the data of its
// variables.
#pragma once

#include <memory>
#include <vector>

#include "model/loaded_model.h"
#include "model/nnef1/labels.h"
#include "model/options.h"
#include "nnef1/import/quantization.h"

namespace lemma::model {

struct Nnef1Model {
    ModelFile model;
    diag::FileId file;
    nnef1::Document standard;  // the declarations of the specification
    nnef1::Document tract;     // and what tract has beside them
    nnef1::Document document;
    std::unique_ptr<nnef1::Operations> operations;
    nnef1::CheckedDocument checked;
    std::vector<nnef1::TensorQuantizer> quantizers;  // of graph.quant
};

// A text of stdlib/nnef1: `standard.nnef`, which declares the operations of the specification.
std::string_view nnef1_text(std::string_view name);

nnef1::ImportOptions import_options(const CheckOptions& options);

// An error is trouble with a file itself; what is wrong inside it goes to `diag`. The model refers
// to itself, so it stays where it is.
Result<std::unique_ptr<Nnef1Model>> check_nnef1(const ModelFile& file,
                                                const CheckOptions& options,
                                                diag::SourceMap& sources,
                                                Diagnostics& diag);

// The operators, for as many builders as wanted.
class Nnef1Library {
public:
    // All of them, or those that the document calls, and what they use.
    Nnef1Library(const CheckOptions& options, diag::SourceMap& sources, Diagnostics& diag);
    Nnef1Library(const nnef1::Document& document,
                 const CheckOptions& options,
                 diag::SourceMap& sources,
                 Diagnostics& diag);
    std::unique_ptr<ir::CallBuilder> builder(Diagnostics& calls) const;
    // The definitions, when no builder uses them any more.
    sknd::Package take() && { return std::move(package_); }

private:
    sknd::ComposeOptions options_;
    sknd::Package package_;
};

// The program, with the quantisers of graph.quant at its tensors; the model was checked without
// errors.
nnef1::Imported import_nnef1(const Nnef1Model& model,
                             const Nnef1Library& library,
                             const CheckOptions& options,
                             Diagnostics& diag);
// The same for a program that is to run. Reports that a model with operations of its own cannot be
// composed; and what the command line says about graphs that does not fit, which is bad usage.
nnef1::Imported compose_nnef1(const Nnef1Model& model,
                              const Nnef1Library& library,
                              const CheckOptions& options,
                              Finding& finding);

// The program that the model was imported as, with the files of its variables.
LoadedModel with_data(std::unique_ptr<Nnef1Model> model,
                      Nnef1Library library,
                      nnef1::Imported imported,
                      LabelFiles files,
                      const LoadOptions& options);

}  // namespace lemma::model
