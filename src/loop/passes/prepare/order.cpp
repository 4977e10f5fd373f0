// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/prepare/order.h"

#include <algorithm>

namespace lemma::loop {

namespace {

class Orderer {
public:
    explicit Orderer(StageGraph& graph) : graph_(graph), state_(graph.groups.size()) {
        for (size_t i = 0; i < graph.groups.size(); ++i) {
            for (const ir::TensorId id : graph.groups[i].writes) makers_[id] = i;
        }
    }

    int run(const std::vector<ir::TensorId>& results) {
        for (const ir::TensorId id : results) visit(id);
        for (size_t i = 0; i < graph_.groups.size(); ++i) visit(i);  // groups that nobody reads
        std::vector<FusionGroup> groups;
        int moved = 0;
        for (const size_t i : order_) {
            moved += i != groups.size() ? 1 : 0;
            groups.push_back(std::move(graph_.groups[i]));
        }
        graph_.groups = std::move(groups);
        return moved;
    }

private:
    enum class State : uint8_t { New, Open, Done };

    void visit(ir::TensorId id) {
        if (const auto maker = makers_.find(id); maker != makers_.end()) visit(maker->second);
    }
    // No recursion: chains are long.
    void visit(size_t first) {
        std::vector<size_t> work = {first};
        while (!work.empty()) {
            const size_t at = work.back();
            if (state_[at] != State::New) {
                work.pop_back();
                if (state_[at] == State::Open) order_.push_back(at);
                state_[at] = State::Done;
                continue;
            }
            state_[at] = State::Open;
            const std::vector<ir::TensorId>& reads = graph_.groups[at].reads;
            for (size_t i = reads.size(); i-- > 0;) {
                const auto maker = makers_.find(reads[i]);
                const bool waits = maker != makers_.end() && state_[maker->second] == State::New;
                if (waits) work.push_back(maker->second);
            }
        }
    }

    StageGraph& graph_;
    std::vector<State> state_;
    std::vector<size_t> order_;
    std::unordered_map<ir::TensorId, size_t, IdHash> makers_;
};

}  // namespace

int order_groups(RegionGraph& region) {
    StageGraph& graph = region.graph;
    const bool plain = std::ranges::none_of(
        graph.groups, [](const FusionGroup& group) { return !group.compiled(); });
    if (!plain) return 0;
    std::vector<ir::TensorId> results(graph.results.begin(), graph.results.end());
    std::ranges::sort(
        results, {}, [&](ir::TensorId id) { return region.program.tensors[id].name; });
    return Orderer(graph).run(results);
}

}  // namespace lemma::loop
