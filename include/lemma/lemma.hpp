// SPDX-License-Identifier: Apache-2.0
// lemma/lemma.hpp — the library for C++17, as a thin layer over lemma.h. It loads, inspects and
// runs models. It throws nothing and prints nothing: a failed call returns a status with problems.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lemma/lemma.h"
#include "lemma/tensor.hpp"

namespace lemma {

inline const char* version() { return lemma_version(); }

enum class Status : int {
    Good = LEMMA_GOOD,
    Wrong = LEMMA_WRONG,        // the model is wrong, or fails on these inputs
    Unusable = LEMMA_UNUSABLE,  // an unreadable or unwritable file, or unsuitable arguments
    Fault = LEMMA_FAULT,        // a defect of Lemma
    Stopped = LEMMA_STOPPED,    // cancelled, or the time limit is over
};

enum class Severity : int { Error = LEMMA_ERROR, Warning = LEMMA_WARNING, Note = LEMMA_NOTE };

struct Problem {
    Severity severity = Severity::Error;
    std::string kind;  // its id in docs/errors, such as `extent-mismatch`; may be empty
    std::string message;
    std::string file;  // empty if there is no place
    int line = 0;      // from 1, the column in characters; 0: no place
    int column = 0;
    int end_line = 0;  // one past the last character
    int end_column = 0;
    std::string path;  // the place in a binary model, such as `graph/node[3]:Relu`
    std::string text;  // readable text with excerpt and notes, ends with a newline
};

// The result of every call that can fail. A successful call may have warnings and notes, for
// example why a model runs in the interpreter.
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

// A request to stop that any number of calls and threads may share. Copies are the same request.
class Stop {
public:
    Stop() : handle_(lemma_stop_create(), lemma_stop_free) {}
    void now() { lemma_stop_now(handle_.get()); }
    void reset() { lemma_stop_reset(handle_.get()); }
    bool requested() const { return lemma_stop_requested(handle_.get()) != 0; }
    lemma_stop* get() const { return handle_.get(); }

private:
    std::shared_ptr<lemma_stop> handle_;
};

// Cancellation, a time limit and progress of a call.
struct Control {
    std::optional<Stop> stop;
    double seconds = 0;  // 0: no limit
    // Called with a stage such as "compile" and the parts that are done; a total of 0 is unknown.
    // The call stops if it returns false.
    std::function<bool(const char* stage, std::uint64_t done, std::uint64_t total)> progress;
};

enum class EngineChoice : int {
    Auto = LEMMA_AUTO,  // by the size of the model
    Interpret = LEMMA_INTERPRET,
    Compile = LEMMA_COMPILE,
};

enum class Numerics : int {
    Default = LEMMA_NUMERICS_DEFAULT,
    Strict = LEMMA_NUMERICS_STRICT,
    Fast = LEMMA_NUMERICS_FAST,
};

struct LoadOptions {
    std::string graph;                            // the graph to load; empty: the first
    std::vector<std::string> attributes;          // graph attributes, each `NAME=VALUE`
    DataType real = DataType::F32;                // the type of `real`: F16, BF16, F32 or F64
    std::optional<std::uint64_t> random_weights;  // a seed for variables without data
    std::string weights;    // a .safetensors file that replaces the model's data; may be empty
    bool quantize = false;  // apply `@quantize`
    std::vector<std::string> extra_outputs;  // inner tensors that become outputs; `*`: all
    Tensors values;                          // inputs of ONNX models whose values decide shapes
    EngineChoice engine = EngineChoice::Auto;
    Numerics numerics = Numerics::Default;
    bool accumulate_f32 = false;       // sums of f32 are rounded to f32 at each step
    std::string target;                // the processor; empty: this one
    std::optional<std::string> cache;  // folder of compiled kernels; empty text: none
    std::string device;                // `cpu`, `cuda`, `cuda:N` or `auto`; empty: LEMMA_DEVICE
    Control control;
};

struct SessionOptions {
    int threads = 1;         // threads of compiled code
    std::uint64_t seed = 0;  // seed of random operators
};

// A call in the graph.
struct Operation {
    std::string name;   // the operator, such as `nn.conv`
    std::string label;  // the path of labels
};

// A file in memory, under its name relative to the model.
struct File {
    std::string name;
    const void* data = nullptr;
    std::size_t size = 0;
};

struct LoadResult;
struct SessionResult;
struct RunResult;

// A loaded model: program, weights and code. It never changes; copies are the same model, and any
// number of threads may use it.
class Model {
public:
    // Loads a folder, an archive or a file, as the program `lemma` does.
    static LoadResult load(const std::string& path, const LoadOptions& options = {});
    // Loads files in memory; the first one is the model.
    static LoadResult load(const std::vector<File>& files, const LoadOptions& options = {});

    const std::string& name() const { return about_->name; }      // of the graph
    const std::string& format() const { return about_->format; }  // onnx, sknd or nnef1
    // Tensors in the order of declaration; the items of a pack are separate tensors.
    const std::vector<TensorInfo>& inputs() const { return about_->inputs; }
    const std::vector<TensorInfo>& outputs() const { return about_->outputs; }
    const std::vector<TensorInfo>& variables() const { return about_->variables; }
    // The calls of the graph, in the order in which they run.
    const std::vector<Operation>& operations() const { return about_->operations; }
    // The engine that runs it, Interpret or Compile; the processor; and why.
    EngineChoice engine() const { return static_cast<EngineChoice>(lemma_model_engine(get())); }
    std::string target() const { return lemma_model_target(get()); }
    std::string engine_reason() const { return lemma_model_engine_reason(get()); }
    // The name of the device that runs kernels; empty: the processor alone.
    std::string device() const { return lemma_model_device(get()); }

    // Memory and variables for runs in one thread at a time.
    SessionResult session(const SessionOptions& options = {}) const;

    lemma_model* get() const { return about_->handle.get(); }

private:
    struct About {
        std::shared_ptr<lemma_model> handle;
        std::string name, format;
        std::vector<TensorInfo> inputs, outputs, variables;
        std::vector<Operation> operations;
    };
    explicit Model(lemma_model* handle);
    static LoadResult finish(int status, lemma_model* model, lemma_report* report);

    std::shared_ptr<const About> about_;
};

// Runs a model. It keeps the model alive and can only be moved.
class Session {
public:
    // Runs one step: takes all inputs, returns all outputs and updates the variables. Numbers may
    // have another width than the input declares, but an integer input takes no reals. A run that
    // fails does not change the variables.
    RunResult run(const Tensors& inputs, const Control& control = {});

    // The same without copies. Inputs are in the order of the model and read in place. If `outputs`
    // is empty, it becomes all outputs in memory of the session, valid until the next call.
    // Otherwise it is the first outputs; those with `data` are written there, if `size` suffices.
    // Tensors may be in the memory of the model's device (`on_device`): inputs are read there after
    // the work that the CUDA stream has so far, and outputs are complete at the end of the call.
    Outcome run(const std::vector<TensorView>& inputs,
                std::vector<TensorView>& outputs,
                const Control& control = {},
                void* stream = nullptr);

    // Compiles for the types and shapes of these inputs, whose data may be null.
    Outcome prepare(const std::vector<TensorView>& inputs, const Control& control = {});

    // Carries an output over to the next run, which reads it as the input. The first run takes the
    // input from the caller; later ones expect an empty view. The output is an empty view. An
    // output that is longer than the input along one axis is extended in place.
    Outcome carry(const std::string& output, const std::string& input);

    // The engine of the last run, Interpret or Compile, and why.
    EngineChoice engine() const { return static_cast<EngineChoice>(lemma_session_engine(get())); }
    std::string engine_reason() const { return lemma_session_engine_reason(get()); }

    // The current value of a variable; none if it has no data or does not exist.
    std::optional<Tensor> variable(const std::string& name) const;
    Outcome set_variable(const std::string& name, const Tensor& value);
    // Gives all variables the values that they had when the model was loaded.
    Outcome reset();
    // Writes a .dat file for each variable into a folder, or one .safetensors file.
    Outcome save_variables(const std::string& path) const;

    const Model& model() const { return model_; }
    lemma_session* get() const { return handle_.get(); }

private:
    friend class Model;
    struct Free {
        void operator()(lemma_session* session) const { lemma_session_free(session); }
    };
    Session(Model model, lemma_session* handle) : model_(std::move(model)), handle_(handle) {}
    Outcome run(const std::vector<lemma_tensor>& inputs,
                std::vector<lemma_tensor>& outputs,
                const Control& control);

    Model model_;
    std::unique_ptr<lemma_session, Free> handle_;
};

struct LoadResult : Outcome {
    std::optional<Model> model;  // present exactly if ok()
};

struct SessionResult : Outcome {
    std::optional<Session> session;  // present exactly if ok()
};

struct RunResult : Outcome {
    Tensors outputs;  // complete exactly if ok()
};

}  // namespace lemma

#include "lemma/detail.hpp"  // IWYU pragma: export
