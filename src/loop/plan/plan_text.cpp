// SPDX-License-Identifier: Apache-2.0
#include "loop/plan/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/match.h"
#include "loop/passes/graph_text.h"

namespace lemma::loop {

namespace {

const char* role_text(StorageRole role) {
    switch (role) {
        case StorageRole::Given:
            return "given";
        case StorageRole::Kept:
            return "kept";
        case StorageRole::Constant:
            return "constant";
        case StorageRole::Computed:
            return "computed";
    }
    return "?";
}

std::string kernel_text(const ScheduledKernel& kernel) {
    std::vector<std::string> arguments;
    for (const StorageId id : kernel.arguments) {
        arguments.push_back(id.valid() ? fmt::format("s{}", id.value) : "flag");
    }
    return fmt::format(
        ": {}\n  on {}\n{}", kernel.schedule, fmt::join(arguments, ", "), print(kernel.function));
}

}  // namespace

std::string print(const Plan& plan, const ir::Program& program) {
    std::string text;
    for (const PlanStep& step : plan.steps) {
        text += head(program, step.op, step.label);
        if (step.once) text += " once";
        text += match(
            step.kind,
            [](const ScheduledKernel& kernel) { return kernel_text(kernel); },
            [](const DynamicKernel& dynamic) { return kernel_text(dynamic.kernel); },
            [](const InterpretedStep& s) { return fmt::format(": interpreted, for {}\n", s.why); },
            [](const CheckStep&) { return std::string(": checks its results\n"); },
            [](const PlanLoop&) { return std::string(": loop\n"); },
            [](const PlanBranch&) { return std::string(": branch\n"); });
    }
    for (size_t i = 0; i < plan.storages.size(); ++i) {
        const Storage& storage = plan.storages[make_id<StorageId>(i)];
        text += fmt::format("memory s{} {}: {}[{}]",
                            i,
                            role_text(storage.role),
                            tensor::dtype_name(storage.dtype),
                            storage.elements);
        if (storage.tensor.valid()) text += " of " + name_of(program, storage.tensor);
        if (storage.offset >= 0) text += fmt::format(" at {}", storage.offset);
        if (storage.only_once) text += " only once";
        text += "\n";
    }
    text += fmt::format("arena {} bytes\n", plan.arena_bytes);
    return text;
}

}  // namespace lemma::loop
