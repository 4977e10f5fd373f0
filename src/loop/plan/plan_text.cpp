#include "loop/plan/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace

std::string print(const Plan& plan, const ir::Program& program) {
    std::string text;
    for (const PlanStep& step : plan.steps) {
        text += head(program, step.op, step.label);
        if (step.once) text += " once";
        if (step.interpreted) {
            text += fmt::format(": interpreted, for {}\n", step.why);
            continue;
        }
        text += fmt::format(": {}\n", step.kernel.schedule);
        std::vector<std::string> arguments;
        for (const StorageId id : step.kernel.arguments) {
            arguments.push_back(id.valid() ? fmt::format("s{}", id.value) : "flag");
        }
        text += fmt::format("  on {}\n", fmt::join(arguments, ", "));
        text += print(step.kernel.function);
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
