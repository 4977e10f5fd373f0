// SPDX-License-Identifier: Apache-2.0
// model/nnef1/labels.h — the data of NNEF 1.0 variables, found by their labels: the data of
// `conv1/filter` is in the file `conv1/filter.dat` (specification, 5.1).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/nnef1/tract_data.h"
#include "model/options.h"
#include "nnef1/import/import.h"

namespace lemma::model {

// `conv1/filter.dat`
std::string label_file(const std::string& label);

class LabelFiles {
public:
    LabelFiles(const ModelFile& model, nnef1::Dialect dialect);

    // The file of a label. A file with different upper and lower case is accepted if it is the only
    // one.
    std::optional<std::string> find(const std::string& label) const;
    // The dtype of a label's data, if only the file determines it: documents of tract have one type
    // for all variables.
    std::optional<ir::DType> kind(const std::string& label) const;
    // The data of a variable with the given tensor; nothing if there is none.
    Result<std::optional<tensor::Tensor>> read(const nnef1::StoredVariable& variable,
                                               const ir::Tensor& tensor,
                                               const tensor::SourceLimits& limits) const;
    // Reports files that do not fit their variables, and variables without data. With limits, it
    // also reads the items of types whose values can be out of range.
    void check(const nnef1::Imported& model,
               const CheckOptions& options,
               const std::optional<tensor::SourceLimits>& items,
               Diagnostics& diag);

private:
    bool check_file(const nnef1::StoredVariable& variable,
                    const std::string& file,
                    const ir::Tensor* tensor,
                    Diagnostics& diag) const;
    void check_items(const nnef1::StoredVariable& variable,
                     const std::string& file,
                     const ir::Tensor& tensor,
                     const tensor::SourceLimits& limits,
                     Diagnostics& diag) const;
    DataHeader header_of(const nnef1::StoredVariable& variable, const std::string& file) const;
    void report_unused(const std::vector<nnef1::StoredVariable>& variables,
                       Diagnostics& diag) const;

    const ModelFile model_;
    const nnef1::Dialect dialect_;
    std::optional<SafetensorsFiles> many_;              // of tract
    std::optional<Error> trouble_;                      // why the files cannot be listed
    std::vector<std::string> files_;                    // *.dat
    std::multimap<std::string, std::string> any_case_;  // by the name in lower case
};

}  // namespace lemma::model
