// SPDX-License-Identifier: Apache-2.0
// model/nnef1/model.h — the steps of an NNEF 1.0 model: graph.nnef and graph.quant are checked,
// then expanded to calls of the operators in stdlib/nnef1; then the program gets the data of its
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
    nnef1::Document tract;     // and the additional ones of tract
    nnef1::Document document;
    std::unique_ptr<nnef1::Operations> operations;
    nnef1::CheckedDocument checked;
    std::vector<nnef1::TensorQuantizer> quantizers;  // of graph.quant
};

// A text of stdlib/nnef1, such as `standard.nnef`, which declares the operations of the
// specification.
std::string_view nnef1_text(std::string_view name);

nnef1::ImportOptions import_options(const CheckOptions& options);

// An error concerns a file itself; faults in its contents go to `diag`. The model refers to itself,
// so it must not move.
Result<std::unique_ptr<Nnef1Model>> check_nnef1(const ModelFile& file,
                                                const CheckOptions& options,
                                                diag::SourceMap& sources,
                                                Diagnostics& diag);

// The operators, for any number of builders.
class Nnef1Library {
public:
    // All operators, or those that the document calls, with their dependencies.
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

// The program, with the quantisers of graph.quant at its tensors. The model must be checked without
// errors.
nnef1::Imported import_nnef1(const Nnef1Model& model,
                             const Nnef1Library& library,
                             const CheckOptions& options,
                             Diagnostics& diag);
// The same for a program that will run. Reports a model with custom operations, which cannot be
// composed, and graph options that do not fit, which is bad usage.
nnef1::Imported compose_nnef1(const Nnef1Model& model,
                              const Nnef1Library& library,
                              const CheckOptions& options,
                              Finding& finding);

// The imported program, with the files of its variables.
LoadedModel with_data(std::unique_ptr<Nnef1Model> model,
                      Nnef1Library library,
                      nnef1::Imported imported,
                      LabelFiles files,
                      const LoadOptions& options);

}  // namespace lemma::model
