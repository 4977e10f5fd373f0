// SPDX-License-Identifier: Apache-2.0
// engine/freeze_impl.h — shared parts of freezing; see freeze.h.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/freeze.h"
#include "loop/plan/plan.h"
#include "runtime/memory.h"

namespace lemma::engine {

// A tensor that a copy reads or writes.
struct FrozenView {
    loop::FrozenPlace place;  // of the first element
    tensor::DType dtype{};
    tensor::Shape shape;
    std::vector<int64_t> strides;  // elements
};

class Freezer {
public:
    Freezer(interpret::State& state, const FreezeOptions& options)
        : state_(state),
          program_(state.program()),
          options_(options),
          open_(state.own_symbols(), options.open, state.known_extents()) {}

    Result<Frozen> run();
    // The plan of one sample; nothing if samples are not separate. The extent of the samples is
    // open.
    Result<std::optional<Frozen>> run_samples();

private:
    void find_obstacles(Frozen& frozen);
    std::string open_text(const loop::PlanStep& step);
    static std::vector<ir::TensorId> tensors_of(const std::vector<ir::Port>& ports);
    static bool is_bit_cast(const ir::Operation& op);
    bool has_function(const loop::PlanStep& step) const;
    Result<void> list_interface();
    Result<loop::FrozenTensor> interface_tensor(std::string name, ir::TensorId id);

    // ---- Runtime extents (freeze_extents.cpp) ---------------------------------------------------

    bool is_dynamic(ir::TensorId id) const { return plan_.dynamic_places.contains(id); }
    bool is_input(ir::TensorId id) const;
    uint32_t input_number(ir::TensorId id) const;
    // Gives tensors with runtime extents memory for their upper bounds.
    Result<void> bound_memory();
    // The code before a step with runtime extents; else why there is none.
    Result<loop::Function> extent_code(const loop::PlanStep& step);
    void check_assertions(ExtentCode& code, ir::OpId op) const;
    Result<void> tell_numbers(ExtentCode& code,
                              const loop::PlanStep& step,
                              const loop::DynamicKernel& kernel);
    Result<void> fill_constant(ExtentCode& code, ir::TensorId id) const;
    static void tell_items(ExtentCode& code,
                           const loop::RunItems& items,
                           const std::vector<loop::ExprId>& numbers,
                           loop::BufferId told,
                           loop::BufferId scratch);
    // Constants with runtime values that the kernel reads.
    std::vector<ir::TensorId> open_constants(const loop::DynamicKernel& kernel) const;
    Result<void> check_control(const loop::PlanStep& step) const;
    Result<void> place_extents();
    loop::FrozenPlace place_input(ir::TensorId id) const;
    loop::FrozenPlace count_of(ir::TensorId id) const;  // of its elements
    Result<void> add_shapes();
    Result<loop::FrozenShapes> shapes_kernel(bool all_assertions);
    size_t add_kernel(loop::Function function, std::string label);
    void add_dynamic(const loop::PlanStep& step,
                     const loop::DynamicKernel& kernel,
                     loop::FrozenSteps& to);
    void add_check(const loop::PlanStep& step, loop::FrozenSteps& to);
    Result<bool> add_open_output(size_t number);

    // ---- Memory (freeze_memory.cpp) -------------------------------------------------------------

    Result<void> place_storages();
    Result<void> place_given(loop::StorageId id);
    Result<void> place_updated();
    Result<void> place_intrinsics();
    Result<int64_t> add_bytes(int64_t& block, int64_t elements, tensor::DType dtype) const;
    // The place of a storage; only for those that are needed after the steps on constants.
    loop::FrozenPlace at(loop::StorageId id) const;
    loop::FrozenPlace at(const loop::BufferView& view) const;

    // ---- Constants (freeze_constants.cpp) -------------------------------------------------------

    Result<void> fill_blocks();
    Result<void> fill(ir::TensorId id, const loop::BufferView& view, void* to);
    Result<std::optional<tensor::Tensor>> stored_data(ir::TensorId id,
                                                      const loop::BufferView& view) const;
    Result<void> run_once();
    Result<void> prepare_once(loop::StorageId root);
    void* once_address(loop::StorageId id) const;

    // ---- Steps (freeze_steps.cpp) ---------------------------------------------------------------

    loop::FrozenSteps make_steps(const loop::Region& region);
    void add_step(size_t number, loop::FrozenSteps& to);
    decltype(loop::FrozenStep::kind) make_intrinsic(const ir::Operation& op, ir::OpId id);
    loop::FrozenCall make_call(const loop::PlanStep& step);
    loop::FrozenLoop make_loop(const loop::PlanLoop& loop);
    loop::FrozenBranch make_branch(const loop::PlanBranch& branch);
    std::optional<loop::FrozenCondition> make_condition(std::optional<size_t> region,
                                                        loop::StorageId value);
    loop::FrozenPack make_pack(const loop::StoragePack& pack) const;
    std::vector<loop::FrozenCopy> make_copies(const std::vector<loop::PlanCopy>& copies) const;
    uint32_t pointer(loop::StorageId id) const;
    Result<void> add_outputs();
    Result<void> add_updates();
    // Where the value of an output or an update is after a run.
    Result<FrozenView> result_view(ir::TensorId id);
    void add_copy(const FrozenView& from, const FrozenView& to);

    interpret::State& state_;
    const ir::Program& program_;
    const FreezeOptions& options_;
    OpenExtents open_;
    std::vector<ir::TensorId> counted_;    // inputs and outputs whose elements are counted
    loop::FrozenPlace numbers_, scratch_;  // of FrozenShapes; of the code before a step
    std::vector<loop::FrozenPick> picks_;
    loop::Plan plan_;
    loop::FrozenPlan out_;
    std::vector<ir::TensorId> inputs_, outputs_;
    std::vector<loop::FrozenPlace> places_;  // by storage: of those with memory of their own
    std::unordered_map<ir::TensorId, loop::BufferView, IdHash> extra_state_;  // without a storage
    std::unordered_map<ir::TensorId, int64_t, IdHash> extra_at_;              // in the state
    // Outputs and updates that are constants, with their offsets.
    std::unordered_map<ir::TensorId, int64_t, IdHash> extra_constants_;
    // Of operators without a formula: results that no kernel reads, and wide elements, in the
    // arena.
    std::unordered_map<ir::TensorId, int64_t, IdHash> extra_results_;
    std::unordered_map<ir::TensorId, int64_t, IdHash> wide_;
    std::vector<loop::FrozenCopy> input_copies_;
    int64_t constant_bytes_ = 0, state_bytes_ = 0, arena_bytes_ = 0;
    runtime::Memory constants_, state_block_;
    // Of the steps that run once.
    std::unordered_map<loop::StorageId, runtime::Memory, IdHash> once_;
    std::unordered_map<loop::StorageId, tensor::Tensor, IdHash> borrowed_;
    std::unordered_map<std::string, size_t> kernels_;  // by their text
};

// A copy from one view to the other, of the same shape.
loop::FrozenCopy copy_of(const FrozenView& from, const FrozenView& to);

}  // namespace lemma::engine
