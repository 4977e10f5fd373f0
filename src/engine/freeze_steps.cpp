// SPDX-License-Identifier: Apache-2.0
// Translates the steps of a plan to those of a frozen plan: storages become places, elements become
// bytes.
#include <algorithm>

#include "base/check.h"
#include "base/match.h"
#include "engine/freeze_impl.h"

namespace lemma::engine {

using loop::FrozenLoop;
using loop::FrozenMemory;
using loop::FrozenPlace;
using loop::StorageId;

namespace {

int64_t element_bytes(const loop::Plan& plan, StorageId id) {
    return tensor::dtype_size(plan.storages[id].dtype);
}

int64_t storage_bytes(const loop::Plan& plan, StorageId id) {
    return plan.storages[id].elements * element_bytes(plan, id);
}

}  // namespace

loop::FrozenSteps Freezer::make_steps(const loop::Region& region) {
    loop::FrozenSteps steps;
    for (const size_t number : region) add_step(number, steps);
    return steps;
}

void Freezer::add_step(size_t number, loop::FrozenSteps& to) {
    const loop::PlanStep& step = plan_.steps[number];
    const auto add = [&](decltype(loop::FrozenStep::kind) kind) {
        to.push_back({.label = step.label, .kind = std::move(kind)});
    };
    match(
        step.kind,
        [&](const loop::ScheduledKernel&) { add(make_call(step)); },
        [&](const loop::DynamicKernel& kernel) { add_dynamic(step, kernel, to); },
        [&](const loop::InterpretedStep&) {
            add(make_intrinsic(program_.operations[step.op], step.op));
        },
        [&](const loop::CheckStep&) { add_check(step, to); },
        [&](const loop::PlanLoop& loop) { add(make_loop(loop)); },
        [&](const loop::PlanBranch& branch) { add(make_branch(branch)); });
}

// Bits of another type are just copied.
decltype(loop::FrozenStep::kind) Freezer::make_intrinsic(const ir::Operation& op, ir::OpId id) {
    loop::FrozenIntrinsic out;
    out.op = id;
    const auto list = [&](const std::vector<ir::Port>& ports,
                          std::vector<loop::FrozenIntrinsic::Operand>& to) {
        for (const ir::TensorId tensor : tensors_of(ports)) {
            const auto view = result_view(tensor);
            LEMMA_CHECK(view);  // has_function has checked it
            const auto wide = wide_.find(tensor);
            to.push_back({view->place,
                          view->dtype,
                          view->shape,
                          {FrozenMemory::Arena, 0, wide == wide_.end() ? 0 : wide->second}});
        }
    };
    list(op.inputs, out.inputs);
    list(op.outputs, out.outputs);
    if (!is_bit_cast(op)) return out;
    const loop::FrozenIntrinsic::Operand& from = out.inputs[0];
    const int64_t bytes = tensor::volume(from.shape).value_or(0) * tensor::dtype_size(from.dtype);
    return loop::FrozenCopy{from.place, out.outputs[0].place, bytes, {}};
}

// Equal kernels are one.
loop::FrozenCall Freezer::make_call(const loop::PlanStep& step) {
    const loop::ScheduledKernel& kernel = *step.kernel();
    loop::FrozenCall call;
    const auto [found, fresh] =
        kernels_.try_emplace(loop::print(kernel.function), out_.kernels.size());
    if (fresh) out_.kernels.push_back({kernel, step.label});
    call.kernel = found->second;
    for (const StorageId id : kernel.arguments) {
        call.alone |= id.valid() && plan_.storages[id].scratch;
        call.places.push_back(id.valid() ? at(id) : FrozenPlace{FrozenMemory::Flag, 0, 0});
    }
    return call;
}

uint32_t Freezer::pointer(StorageId id) const {
    const FrozenPlace place = at(id);
    LEMMA_CHECK(place.memory == FrozenMemory::Moving && place.offset == 0);
    return place.number;
}

std::optional<loop::FrozenCondition> Freezer::make_condition(std::optional<size_t> region,
                                                             StorageId value) {
    if (!region) return std::nullopt;
    return loop::FrozenCondition{make_steps(plan_.regions[*region]), at(value)};
}

loop::FrozenPack Freezer::make_pack(const loop::StoragePack& pack) const {
    if (pack.count == 0) return {};
    return {at(pack.first), pack.stride * element_bytes(plan_, pack.first), pack.count};
}

std::vector<loop::FrozenCopy> Freezer::make_copies(
    const std::vector<loop::PlanCopy>& copies) const {
    std::vector<loop::FrozenCopy> result;
    for (const loop::PlanCopy& copy : copies) {
        // The smaller one is the tensor; the other may be a pack.
        const int64_t bytes =
            std::min(storage_bytes(plan_, copy.from), storage_bytes(plan_, copy.to));
        FrozenPlace to = at(copy.to);
        to.offset += copy.to_begin * element_bytes(plan_, copy.to);
        result.push_back({at(copy.from), to, bytes, {}});
    }
    return result;
}

loop::FrozenBranch Freezer::make_branch(const loop::PlanBranch& branch) {
    loop::FrozenBranch out;
    for (const StorageId id : branch.outputs) out.outputs.push_back(pointer(id));
    for (const loop::PlanBranch::Arm& arm : branch.arms) {
        loop::FrozenBranch::Arm made;
        made.condition = make_condition(arm.condition, arm.value);
        made.body = make_steps(plan_.regions[arm.body]);
        for (const StorageId id : arm.results) made.results.push_back(at(id));
        out.arms.push_back(std::move(made));
    }
    return out;
}

FrozenLoop Freezer::make_loop(const loop::PlanLoop& loop) {
    const auto number = [&](StorageId id) -> std::optional<loop::FrozenNumber> {
        if (!id.valid()) return std::nullopt;
        return loop::FrozenNumber{at(id), plan_.storages[id].dtype};
    };
    FrozenLoop out;
    out.count = loop.count.value_or(options_.max_loop_steps);
    out.must_end = !loop.count && !loop.dynamic_count.valid();
    out.dynamic_count = number(loop.dynamic_count);
    out.index = number(loop.index);
    out.most_results = loop.most_results;
    out.before = make_copies(loop.before);
    out.after = make_copies(loop.after);
    for (const auto& item : loop.items) {
        out.items.push_back({pointer(item.seen), make_pack(item.pack)});
    }
    for (const auto& from : loop.carried) {
        FrozenLoop::Carried carried;
        carried.passing = from.stays    ? FrozenLoop::Passing::Stays
                          : from.copied ? FrozenLoop::Passing::Copied
                                        : FrozenLoop::Passing::Moves;
        carried.seen = pointer(from.seen);
        carried.outcome = pointer(from.outcome);
        carried.initial = at(from.initial);
        carried.result = at(from.result);
        for (size_t i : {0, 1}) {
            if (from.slots[i].valid()) carried.slots[i] = at(from.slots[i]);
        }
        carried.bytes = storage_bytes(plan_, from.seen);
        out.carried.push_back(carried);
    }
    for (const auto& from : loop.written) {
        FrozenLoop::Written written;
        written.result = pointer(from.result);
        if (from.pack) written.pack = make_pack(*from.pack);
        for (size_t i : {0, 1}) {
            if (from.slots[i].valid()) written.slots[i] = at(from.slots[i]);
        }
        out.written.push_back(written);
    }
    for (const auto& from : loop.collected) {
        out.collected.push_back(
            {at(from.result), make_pack(from.pack), storage_bytes(plan_, from.result)});
    }
    out.pre = make_condition(loop.pre_condition, loop.pre_value);
    out.body = make_steps(plan_.regions[loop.body]);
    out.post = make_condition(loop.post_condition, loop.post_value);
    return out;
}

// ---- After the steps ----------------------------------------------------------------------------

Result<FrozenView> Freezer::result_view(ir::TensorId id) {
    if (const auto found = plan_.places.find(id); found != plan_.places.end()) {
        const loop::BufferView& view = found->second;
        return FrozenView{at(view), view.dtype, view.shape, view.layout.strides};
    }
    FrozenView view;
    view.dtype = program_.tensors[id].dtype;
    LEMMA_TRY(view.shape, state_.shape_of(id, false));
    view.strides = loop::row_major(view.shape).strides;
    const auto kept = extra_at_.find(id);
    const auto made = extra_results_.find(id);
    const auto constant = extra_constants_.find(id);
    const auto input = std::ranges::find(inputs_, id);
    if (kept != extra_at_.end()) {
        view.place = {FrozenMemory::State, 0, kept->second};
    } else if (made != extra_results_.end()) {
        view.place = {FrozenMemory::Arena, 0, made->second};
    } else if (constant != extra_constants_.end()) {
        view.place = {FrozenMemory::Constant, 0, constant->second};
    } else if (input != inputs_.end()) {
        view.place = {FrozenMemory::Input, static_cast<uint32_t>(input - inputs_.begin()), 0};
    } else {
        return std::unexpected(
            Error{"no step makes the tensor `" + program_.tensors[id].name + "`"});
    }
    return view;
}

void Freezer::add_copy(const FrozenView& from, const FrozenView& to) {
    loop::FrozenCopy copy = copy_of(from, to);
    if (copy.bytes > 0) out_.steps.push_back({.label = "", .kind = std::move(copy)});
}

Result<void> Freezer::add_outputs() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
        LEMMA_TRY(const bool done, add_open_output(i));
        if (done) continue;
        LEMMA_TRY(const FrozenView from, result_view(outputs_[i]));
        add_copy(from,
                 {{FrozenMemory::Output, static_cast<uint32_t>(i), 0},
                  from.dtype,
                  from.shape,
                  loop::row_major(from.shape).strides});
    }
    return {};
}

// All updates are read before any variable changes, so values that may lie in the state are copied
// twice.
Result<void> Freezer::add_updates() {
    std::vector<std::pair<FrozenView, FrozenView>> later;
    for (const ir::Update& update : program_.updates) {
        LEMMA_TRY(const FrozenView from, result_view(update.value));
        LEMMA_TRY(const FrozenView to, result_view(update.variable));
        if (from.shape != to.shape || from.dtype != to.dtype) {
            return std::unexpected(Error{"a variable gets a value of another shape or type"});
        }
        const bool may_be_state =
            from.place.memory == FrozenMemory::State || from.place.memory == FrozenMemory::Moving;
        if (!may_be_state) {
            later.emplace_back(from, to);
            continue;
        }
        const int64_t elements = tensor::volume(from.shape).value_or(0);
        LEMMA_TRY(const int64_t offset, add_bytes(arena_bytes_, elements, from.dtype));
        const FrozenView between{{FrozenMemory::Arena, 0, offset},
                                 from.dtype,
                                 from.shape,
                                 loop::row_major(from.shape).strides};
        add_copy(from, between);
        later.emplace_back(between, to);
    }
    for (const auto& [from, to] : later) add_copy(from, to);
    return {};
}

}  // namespace lemma::engine
