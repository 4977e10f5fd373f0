// lemma/lemma.hpp — the library for C++17. It loads, inspects and runs models. It throws nothing
// and prints nothing; a failed call returns a status with problems.
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
    Unusable = 2,  // an unreadable or unwritable file, or unsuitable arguments
    Fault = 3,     // a defect of Lemma
};

enum class Severity : int { Warning, Error };

struct Problem {
    Severity severity = Severity::Error;
    std::string kind;  // its id in docs/errors, such as `extent-mismatch`; may be empty
    std::string message;
    std::string file;  // empty if there is no place
    int line = 0;      // from 1, the column in characters; 0: no place
    int column = 0;
    std::string text;  // readable text with excerpt and notes, ends with a newline
};

// The result of every call that can fail. A successful call may have warnings, for example why a
// model runs in the interpreter.
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

// The engine: chosen by the size of the model, the interpreter, or compiled machine code.
enum class EngineChoice { Auto = 0, Interpret = 1, Compile = 2 };

struct LoadOptions {
    std::string graph;                            // the graph to load; empty: the first
    std::vector<std::string> attributes;          // graph attributes, each `NAME=VALUE`
    DataType real = DataType::F32;                // the type of `real`: F16, BF16, F32 or F64
    std::optional<std::uint64_t> random_weights;  // a seed for variables without data
    std::string weights;     // a .safetensors file that replaces the model's data; may be empty
    bool quantize = false;   // apply `@quantize`
    std::uint64_t seed = 0;  // seed of random operators
    EngineChoice engine = EngineChoice::Auto;
    int threads = 1;  // threads of compiled code
};

// A call in the graph.
struct Operation {
    std::string name;                 // the operator, such as `nn.conv`
    std::string label;                // the path of labels
    std::vector<TensorInfo> outputs;  // by the names of the tensors in the graph
};

struct LoadResult;
struct RunResult;

// A loaded model with its state. It belongs to one thread at a time. Models are independent of each
// other. A moved-from model can only be destroyed or assigned to.
class LEMMA_API Model {
public:
    // Loads a folder, an archive or a file, as the program `lemma` does.
    static LoadResult load(const std::string& path, const LoadOptions& options = {});

    Model(Model&& other) noexcept;
    Model& operator=(Model&& other) noexcept;
    ~Model();

    // The name of the graph.
    const std::string& name() const;
    // Tensors in the order of declaration; the items of a pack are separate tensors.
    const std::vector<TensorInfo>& inputs() const;
    const std::vector<TensorInfo>& outputs() const;
    const std::vector<TensorInfo>& variables() const;
    // The calls of the graph, in the order in which they run.
    const std::vector<Operation>& operations() const;

    // Runs one step: takes all inputs, returns all outputs and updates the variables. Numbers may
    // have another width than the input declares, but an integer input takes no reals. A run that
    // fails does not change the variables.
    RunResult run(const Tensors& inputs);

    // The current value of a variable; none if it has no data or does not exist.
    std::optional<Tensor> variable(const std::string& name) const;
    Outcome set_variable(const std::string& name, const Tensor& value);
    // Writes a .dat file for each variable, with the names of the model's own files.
    Outcome save_variables(const std::string& folder) const;

private:
    struct State;
    explicit Model(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

struct LoadResult : Outcome {
    std::optional<Model> model;  // present exactly if ok()
};

struct RunResult : Outcome {
    Tensors outputs;  // complete exactly if ok()
};

}  // namespace lemma
