// driver/nnef1/labels.h — the data of NNEF 1.0 variables, found by their labels: `conv1/filter` is
// in the file `conv1/filter.dat` (specification, 5.1).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "driver/pipeline.h"
#include "nnef1/import.h"

namespace lemma::driver {

// `conv1/filter.dat`
std::string label_file(const std::string& label);

class LabelFiles {
public:
    explicit LabelFiles(const ModelFile& model);

    // The file of a label. One that differs in upper and lower case only will do if it is the only
    // one.
    std::optional<std::string> find(const std::string& label) const;
    // Reports files that do not fit their variables, and variables without data.
    void check(const std::vector<nnef1::StoredVariable>& variables,
               const CheckOptions& options,
               Diagnostics& diag);

private:
    void check_file(const nnef1::StoredVariable& variable,
                    const std::string& file,
                    nnef1::Dialect dialect,
                    Diagnostics& diag) const;
    void report_unused(const std::vector<nnef1::StoredVariable>& variables,
                       Diagnostics& diag) const;

    const ModelFile model_;
    std::optional<Error> trouble_;                      // why the files cannot be listed
    std::vector<std::string> files_;                    // *.dat
    std::multimap<std::string, std::string> any_case_;  // by the name in lower case
};

}  // namespace lemma::driver
