// SPDX-License-Identifier: Apache-2.0
// model/data_files.h — the data of a model's variables: finds the .dat file of a variable and
// checks whether it fits (notes-sknd, resolution 13).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "ir/program/program.h"
#include "model/find_model.h"
#include "sknd/modules/modules.h"
#include "tensor/shape.h"

namespace lemma::model {

// The argument of `lemma check --data=…`.
enum class DataMode : uint8_t {
    Auto,     // existing files fit; a model with some files has all
    Require,  // every variable has its data
    Ignore,
};

struct VariableName {
    std::string module;  // the main module
    std::string graph;   // empty if the path begins with the name of an invoked graph
    std::string path;    // of labels, and the name: `first.w`
};
// The graphs that the program invokes without a label: their names begin the paths of their tensors
// (spec 2.10).
std::set<std::string, std::less<>> root_graphs(const sknd::Package& package,
                                               const ir::Program& program);
VariableName variable_name(const std::string& module,
                           const std::string& graph,
                           const std::set<std::string, std::less<>>& roots,
                           const std::string& tensor);
// The file names that a reader tries, best first; a writer uses the first. The second function adds
// all variants with `/`, where folders stand for labels.
std::vector<std::string> data_names(const VariableName& variable);
std::vector<std::string> data_names_with_folders(const VariableName& variable);
// The file that holds the variable's data, if there is one.
std::optional<std::string> find_data(const tensor::ModelSource& source,
                                     const VariableName& variable);

// "[3, n]", as written in the program.
std::string shape_text(const ir::Program& program, const ir::Tensor& variable);
// Whether data of that shape fits the variable; a run-time extent fits every value that it can
// have.
bool shape_fits(const ir::Program& program, const ir::Tensor& variable, const tensor::Shape& shape);
// By tensor, whether anything reads it. `layer.linear` has a bias even if it does not use it.
std::vector<bool> read_tensors(const ir::Program& program);

// The facts of a data file's header.
struct DataHeader {
    std::string misfit;  // why it cannot hold items of the dtype; empty if it can
    tensor::Shape shape;
    std::vector<std::string> oddities;  // worth a warning
    bool codes = false;                 // items are codes of a quantiser
    bool any_item = true;               // no item can be out of range: the header suffices
};
DataHeader read_data_header(const tensor::ModelSource& source,
                            const std::string& file,
                            ir::DType dtype);

// Checks the data of the graphs of one model. Only the headers of the files are read.
class DataCheck {
public:
    DataCheck(const ModelFile& model,
              const sknd::Package& package,
              DataMode mode,
              Diagnostics& diag);

    // Reports files that do not fit their variables, and variables without data. Unused variables
    // need no data.
    void check(const ir::Program& program);
    // Reports files that no variable of any checked graph uses. Call it after checking all graphs.
    void report_unused();

private:
    struct Variable;
    void check_file(const Variable& variable, const std::string& file);
    void report_missing(const Variable& variable);
    std::string misfit(const Variable& variable, const std::string& file);
    void list_files();
    bool is_own(const std::string& file) const;

    const ModelFile& model_;
    const sknd::Package& package_;
    DataMode mode_;
    Diagnostics& diag_;
    std::vector<std::string> files_;   // *.dat of this model
    std::set<std::string> used_;       // by variables
    std::vector<std::string> wanted_;  // best names of variables without data
};

}  // namespace lemma::model
