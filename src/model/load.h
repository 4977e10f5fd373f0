// model/load.h — a MODEL of any format as one program with the data of its variables. Each format
// has a folder below model/; whoever shows, runs or converts models knows this only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "model/finding.h"
#include "model/sknd/check.h"
#include "tensor/tensor.h"

namespace lemma::model {

// The data of a variable, in its dtype and of its shape; nothing when the model has none.
using DataReader = std::function<Result<std::optional<tensor::Tensor>>(const ir::Tensor&)>;

// For tensors by name: a program from `x` to `y` that rounds values as the model says.
using Quantizers = std::map<std::string, ir::Program>;

struct LoadedModel {
    ModelFile file;
    diag::FileId source;    // of the main file, for reports without a better place
    sknd::Package package;  // the definitions that the program was composed from
    ir::Program program;
    DataReader data;
    std::vector<std::string> deciding;  // inputs whose values the program was made for (ONNX)
    std::function<std::string(const ir::Tensor&)> data_name;  // where a variable is written
    // Empty when one cannot be made, which is reported.
    std::function<std::optional<Quantizers>(const LoadedModel&, Finding&)> quantizers;
};

// A safety profile that `lemma check` adds to the rules of the format.
struct ProfileOptions {
    bool sonnx = false;
    bool relax_broadcast = false;
    std::optional<int64_t> max_concat_inputs;  // empty: as many as the document of Concat allows
    std::string report;                        // the file to write, .md or .html
    std::string fix;                           // the model to write in the explicit form
};

struct LoadOptions {
    CheckOptions check;
    tensor::SourceLimits source;
    DataMode data = DataMode::Ignore;  // what is checked about data while loading
    // Files as `-i` takes them, for models with inputs that decide shapes (ONNX).
    std::vector<std::string> inputs;
    ProfileOptions profile;
};

// Empty when something is wrong, which `finding` tells then.
std::optional<LoadedModel> load_model(const std::string& argument,
                                      const LoadOptions& options,
                                      Finding& finding);

// The program of a file that `lemma show --text` wrote, or somebody else in that form.
inline constexpr const char* kProgramEnding = ".ir";
std::optional<ir::Program> load_program(const std::string& path, Finding& finding);

// Every validity rule of the format, for `lemma check`; the error is trouble with the file itself.
Result<void> check_model(const std::string& argument, const LoadOptions& options, Finding& finding);

// The formats, each in a folder below model/. Reading reports into `finding`.
Result<std::optional<LoadedModel>> load_sknd(const ModelFile& file,
                                             const LoadOptions& options,
                                             Finding& finding);
Result<std::optional<LoadedModel>> load_nnef1(const ModelFile& file,
                                              const LoadOptions& options,
                                              Finding& finding);
Result<std::optional<LoadedModel>> load_onnx_model(const ModelFile& file,
                                                   const LoadOptions& options,
                                                   Finding& finding);
Result<void> check_sknd_model(const ModelFile& file, const LoadOptions& options, Finding& finding);

Result<void> check_nnef1_model(const ModelFile& file, const LoadOptions& options, Finding& finding);
Result<void> check_onnx_model(const ModelFile& file, const LoadOptions& options, Finding& finding);
// The same with the safety profile; writes its report and the explicit form where asked to.
Result<void> check_sonnx_model(const ModelFile& file, const LoadOptions& options, Finding& finding);

}  // namespace lemma::model
