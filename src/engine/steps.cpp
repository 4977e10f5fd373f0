// SPDX-License-Identifier: Apache-2.0
// Translates the steps of a plan to those of the runtime: storages become pieces of memory,
// elements become bytes.
#include <algorithm>

#include "base/match.h"
#include "engine/impl.h"

namespace lemma::engine {

namespace {

int64_t element_bytes(const loop::Plan& plan, loop::StorageId id) {
    return tensor::dtype_size(plan.storages[id].dtype);
}

int64_t storage_bytes(const loop::Plan& plan, loop::StorageId id) {
    return plan.storages[id].elements * element_bytes(plan, id);
}

// A rough estimate for one thread, until runs have measured it.
double seconds_of(const loop::Plan& plan, const loop::PlanStep& step) {
    constexpr double kOperations = 3e10, kBytes = 1e10;  // per second
    double bytes = 0;
    for (const loop::StorageId id : step.kernel()->arguments) {
        if (id.valid()) bytes += static_cast<double>(storage_bytes(plan, id));
    }
    return std::max({step.operations / kOperations, bytes / kBytes, 1e-7});
}

// Adds a kernel to a kernel or to a wave of kernels.
void join(runtime::Step& step, runtime::Step kernel) {
    if (auto* const first = std::get_if<runtime::KernelCall>(&step.kind)) {
        runtime::KernelWave wave;
        wave.calls.push_back(std::move(*first));
        wave.numbers.push_back(step.number);
        step.kind = std::move(wave);
    }
    auto& wave = std::get<runtime::KernelWave>(step.kind);
    wave.calls.push_back(std::move(std::get<runtime::KernelCall>(kernel.kind)));
    wave.numbers.push_back(kernel.number);
}

}  // namespace

runtime::KernelCall Engine::make_call(Loaded& loaded, size_t number) {
    const loop::ScheduledKernel& kernel = *loaded.plan.steps[number].kernel();
    runtime::KernelCall call;
    call.kernel = loaded.code->kernels[number];
    call.items = kernel.function.items;
    const std::vector<int64_t>* numbers = &kernel.numbers;
    if (kernel.windows) {
        const loop::WindowCut cut = loop::cut_items(*kernel.windows, loaded.threads);
        call.items = cut.items;
        numbers = &loaded.window_numbers.emplace_back(cut.numbers());
    }
    call.seconds = seconds_of(loaded.plan, loaded.plan.steps[number]) /
                   static_cast<double>(std::max<int64_t>(call.items, 1));
    for (size_t i = 0; i < kernel.arguments.size(); ++i) {
        const loop::StorageId id = kernel.arguments[i];
        size_t piece = id.valid() ? loaded.piece(id) : runtime::kFlag;
        const int64_t offset = kernel.offsets.empty() ? 0 : kernel.offsets[i];
        if (offset != 0) piece = loaded.executable.add_alias(piece, offset);
        call.buffers.push_back(piece);
    }
    if (!loaded.code->on_device.empty()) {
        const Code::OnDevice& there = loaded.code->on_device[number];
        call.device = there.kernel;
        call.group = there.group;
        for (size_t i = 0; i < kernel.arguments.size(); ++i) {
            const loop::StorageId id = kernel.arguments[i];
            call.uses.push_back({id.valid() ? loaded.bytes(id) : 0, there.written[i] != 0});
        }
    }
    if (!numbers->empty()) {
        const size_t piece = loaded.executable.add_moving();
        loaded.executable.lend_memory(piece, numbers->data());
        call.buffers.push_back(piece);
    }
    return call;
}

runtime::Step Engine::make_step(Loaded& loaded, size_t number) {
    const loop::PlanStep& step = loaded.plan.steps[number];
    runtime::Step out;
    out.label = step.label;
    out.number = number;
    loaded.plan_steps.push_back(number);
    match(
        step.kind,
        [&](const loop::ScheduledKernel&) { out.kind = make_call(loaded, number); },
        [&](const loop::DynamicKernel& dynamic) {
            out.kind = runtime::HostCall(
                [this, &loaded, &step, &dynamic, call = make_call(loaded, number)] {
                    return run_dynamic(loaded, step, dynamic, call);
                });
        },
        [&](const loop::InterpretedStep& interpreted) {
            out.kind = runtime::HostCall([this, &loaded, &step, &interpreted] {
                return interpret(loaded, step, interpreted);
            });
        },
        [&](const loop::CheckStep&) {
            out.kind = runtime::HostCall(
                [this, &loaded, &step] { return check_assertions(loaded, step.op, true); });
        },
        [&](const loop::PlanLoop& loop) { out.kind = make_loop(loaded, loop); },
        [&](const loop::PlanBranch& branch) { out.kind = make_branch(loaded, branch); });
    return out;
}

runtime::Steps Engine::make_steps(Loaded& loaded, const loop::Region& region) {
    runtime::Steps steps;
    uint32_t wave = 0;
    for (const size_t number : region) {
        runtime::Step step = make_step(loaded, number);
        const uint32_t own = loaded.plan.steps[number].wave;
        if (own != 0 && own == wave) {
            join(steps.back(), std::move(step));
        } else {
            steps.push_back(std::move(step));
        }
        wave = own;
    }
    return steps;
}

std::optional<runtime::Condition> Engine::make_condition(Loaded& loaded,
                                                         std::optional<size_t> region,
                                                         loop::StorageId value) {
    if (!region) return std::nullopt;
    const size_t whose = loaded.plan_steps.back();
    runtime::Condition condition{make_steps(loaded, loaded.plan.regions[*region]),
                                 loaded.piece(value)};
    const ir::TensorId tensor = loaded.plan.storages[value].tensor;
    if (tensor.valid() && loaded.plan.dynamic_places.contains(tensor)) {
        // A constant with a run-time value: no step makes it.
        runtime::Step& fill = condition.steps.emplace_back();
        fill.number = whose;
        fill.kind =
            runtime::HostCall([this, &loaded, tensor] { return fill_dynamic(loaded, tensor); });
    }
    return condition;
}

std::unique_ptr<runtime::Branch> Engine::make_branch(Loaded& loaded, const loop::PlanBranch& plan) {
    auto branch = std::make_unique<runtime::Branch>();
    for (const loop::StorageId id : plan.outputs) branch->outputs.push_back(loaded.piece(id));
    for (const loop::PlanBranch::Arm& arm : plan.arms) {
        runtime::Branch::Arm out;
        out.condition = make_condition(loaded, arm.condition, arm.value);
        out.body = make_steps(loaded, loaded.plan.regions[arm.body]);
        for (const loop::StorageId id : arm.results) out.results.push_back(loaded.piece(id));
        branch->arms.push_back(std::move(out));
    }
    if (!plan.dynamic.empty()) {
        branch->taken = [this, &loaded, &plan](size_t arm) {
            return end_branch(loaded, plan, arm);
        };
    }
    return branch;
}

std::unique_ptr<runtime::Loop> Engine::make_loop(Loaded& loaded, const loop::PlanLoop& plan) {
    const loop::Plan& whole = loaded.plan;
    const auto piece = [&](loop::StorageId id) { return loaded.piece(id); };
    const auto pack = [&](const loop::StoragePack& p) {
        const int64_t size = p.count > 0 ? element_bytes(whole, p.first) : 0;
        return runtime::Pack{piece(p.first), p.stride * size, p.count};
    };
    const auto number = [&](loop::StorageId id) -> std::optional<runtime::Number> {
        if (!id.valid()) return std::nullopt;
        return runtime::Number{piece(id), whole.storages[id].dtype};
    };
    const auto copies = [&](const std::vector<loop::PlanCopy>& from) {
        std::vector<runtime::Copy> result;
        for (const loop::PlanCopy& copy : from) {
            // The smaller one is the tensor; the other may be a pack.
            const int64_t bytes =
                std::min(storage_bytes(whole, copy.from), storage_bytes(whole, copy.to));
            const int64_t begin = copy.to_begin * element_bytes(whole, copy.to);
            result.push_back({piece(copy.from), piece(copy.to), begin, bytes});
        }
        return result;
    };
    auto loop = std::make_unique<runtime::Loop>();
    loop->count = plan.count.value_or(options_.run.max_loop_steps);
    loop->must_end = !plan.count && !plan.dynamic_count.valid();
    loop->dynamic_count = number(plan.dynamic_count);
    loop->index = number(plan.index);
    loop->most_results = plan.most_results;
    loop->before = copies(plan.before);
    loop->after = copies(plan.after);
    for (const auto& item : plan.items) loop->items.push_back({piece(item.seen), pack(item.pack)});
    for (const auto& from : plan.carried) {
        using runtime::Loop;
        loop->carried.push_back({from.stays    ? Loop::Passing::Stays
                                 : from.copied ? Loop::Passing::Copied
                                               : Loop::Passing::Moves,
                                 piece(from.seen),
                                 piece(from.initial),
                                 piece(from.result),
                                 piece(from.outcome),
                                 {piece(from.slots[0]), piece(from.slots[1])},
                                 storage_bytes(whole, from.seen)});
    }
    for (const auto& from : plan.written) {
        runtime::Loop::Written written;
        written.result = piece(from.result);
        if (from.pack) written.pack = pack(*from.pack);
        for (size_t i : {0, 1}) written.slots[i] = piece(from.slots[i]);
        loop->written.push_back(written);
    }
    for (const auto& from : plan.collected) {
        loop->collected.push_back(
            {piece(from.result), pack(from.pack), storage_bytes(whole, from.result)});
    }
    loop->pre = make_condition(loaded, plan.pre_condition, plan.pre_value);
    loop->body = make_steps(loaded, whole.regions[plan.body]);
    loop->post = make_condition(loaded, plan.post_condition, plan.post_value);
    if (!plan.lengths.empty()) {
        loop->ended = [this, lengths = plan.lengths](int64_t steps) {
            for (const ir::SymId id : lengths) state_.learn_extent(id, steps);
        };
    }
    return loop;
}

}  // namespace lemma::engine
