// SPDX-License-Identifier: Apache-2.0
#include "sknd/modules/import_cycles.h"

#include <algorithm>

namespace lemma::sknd {
namespace {

enum class State : uint8_t { New, OnPath, Done };

// A module on the path from the root.
struct PathStep {
    size_t module = 0;
    size_t followed = 0;         // number of followed imports
    bool closes_circle = false;  // by one of these imports
};

ImportCycle cycle_from(const std::vector<PathStep>& path,
                       size_t first_module,
                       const ImportGraph& graph) {
    auto step = std::find_if(path.begin(), path.end(), [first_module](const PathStep& candidate) {
        return candidate.module == first_module;
    });
    ImportCycle cycle;
    for (; step != path.end(); ++step) {
        cycle.push_back({step->module, graph[step->module][step->followed - 1].span});
    }
    return cycle;
}

}  // namespace

// Depth-first with an explicit path instead of recursion; an import of a module on the path closes
// a cycle.
std::vector<ImportCycle> find_import_cycles(const ImportGraph& graph) {
    std::vector<ImportCycle> cycles;
    if (graph.empty()) return cycles;
    std::vector<State> states(graph.size(), State::New);
    std::vector<PathStep> path = {{.module = 0}};
    states[0] = State::OnPath;
    while (!path.empty()) {
        PathStep& top = path.back();
        if (top.followed == graph[top.module].size()) {
            states[top.module] = State::Done;
            path.pop_back();
            continue;
        }
        const size_t target = graph[top.module][top.followed++].target;
        if (states[target] == State::OnPath && !top.closes_circle) {
            top.closes_circle = true;
            cycles.push_back(cycle_from(path, target, graph));
        }
        if (states[target] == State::New) {
            states[target] = State::OnPath;
            path.push_back({.module = target});
        }
    }
    return cycles;
}

}  // namespace lemma::sknd
