// SPDX-License-Identifier: Apache-2.0
// Runtime extents in a frozen plan: memory for their upper bounds, and the code that computes
// numbers from them before a kernel runs.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "engine/freeze_impl.h"
#include "engine/samples.h"
#include "loop/schedule/run_items.h"
#include "tensor/room.h"

namespace lemma::engine {

using loop::ExprId;
using loop::FrozenMemory;
using loop::FrozenPlace;
using loop::Op;
using tensor::DType;

namespace {

constexpr int64_t kNumber = 8;  // bytes of an i64

FrozenPlace shifted(FrozenPlace place, int64_t numbers) {
    place.offset += numbers * kNumber;
    return place;
}

}  // namespace

bool Freezer::is_input(ir::TensorId id) const {
    return std::ranges::find(inputs_, id) != inputs_.end();
}

uint32_t Freezer::input_number(ir::TensorId id) const {
    const auto found = std::ranges::find(inputs_, id);
    LEMMA_CHECK(found != inputs_.end());
    return static_cast<uint32_t>(found - inputs_.begin());
}

// ---- Memory -------------------------------------------------------------------------------------

Result<void> Freezer::bound_memory() {
    if (plan_.dynamic_places.empty()) return {};
    for (const auto& [id, view] : plan_.dynamic_places) {
        loop::Storage& storage = plan_.storages[view.storage];
        if (!storage.targets.empty()) continue;  // the memory of the results of an arm
        LEMMA_TRY(const tensor::Shape most, open_.most(program_.tensors[id].shape));
        storage.moves = false;
        storage.elements = tensor::room(most).value_or(0);
        if (is_input(id)) storage.role = loop::StorageRole::Given;
    }
    for (loop::Storage& storage : plan_.storages) storage.offset = -1;
    plan_.arena_bytes = 0;
    std::vector<ir::TensorId> results = outputs_;
    for (const ir::Update& update : program_.updates) results.push_back(update.value);
    loop::plan_memory(plan_, results);
    return {};
}

// An input is read where the caller has it. A kernel may read the first element of an axis even if
// the axis is empty, so an input without elements needs memory.
FrozenPlace Freezer::place_input(ir::TensorId id) const {
    const FrozenPlace given{FrozenMemory::Input, input_number(id), 0};
    const auto pick = std::ranges::find(picks_, given, &loop::FrozenPick::from);
    return pick == picks_.end() ? given : FrozenPlace{FrozenMemory::Moving, pick->pointer, 0};
}

// Which elements are counted, and where: in the numbers after the shapes of the outputs.
Result<void> Freezer::place_extents() {
    if (options_.open.empty()) return {};
    int64_t numbers = 0;
    for (const ir::TensorId id : outputs_) numbers += std::ssize(program_.tensors[id].shape);
    std::vector<int64_t> rooms;
    for (const ir::TensorId id : inputs_) {
        const auto& extents = program_.tensors[id].shape;
        if (!is_dynamic(id)) continue;
        LEMMA_TRY(const tensor::Shape most, open_.most(extents));
        int64_t room = 0;  // if one of the extents is 0
        for (size_t axis = 0; axis < extents.size(); ++axis) {
            if (open_.symbols().range(*open_.bounded(extents[axis])).low > 0) continue;
            tensor::Shape others = most;
            others[axis] = 1;
            room = std::max(room, tensor::room(others).value_or(0));
        }
        if (room == 0) continue;
        counted_.push_back(id);
        rooms.push_back(room);
    }
    const size_t picked = counted_.size();
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const bool counted = std::ranges::find(counted_, outputs_[i]) != counted_.end();
        if (!out_.outputs[i].axes.empty() && !counted) counted_.push_back(outputs_[i]);
    }
    LEMMA_TRY(const int64_t at,
              add_bytes(arena_bytes_, numbers + std::ssize(counted_), DType::I64));
    numbers_ = {FrozenMemory::Arena, 0, at};
    for (size_t i = 0; i < picked; ++i) {
        LEMMA_TRY(const int64_t none,
                  add_bytes(arena_bytes_, rooms[i], program_.tensors[counted_[i]].dtype));
        picks_.push_back({.pointer = out_.pointers++,
                          .from = {FrozenMemory::Input, input_number(counted_[i]), 0},
                          .otherwise = {FrozenMemory::Arena, 0, none},
                          .count = shifted(numbers_, numbers + static_cast<int64_t>(i))});
    }
    size_t most = 1;
    for (const loop::PlanStep& step : plan_.steps) {
        const auto* const kernel = std::get_if<loop::DynamicKernel>(&step.kind);
        if (kernel) most = std::max(most, 1 + kernel->cleared.size());
    }
    LEMMA_TRY(const int64_t scratch,
              add_bytes(arena_bytes_, static_cast<int64_t>(most), DType::I64));
    scratch_ = {FrozenMemory::Arena, 0, scratch};
    return {};
}

FrozenPlace Freezer::count_of(ir::TensorId id) const {
    int64_t before = 0;
    for (const ir::TensorId output : outputs_) before += std::ssize(program_.tensors[output].shape);
    const auto found = std::ranges::find(counted_, id);
    LEMMA_CHECK(found != counted_.end());
    return shifted(numbers_, before + (found - counted_.begin()));
}

// The kernel that checks the extents, tells the shapes of the outputs and counts elements.
// `all_assertions`: also those of operations.
Result<loop::FrozenShapes> Freezer::shapes_kernel(bool all_assertions) {
    ExtentCode code(open_);
    const loop::BufferId numbers = code.build().buffer("numbers", DType::I64, true);
    for (const OpenExtent& extent : options_.open) {
        out_.extents.push_back({extent.name, extent.low, extent.high});
        code.check_given(extent.symbol, extent.low, extent.high);
    }
    for (const ir::Assertion& assertion : program_.assertions) code.require(assertion.condition);
    for (size_t i = 0; all_assertions && i < program_.operations.size(); ++i) {
        check_assertions(code, make_id<ir::OpId>(i));
    }
    int64_t at = 0;
    for (const ir::TensorId id : outputs_) {
        for (const ir::SymId part : program_.tensors[id].shape) {
            code.require_inside(part, 0, tensor::kMaxElements);
            code.store(numbers, at++, code.value(part));
        }
    }
    for (const ir::TensorId id : counted_) {
        code.store(numbers, at++, code.elements(program_.tensors[id].shape));
    }
    if (!code.why().empty()) return std::unexpected(Error{code.why()});
    return loop::FrozenShapes{.kernel = add_kernel(code.finish(), "shapes"), .numbers = at};
}

// The first steps of a run.
Result<void> Freezer::add_shapes() {
    if (options_.open.empty()) return {};
    LEMMA_TRY(out_.shapes, shapes_kernel(false));
    loop::FrozenCall call;
    call.kernel = out_.shapes->kernel;
    call.places = {{FrozenMemory::Extents, 0, 0}, numbers_, {FrozenMemory::Flag, 0, 0}};
    call.error = loop::FrozenError::Extents;
    out_.steps.push_back({.label = "extents", .kind = std::move(call)});
    for (const loop::FrozenPick& pick : picks_) out_.steps.push_back({.label = "", .kind = pick});
    return {};
}

// ---- Samples ------------------------------------------------------------------------------------

// Fixes the extent to one sample, and describes the interface for all of them.
Result<std::optional<Frozen>> Freezer::run_samples() {
    if (options_.open.size() != 1) return std::nullopt;
    const ir::SymId samples = options_.open[0].symbol;
    if (!has_separate_samples(program_, open_, samples)) return std::nullopt;
    state_.learn_extent(samples, 1);
    FreezeOptions one = options_;
    one.open.clear();
    Freezer freezer(state_, one);
    auto frozen = freezer.run();
    state_.forget_extent(samples);
    if (!frozen || !frozen->obstacles.empty()) return std::nullopt;
    loop::FrozenPlan& plan = frozen->plan;
    LEMMA_TRY(list_interface());
    const auto describe = [](const std::vector<loop::FrozenTensor>& all,
                             std::vector<loop::FrozenTensor>& tensors) {
        for (size_t i = 0; i < tensors.size(); ++i) {
            const int64_t bytes = tensors[i].bytes;
            tensors[i] = all[i];
            tensors[i].sample_bytes = all[i].axes.empty() ? 0 : bytes;
        }
    };
    describe(out_.inputs, plan.inputs);
    describe(out_.outputs, plan.outputs);
    const auto shapes = shapes_kernel(true);
    if (!shapes) return std::nullopt;
    plan.kernels.push_back(std::move(out_.kernels[shapes->kernel]));
    plan.shapes = {.kernel = plan.kernels.size() - 1, .numbers = shapes->numbers};
    plan.extents = std::move(out_.extents);
    plan.samples = true;
    return std::optional(std::move(*frozen));
}

size_t Freezer::add_kernel(loop::Function function, std::string label) {
    const auto [found, fresh] = kernels_.try_emplace(loop::print(function), out_.kernels.size());
    if (!fresh) return found->second;
    loop::FrozenKernel& kernel = out_.kernels.emplace_back();
    kernel.kernel.function = std::move(function);
    kernel.kernel.schedule = "extents";
    kernel.label = std::move(label);
    return found->second;
}

// ---- The code before a step ---------------------------------------------------------------------

void Freezer::check_assertions(ExtentCode& code, ir::OpId op) const {
    for (const ir::Assertion& assertion : program_.operations[op].assertions) {
        code.require(assertion.condition);
    }
}

std::vector<ir::TensorId> Freezer::open_constants(const loop::DynamicKernel& kernel) const {
    std::vector<ir::TensorId> result;
    for (const ir::TensorId id : kernel.read) {
        const ir::TensorRole role = program_.tensors[id].role;
        if (role == ir::TensorRole::Constant || role == ir::TensorRole::Variable) {
            result.push_back(id);
        }
    }
    return result;
}

// Stores a constant whose elements follow from extents.
Result<void> Freezer::fill_constant(ExtentCode& code, ir::TensorId id) const {
    const ir::Tensor& tensor = program_.tensors[id];
    constexpr int64_t kMost = 256;
    tensor::Shape shape;
    for (const ir::SymId part : tensor.shape) {
        const auto extent = state_.program().symbols.as_int(part);
        if (!extent) {
            return std::unexpected(
                Error{fmt::format("the constant `{}` has runtime extents", tensor.name)});
        }
        shape.push_back(*extent);
    }
    const int64_t elements = tensor::bounded_volume(shape).value_or(kMost + 1);
    const bool listed = tensor.items.size() == 1 || std::ssize(tensor.items) == elements;
    if (elements > kMost || !listed || tensor.role != ir::TensorRole::Constant) {
        return std::unexpected(
            Error{fmt::format("the constant `{}` has too many runtime values", tensor.name)});
    }
    const loop::BufferId to = code.build().buffer("constant", tensor.dtype, true);
    for (int64_t i = 0; i < elements; ++i) {
        const ir::Scalar& item = tensor.items[tensor.items.size() == 1 ? 0 : i];
        const loop::Kind kind = loop::kind_of(tensor.dtype);
        ExprId value;
        if (const auto* const symbol = std::get_if<ir::SymId>(&item)) {
            value = code.build().cast(code.value(*symbol), kind);
        } else if (const auto* const number = std::get_if<int64_t>(&item)) {
            value = code.build().cast(code.build().integer(*number), kind);
        } else if (const auto* const real = std::get_if<double>(&item)) {
            value = code.build().cast(code.build().real(*real, loop::Kind::F64), kind);
        } else {
            return std::unexpected(
                Error{fmt::format("the constant `{}` has other values than numbers", tensor.name)});
        }
        code.store(to, i, value);
    }
    return {};
}

// The items of the kernel, and the steps of an item (loop::cut_items).
void Freezer::tell_items(ExtentCode& code,
                         const loop::RunItems& items,
                         const std::vector<ExprId>& numbers,
                         loop::BufferId told,
                         loop::BufferId scratch) {
    loop::Builder& b = code.build();
    const ExprId one = b.integer(1);
    const auto end = static_cast<int64_t>(numbers.size());
    if (items.one) {
        code.store(told, end, one);
        code.store(scratch, 0, one);
        return;
    }
    const auto extent = [&](const loop::RunItems::Extent& e) {
        const ExprId times = b.integer(e.times);
        return e.number ? b.make(Op::Mul, {numbers[*e.number], times}) : times;
    };
    const auto most = [&](ExprId x, int64_t bound) {
        return b.make(Op::Min, {x, b.integer(bound)});
    };
    const auto ceil_div = [&](ExprId x, ExprId by) {
        return b.make(Op::Div, {b.make(Op::Sub, {b.make(Op::Add, {x, by}), one}), by});
    };
    const ExprId all = extent(items.outermost);
    const ExprId together = b.integer(items.together);
    const ExprId steps = b.make(Op::Max, {b.make(Op::Div, {all, together}), one});
    ExprId work = together;  // of a step
    for (const loop::RunItems::Extent& inner : items.inner) {
        work =
            most(b.make(Op::Mul, {work, most(extent(inner), loop::kLeastWork)}), loop::kLeastWork);
    }
    const ExprId busy = b.make(Op::Max, {work, one});
    const ExprId least = b.make(Op::Div, {b.integer(loop::kLeastWork), busy});
    const ExprId wanted = b.make(
        Op::Max,
        {most(b.make(Op::Div, {steps, b.make(Op::Max, {least, one})}), loop::kEnoughItems), one});
    const ExprId piece = ceil_div(steps, wanted);
    const ExprId none = b.make(Op::LessEqual, {all, b.integer(0)});
    code.store(told, end, piece);
    code.store(scratch, 0, b.select(none, b.integer(0), ceil_div(steps, piece)));
}

Result<void> Freezer::tell_numbers(ExtentCode& code,
                                   const loop::PlanStep& step,
                                   const loop::DynamicKernel& kernel) {
    loop::Builder& b = code.build();
    const loop::BufferId told = b.buffer("told", DType::I64, true);
    const loop::BufferId scratch = b.buffer("scratch", DType::I64, true);
    std::vector<ExprId> numbers;
    for (const loop::ShapeArgument& number : kernel.numbers) {
        ExprId value = code.value(number.symbol);
        if (number.count) value = b.make(Op::Max, {value, b.integer(0)});
        if (number.var.valid()) {
            code.require_inside(number.symbol, number.count ? INT64_MIN : 0, number.most);
        }
        code.store(told, static_cast<int64_t>(numbers.size()), value);
        numbers.push_back(value);
    }
    tell_items(code, kernel.kernel.run_items, numbers, told, scratch);
    if (kernel.first) {
        for (const ir::OpId op : kernel.within) check_assertions(code, op);
        check_assertions(code, step.op);
        for (const auto* const ids : {&kernel.inlined, &step.writes}) {
            for (const ir::TensorId id : *ids) code.elements(program_.tensors[id].shape);
        }
    }
    for (size_t i = 0; kernel.first && i < kernel.cleared.size(); ++i) {
        code.store(scratch,
                   static_cast<int64_t>(i) + 1,
                   code.elements(program_.tensors[kernel.cleared[i]].shape));
    }
    for (const ir::TensorId id : open_constants(kernel)) {
        LEMMA_TRY(fill_constant(code, id));
    }
    return {};
}

Result<loop::Function> Freezer::extent_code(const loop::PlanStep& step) {
    ExtentCode code(open_);
    if (const auto* const kernel = std::get_if<loop::DynamicKernel>(&step.kind)) {
        for (const auto* const ids : {&kernel->read, &kernel->inlined, &step.writes}) {
            for (const ir::TensorId id : *ids) {
                LEMMA_TRY(open_.most(program_.tensors[id].shape));
            }
        }
        LEMMA_TRY(tell_numbers(code, step, *kernel));
        for (const ir::TensorId id : kernel->cleared) {
            const auto known = plan_.places.find(id);
            const bool plain = known == plan_.places.end() ||
                               known->second.layout == loop::row_major(known->second.shape);
            if (!plain) return std::unexpected(Error{"it clears a part of a tensor"});
        }
    } else {
        check_assertions(code, step.op);
    }
    if (!code.why().empty()) return std::unexpected(Error{code.why()});
    return code.finish();
}

// Conditions and results of control flow that are constants with runtime values have no code.
Result<void> Freezer::check_control(const loop::PlanStep& step) const {
    const auto check = [&](loop::StorageId id) -> Result<void> {
        if (!id.valid()) return {};
        const ir::TensorId tensor = plan_.storages[id].tensor;
        if (!tensor.valid() || !is_dynamic(tensor)) return {};
        const ir::TensorRole role = program_.tensors[tensor].role;
        if (role != ir::TensorRole::Constant && role != ir::TensorRole::Variable) return {};
        return std::unexpected(Error{
            fmt::format("the constant `{}` has runtime values", program_.tensors[tensor].name)});
    };
    if (const auto* const branch = std::get_if<loop::PlanBranch>(&step.kind)) {
        for (const loop::PlanBranch::Arm& arm : branch->arms) {
            LEMMA_TRY(check(arm.value));
            for (const loop::StorageId id : arm.results) {
                LEMMA_TRY(check(id));
            }
        }
    }
    if (const auto* const loop = std::get_if<loop::PlanLoop>(&step.kind)) {
        LEMMA_TRY(check(loop->pre_value));
        LEMMA_TRY(check(loop->post_value));
        LEMMA_TRY(check(loop->dynamic_count));
        for (const auto& carried : loop->carried) {
            LEMMA_TRY(check(carried.initial));
            LEMMA_TRY(check(carried.result));
        }
    }
    return {};
}

// ---- Steps --------------------------------------------------------------------------------------

void Freezer::add_dynamic(const loop::PlanStep& step,
                          const loop::DynamicKernel& kernel,
                          loop::FrozenSteps& to) {
    auto code = extent_code(step);
    LEMMA_CHECK(code);  // else it is an obstacle
    loop::FrozenCall before;
    before.kernel = add_kernel(std::move(*code), step.label);
    before.error = loop::FrozenError::Extents;
    before.places = {{FrozenMemory::Extents, 0, 0}, at(kernel.told), scratch_};
    for (const ir::TensorId id : open_constants(kernel)) {
        before.places.push_back(at(plan_.dynamic_places.at(id).storage));
    }
    before.places.push_back({FrozenMemory::Flag, 0, 0});
    to.push_back({.label = step.label, .kind = std::move(before)});
    for (size_t i = 0; kernel.first && i < kernel.cleared.size(); ++i) {
        const ir::TensorId id = kernel.cleared[i];
        const auto known = plan_.places.find(id);
        const FrozenPlace place = known != plan_.places.end()
                                      ? at(known->second)
                                      : at(plan_.dynamic_places.at(id).storage);
        const int64_t size = tensor::dtype_size(program_.tensors[id].dtype);
        to.push_back({.label = "",
                      .kind = loop::FrozenClear{
                          place, size, shifted(scratch_, static_cast<int64_t>(i) + 1)}});
    }
    if (kernel.kernel.function.items == 0) return;
    loop::FrozenCall call = make_call(step);
    call.items = scratch_;
    to.push_back({.label = "", .kind = std::move(call)});
}

// An output with runtime extents, or with elements that follow from them; false for others.
Result<bool> Freezer::add_open_output(size_t number) {
    const ir::TensorId id = outputs_[number];
    const FrozenPlace to{FrozenMemory::Output, static_cast<uint32_t>(number), 0};
    const auto dynamic = plan_.dynamic_places.find(id);
    const bool open = !out_.outputs[number].axes.empty();
    const bool constant = program_.tensors[id].role == ir::TensorRole::Constant;
    const bool follows = std::ranges::any_of(program_.tensors[id].items, [&](const auto& item) {
        const auto* const symbol = std::get_if<ir::SymId>(&item);
        return symbol && !open_.symbols().is_constant(open_.bounded(*symbol).value_or(*symbol));
    });
    if (constant && (open || follows)) {
        ExtentCode code(open_);
        LEMMA_TRY(fill_constant(code, id));
        if (!code.why().empty()) return std::unexpected(Error{code.why()});
        loop::FrozenCall call;
        call.kernel = add_kernel(code.finish(), program_.tensors[id].name);
        call.error = loop::FrozenError::Extents;
        call.places = {{FrozenMemory::Extents, 0, 0}, to, {FrozenMemory::Flag, 0, 0}};
        out_.steps.push_back({.label = "", .kind = std::move(call)});
        return true;
    }
    if (!open) return false;
    if (dynamic == plan_.dynamic_places.end() && !is_input(id)) {
        return std::unexpected(
            Error{fmt::format("no step makes the tensor `{}`", program_.tensors[id].name)});
    }
    const FrozenPlace from = dynamic != plan_.dynamic_places.end()
                                 ? at(dynamic->second.storage)
                                 : FrozenPlace{FrozenMemory::Input, input_number(id), 0};
    const int64_t size = tensor::dtype_size(program_.tensors[id].dtype);
    out_.steps.push_back({.label = "", .kind = loop::FrozenCopy{from, to, size, {}, count_of(id)}});
    return true;
}

void Freezer::add_check(const loop::PlanStep& step, loop::FrozenSteps& to) {
    auto code = extent_code(step);
    LEMMA_CHECK(code);  // else it is an obstacle
    loop::FrozenCall call;
    call.kernel = add_kernel(std::move(*code), step.label);
    call.error = loop::FrozenError::Extents;
    call.places = {{FrozenMemory::Extents, 0, 0}, {FrozenMemory::Flag, 0, 0}};
    to.push_back({.label = step.label, .kind = std::move(call)});
}

}  // namespace lemma::engine
