// SPDX-License-Identifier: Apache-2.0
// engine/engine.h — runs a program with compiled kernels, in the tensors' own types. The
// interpreter runs the operations that kernels do not support.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/compiler.h"
#include "engine/carried.h"
#include "engine/code.h"
#include "interpret/interpret.h"
#include "loop/plan/plan.h"
#include "runtime/executable.h"

namespace lemma::engine {

struct DeviceCode;  // stored_code.h

struct EngineOptions {
    bool verify = false;  // as in loop::PlanOptions
    int threads = 1;
    int processors = 0;  // for tests: as if there were so many; 0: those of the machine
    bool fuse = true;
    int32_t least_steps = loop::kLeastSteps;   // of a tiled sum
    double least_gain = loop::kLeastGain;      // of merged products; 0: always merge
    double window_share = loop::kWindowShare;  // of sums over windows; 0: plain sums
    double term_share = loop::kTermShare;      // of sums of terms of bf16; 0: none
    // Of interpreted operations. With accumulate = F32, the compiler's numerics must be strict.
    interpret::RunOptions run = {};
    // Reads the data of variables that the state does not have, on demand.
    std::function<Result<std::optional<tensor::Tensor>>(const ir::Tensor&)> weights;
    codegen::CompilerOptions compiler = {};
    std::string dump_pass = {};  // a name of loop/passes/pipeline.h
    // Runs the kernels that it can; without shared code only, which has its own.
    std::shared_ptr<runtime::Device> device = nullptr;
    // For tests: gives the device a kernel, instead of its code.
    std::function<Result<const runtime::DeviceKernel*>(const loop::Function&)> load_kernel = {};
    // For tests: each tensor has separate memory between inaccessible pages.
    bool guarded = false;
};

class Engine : public interpret::Executor {
public:
    // The state outlives the engine. `shared` has the code of engines of the same program with the
    // same options, apart from the threads; without it, the engine makes its own.
    static Result<std::unique_ptr<Engine>> create(interpret::State& state,
                                                  EngineOptions options,
                                                  std::shared_ptr<SharedCode> shared = nullptr);
    ~Engine() override;

    // An error may be unspecific about faults of the model: the interpreter explains them.
    Result<interpret::NamedArrays> run(const interpret::NamedArrays& inputs) override;
    // Weights are read again before the next run.
    void variables_changed() override;
    // Whether the last run failed because its kernels could not be compiled.
    bool without_code() const { return without_code_; }
    // Whether the device has failed: there is nothing to explain about the model.
    bool device_failed() const { return device_failed_; }

    // An input of the caller, in row-major order.
    struct Bytes {
        tensor::DType dtype{};
        std::span<const int64_t> shape;
        const void* data = nullptr;
        bool on_device = false;  // the data is in the memory of the device
    };
    // An output; the bytes are valid until the next call.
    struct Output {
        tensor::DType dtype{};
        const tensor::Shape* shape = nullptr;
        void* data = nullptr;
        size_t bytes = 0;
        bool carried = false;    // over to the next run: there is no data
        bool on_device = false;  // as in its room
    };
    using Receiver = std::function<Result<void>(const Output&)>;
    // Memory of the caller for an output; may be missing.
    struct Room {
        void* data = nullptr;
        size_t bytes = 0;
        bool on_device = false;  // without data: the output stays in our memory of the device
    };
    // The same from bytes to bytes, without the interpreter's arrays, for all inputs and outputs in
    // the order of the graph. It requires an earlier run with the same types and shapes, apart from
    // growing extents (growing.h), in this engine or in another one that shares its code, inputs
    // that only compiled steps read, and updates of variables with known extents. Otherwise, or if
    // a step fails or is stopped, it returns false, and `run` does or explains it. An input that a
    // carried value replaces needs no bytes. Kernels write an output into its room where they can:
    // its bytes are there then. A run that fails may leave parts of results in the rooms. The run
    // reads inputs on the device after what the stream of the platform has to do so far
    // (runtime/device.h).
    Result<bool> run_directly(std::span<const Bytes> inputs,
                              const Receiver& receive,
                              std::span<const Room> rooms = {},
                              void* stream = nullptr);
    // Copies between memory of the device and of the processor, for runs that are not direct.
    Result<void> copy_from_device(void* to, const void* from, size_t bytes, void* stream);
    Result<void> copy_to_device(void* to, const void* from, size_t bytes);
    // Whether the last run could not go from bytes to bytes.
    bool needs_arrays() const;
    // Whether the code for it exists, which is then loaded.
    Result<bool> load_directly(std::span<const Bytes> inputs);
    // Makes the code for inputs of these types and shapes, without their data. False: `prepare`
    // does, or tells why it cannot.
    bool make_directly(std::span<const Bytes> inputs);
    // Before the first run: waits until no other engine makes code, and keeps others from it while
    // the lock is held. Later it waits for nothing.
    Result<std::unique_lock<std::recursive_mutex>> first_turn();

    // Stores the variables that runs from bytes to bytes have changed in the state.
    Result<void> store_variables();

    // From now on, runs from bytes to bytes keep the output, and the next one reads it as the
    // input. Where the output continues the input, this needs no copy. An error if types or ranks
    // differ, or if either is carried already.
    Result<void> carry(ir::TensorId output, ir::TensorId input);
    // The value that the next run will read; null if the input is not carried, or before it has
    // one.
    const CarriedValue* carried(ir::TensorId input) const;
    Result<void> set_carried(ir::TensorId input, const tensor::Tensor& value);
    void drop_carried();

    // ---- For benchmarks -------------------------------------------------------------------------

    // Everything before the first run: plan, code, weights, inputs in place.
    Result<void> prepare(const interpret::NamedArrays& inputs);
    // Runs the steps alone; `seconds` gets the time of each, including those in loops and branches.
    // `on_device` gets the time that the device spends, if it tells it.
    Result<void> run_again(std::vector<double>* seconds = nullptr, double* on_device = nullptr);
    // Adds up where the time of threads goes in the next runs, or ends it (null).
    void measure(runtime::ThreadPool::Times* times);
    // The threads that may work: not more than there are processors.
    int used_threads() const;
    const loop::Plan& plan() const;
    // The same plan with the loops of its kernels, which are freed after compiling.
    loop::Plan plan_again() const;
    // The plan's step for each step of a run.
    const std::vector<size_t>& plan_steps() const;
    codegen::CompilerStats compiler_stats() const { return shared_->stats(); }
    int64_t bytes() const;
    int64_t device_bytes() const;
    // The device that runs kernels; null: there is none.
    const runtime::Device* device() const { return shared_->device().get(); }
    // Whether it runs the step of the plan.
    bool runs_on_device(size_t step) const;
    const SharedCode::Times& load_times() const { return shared_->times(); }
    // The dump of the pass, once for each plan that was made.
    const std::string& dumped() const { return shared_->log().text; }

private:
    struct Loaded;  // the memory and the steps of this engine, for one set of extents
    class BorrowedMemory;
    // An input or output of runs from bytes to bytes.
    struct DirectTensor {
        ir::TensorId id;
        tensor::DType dtype{};
        const loop::BufferView* place = nullptr;  // missing: it has run-time extents
        bool movable = false;                     // an output that the caller's memory can hold
    };

    Engine(interpret::State& state, EngineOptions options, std::shared_ptr<SharedCode> shared);
    Result<interpret::NamedArrays> run_step(const interpret::NamedArrays& inputs);
    // The extents that this run's code is made for.
    loop::KnownExtents fixed_extents() const;
    Result<Loaded*> load();
    Result<Loaded*> add(CodeKey key, std::shared_ptr<const Code> code);
    Result<Loaded*> find_direct(std::span<const Bytes> inputs);
    Result<void> check_extents();
    bool has_own_weights() const;
    Result<std::shared_ptr<Code>> make_code();
    loop::PlanOptions plan_options() const;
    Result<void> make_plan(Code& code);
    // Kernels of a device, by symbol.
    using LoadedKernels = std::unordered_map<std::string, const runtime::DeviceKernel*>;
    Result<void> compile_texts(DeviceCode& all);
    Result<LoadedKernels> load_kernels(const DeviceCode& all);
    Result<DeviceCode> make_device_code(Code& code, int threads, LoadedKernels& loaded);
    static bool take_kernels(Code& code,
                             const DeviceCode& made,
                             const LoadedKernels& loaded,
                             std::span<const runtime::KernelFunction> here);
    // Keeps the plan in the cache if it has a source.
    Result<void> compile_for_device(Code& code, int threads, const std::string* source);
    std::string device_source(const std::string& source) const;
    bool find_device_plan(Code& code, const std::string& source);
    Result<void> use_device(Loaded& loaded);
    Result<void> pack(Loaded& making, Code& code);
    bool find_plan(Code& code, const std::string& source);
    Result<void> allocate_constants(Code& code) const;
    void keep_initial(const Loaded& loaded, Code& code) const;
    Result<void> allocate(Loaded& loaded);
    Result<void> allocate(Loaded& loaded, size_t arena, loop::StorageId id);
    Result<void> fill_constants(Loaded& loaded);
    Result<void> fill_state(Loaded& loaded);
    Result<void> fill_kept(Loaded& loaded);
    using Borrowed = std::unordered_map<loop::StorageId, tensor::Tensor, IdHash>;
    static void find_packers(Code& code);
    Result<void> run_packing(Loaded& loaded, size_t number, const Borrowed& borrowed);
    Result<std::optional<tensor::Tensor>> stored_data(const Loaded& loaded, ir::TensorId id);
    Result<void> fill(Loaded& loaded, ir::TensorId id);
    Result<void> run_once(Loaded& loaded);
    static runtime::KernelCall make_call(Loaded& loaded, size_t number);
    runtime::Step make_step(Loaded& loaded, size_t number);
    runtime::Steps make_steps(Loaded& loaded, const loop::Region& region);
    std::unique_ptr<runtime::Loop> make_loop(Loaded& loaded, const loop::PlanLoop& plan);
    std::unique_ptr<runtime::Branch> make_branch(Loaded& loaded, const loop::PlanBranch& plan);
    std::optional<runtime::Condition> make_condition(Loaded& loaded,
                                                     std::optional<size_t> region,
                                                     loop::StorageId value);
    Result<void> fill_inputs(Loaded& loaded);
    Result<void> interpret(Loaded& loaded,
                           const loop::PlanStep& step,
                           const loop::InterpretedStep& interpreted);
    Result<void> update_variables(Loaded& loaded);
    Result<void> begin_by_shapes(std::span<const Bytes> inputs);
    Result<bool> run_steps_directly(std::span<const Bytes> inputs,
                                    std::span<const Bytes> given,
                                    const Receiver& receive,
                                    std::span<const Room> rooms,
                                    void* stream);
    void end_directly(const Loaded& loaded);
    bool updates_directly(const loop::Plan& plan) const;
    void update_directly(Loaded& loaded);
    Result<bool> run_on_device(Loaded& loaded,
                               std::span<const Bytes> inputs,
                               const Receiver& receive,
                               std::span<const Room> rooms,
                               void* stream);
    static Result<void> give_inputs(Loaded& loaded, std::span<const Bytes> inputs, void* stream);
    static Result<Output> take_output(Loaded& loaded, size_t index, const Room& room);
    Result<std::vector<Output>> copy_and_run(Loaded& loaded,
                                             std::span<const Bytes> inputs,
                                             std::span<const Room> rooms,
                                             void* stream);
    bool is_direct(const loop::Plan& plan) const;
    void find_places(Loaded& loaded) const;
    std::vector<DirectTensor> places_of(const loop::Plan& plan,
                                        const std::vector<ir::Port>& ports) const;
    static bool takes(std::span<const DirectTensor> places, std::span<const Bytes> inputs);
    CarriedValue* find_carried(ir::TensorId loop::CarriedPair::* side, ir::TensorId id);
    std::vector<Bytes> with_carried(std::span<const Bytes> inputs);
    static bool in_place(const Loaded& loaded, const CarriedValue& value);
    static Output direct_output(Loaded& loaded, size_t index);
    void use_rooms(BorrowedMemory& borrowed, std::span<const Room> rooms);
    Result<void> add_carried(BorrowedMemory& borrowed,
                             CarriedValue& value,
                             size_t index,  // of the input
                             const Bytes& given,
                             std::vector<tensor::Tensor>& copies);
    Result<void> keep_carried(Loaded& loaded);
    // For kernels with run-time extents and their tensors.
    Result<int64_t> told_number(Loaded& loaded, ir::SymId id);
    Result<tensor::Shape> told_shape(Loaded& loaded, ir::TensorId id);
    Result<void> make_room(Loaded& loaded, ir::TensorId id, tensor::Shape shape);
    Result<void> fill_dynamic(Loaded& loaded, ir::TensorId id);
    Result<void> give_dynamic(Loaded& loaded, ir::TensorId id);
    Result<interpret::Array> dynamic_array(Loaded& loaded, ir::TensorId id);
    Result<void> tell_numbers(Loaded& loaded, const loop::DynamicKernel& dynamic);
    Result<void> make_results(Loaded& loaded,
                              const loop::PlanStep& step,
                              const loop::DynamicKernel& dynamic);
    Result<void> check_reads(Loaded& loaded, const loop::DynamicKernel& dynamic);
    Result<void> end_branch(Loaded& loaded, const loop::PlanBranch& branch, size_t arm);
    Result<void> check_assertions(Loaded& loaded, ir::OpId id, bool all);
    int64_t tell_items(Loaded& loaded, const loop::DynamicKernel& dynamic);
    Result<void> run_dynamic(Loaded& loaded,
                             const loop::PlanStep& step,
                             const loop::DynamicKernel& dynamic,
                             const runtime::KernelCall& call);
    Result<interpret::Array> array_of(Loaded& loaded, ir::TensorId id);

    interpret::State& state_;
    EngineOptions options_;
    interpret::Interpreter interpreter_;
    std::shared_ptr<SharedCode> shared_;
    const std::vector<ir::SymId> growing_;
    std::vector<CarriedValue> carried_;
    bool carrying_ = false;  // the code is for a run from bytes to bytes
    std::map<CodeKey, std::unique_ptr<Loaded>> loaded_;
    Loaded* current_ = nullptr;
    uint64_t uses_ = 0;
    uint64_t version_ = 0;          // of the values of variables, as a count of updates
    Loaded* changed_ = nullptr;     // its variables are newer than those of the state
    bool without_code_ = false;     // the kernels of the last plan could not be compiled
    bool failed_directly_ = false;  // the last run from bytes to bytes, in one of its steps
    bool device_failed_ = false;
};

}  // namespace lemma::engine
