// lemma/lemma.hpp — the library for C++17: load a model, look at it, run it. Nothing is thrown and
// nothing is printed; what goes wrong comes back as a status with problems.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lemma/export.h"
#include "lemma/tensor.hpp"

namespace lemma {

LEMMA_API const char* version();

// The exit status of the program `lemma`.
enum class Status : int {
    Good = 0,
    Wrong = 1,     // the model is wrong, or fails on these inputs
    Unusable = 2,  // a file that cannot be read or written, or arguments that do not fit the model
    Fault = 3,     // our own fault
};

enum class Severity : int { Warning, Error };

struct Problem {
    Severity severity = Severity::Error;
    std::string kind;  // an id of docs/errors, such as `extent-mismatch`; may be empty
    std::string message;
    std::string file;  // empty without a place in a text
    int line = 0;      // both from 1, the column in characters; 0 without a place
    int column = 0;
    std::string text;  // all of it for people, with excerpt and notes; ends its last line
};

// What every call that can fail gives back. A good one may have warnings, such as why a model
// runs in the interpreter instead of compiled.
struct Outcome {
    Status status = Status::Good;
    std::vector<Problem> problems;

    bool ok() const { return status == Status::Good; }
    // The texts of all problems.
    std::string text() const {
        std::string all;
        for (const Problem& problem : problems) all += problem.text;
        return all;
    }
};

// How a model runs: compiled to machine code, interpreted, or as its size says.
enum class EngineChoice { Auto = 0, Interpret = 1, Compile = 2 };

struct LoadOptions {
    std::string graph;                            // which of several; empty: the first
    std::vector<std::string> attributes;          // of the graph, `NAME=VALUE` each
    DataType real = DataType::F32;                // what `real` is computed in: F16 BF16 F32 F64
    std::optional<std::uint64_t> random_weights;  // a seed for the variables without data
    std::string weights;     // a .safetensors file with data of variables; empty: the model's own
    bool quantize = false;   // round tensors as `@quantize` says
    std::uint64_t seed = 0;  // of random operators
    EngineChoice engine = EngineChoice::Auto;
    int threads = 1;  // of compiled code
};

// A call in the graph.
struct Operation {
    std::string name;                 // of the operator, `nn.conv`
    std::string label;                // the path of labels
    std::vector<TensorInfo> outputs;  // by the names of the tensors in the graph
};

struct LoadResult;
struct RunResult;

// A loaded model with its state. It belongs to one thread at a time; models are independent of one
// another. One that was moved from can only be destroyed or assigned to.
class LEMMA_API Model {
public:
    // A folder, an archive or a file, as the program `lemma` takes it.
    static LoadResult load(const std::string& path, const LoadOptions& options = {});

    Model(Model&& other) noexcept;
    Model& operator=(Model&& other) noexcept;
    ~Model();

    // The name of the graph.
    const std::string& name() const;
    // In the order of declaration, packs item by item.
    const std::vector<TensorInfo>& inputs() const;
    const std::vector<TensorInfo>& outputs() const;
    const std::vector<TensorInfo>& variables() const;
    // The calls of the graph, in the order in which they run.
    const std::vector<Operation>& operations() const;

    // One step: all inputs in, all outputs out, and the variables take their next values. Numbers
    // may have another width than the input declares, but not be reals for integers. When it fails,
    // the variables stay as they were.
    RunResult run(const Tensors& inputs);

    // The value that a variable has now; none if it has no data, or there is no such variable.
    std::optional<Tensor> variable(const std::string& name) const;
    Outcome set_variable(const std::string& name, const Tensor& value);
    // A .dat file for each variable, named as the model's own files.
    Outcome save_variables(const std::string& folder) const;

private:
    struct State;
    explicit Model(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

struct LoadResult : Outcome {
    std::optional<Model> model;  // there exactly when ok()
};

struct RunResult : Outcome {
    Tensors outputs;  // complete exactly when ok()
};

}  // namespace lemma
