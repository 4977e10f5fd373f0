// SPDX-License-Identifier: Apache-2.0
#include "diff/align.h"

#include <algorithm>
#include <unordered_map>

namespace lemma::diff {

namespace {

// Cells of the table for a longest common subsequence; longer gaps are matched in order.
constexpr size_t kMaxCells = size_t{1} << 20;

using Nodes = std::vector<size_t>;

class Gap {
public:
    Gap(const Alignment& alignment, const Nodes& a, const Nodes& b)
        : alignment_(alignment), a_(a), b_(b) {}

    void run() {
        if (a_.empty() || b_.empty()) return;
        if (a_.size() <= kMaxCells / b_.size()) {
            subsequence();
        } else {
            in_order();
        }
    }

private:
    const Hash& family(const Graph& graph, size_t node) const { return graph.nodes[node].family; }
    void join(size_t a, size_t b) {
        alignment_.matching.a_to_b[a] = b;
        alignment_.matching.b_to_a[b] = a;
    }
    // The longest common subsequence of operators.
    void subsequence() {
        const size_t width = b_.size() + 1;
        std::vector<uint32_t> best((a_.size() + 1) * width);
        const auto alike = [&](size_t i, size_t j) {
            return family(alignment_.a, a_[i]) == family(alignment_.b, b_[j]);
        };
        for (size_t i = a_.size(); i-- > 0;) {
            for (size_t j = b_.size(); j-- > 0;) {
                best[i * width + j] =
                    alike(i, j) ? best[(i + 1) * width + j + 1] + 1
                                : std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
            }
        }
        for (size_t i = 0, j = 0; i < a_.size() && j < b_.size();) {
            if (alike(i, j)) {
                join(a_[i++], b_[j++]);
            } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) {
                ++i;
            } else {
                ++j;
            }
        }
    }
    void in_order() {
        std::unordered_map<Hash, std::vector<size_t>, HashHash> waiting;
        for (size_t j = b_.size(); j-- > 0;) waiting[family(alignment_.b, b_[j])].push_back(b_[j]);
        for (const size_t a : a_) {
            const auto found = waiting.find(family(alignment_.a, a));
            if (found == waiting.end() || found->second.empty()) continue;
            join(a, found->second.back());
            found->second.pop_back();
        }
    }

    const Alignment& alignment_;
    const Nodes& a_;
    const Nodes& b_;
};

// Calls `visit` with the unmatched nodes of both sides between two matched ones.
template <class Visit>
void for_each_gap(const Alignment& alignment, const Visit& visit) {
    const Matching& matching = alignment.matching;
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t n = 0; n < matching.a_to_b.size(); ++n)
        if (matching.a_to_b[n] != kNone) pairs.emplace_back(n, matching.a_to_b[n]);
    auto anchors = longest_growing(pairs);
    anchors.emplace_back(matching.a_to_b.size(), matching.b_to_a.size());
    size_t from_a = 0, from_b = 0;
    for (const auto& [to_a, to_b] : anchors) {
        Nodes a, b;
        for (size_t n = from_a; n < to_a; ++n)
            if (matching.a_to_b[n] == kNone) a.push_back(n);
        for (size_t n = from_b; n < to_b; ++n)
            if (matching.b_to_a[n] == kNone) b.push_back(n);
        visit(a, b);
        from_a = to_a;
        from_b = to_b;
    }
}

bool shares_input(const Alignment& alignment, const Node& a, const Node& b) {
    for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
        const ir::TensorId left = a.inputs[i].tensor, right = b.inputs[i].tensor;
        if (left.valid() && right.valid() && same_source(alignment, left, right)) return true;
    }
    return false;
}

// The unmatched node whose result a partner of a reader reads instead.
size_t replacement(const Alignment& alignment, const Node& node) {
    const Matching& matching = alignment.matching;
    const auto unmatched_maker = [&](ir::TensorId tensor, size_t output) {
        const auto& maker = alignment.b.producers[tensor];
        const bool good = maker && maker->input == output && matching.b_to_a[maker->node] == kNone;
        return good ? maker->node : kNone;
    };
    for (size_t o = 0; o < node.outputs.size(); ++o) {
        for (const Use& use : alignment.a.uses[node.outputs[o].tensor]) {
            const size_t partner = matching.a_to_b[use.node];
            if (partner == kNone) continue;
            const Node& reader = alignment.b.nodes[partner];
            if (use.input >= reader.inputs.size() || !reader.inputs[use.input].tensor.valid())
                continue;
            const size_t found = unmatched_maker(reader.inputs[use.input].tensor, o);
            if (found != kNone) return found;
        }
        const auto& output = alignment.a.output_numbers[node.outputs[o].tensor];
        if (!output || matching.outputs_to_b[*output] == kNone) continue;
        const size_t found =
            unmatched_maker(alignment.b.outputs[matching.outputs_to_b[*output]].tensor, o);
        if (found != kNone) return found;
    }
    return kNone;
}

}  // namespace

std::vector<std::pair<size_t, size_t>> longest_growing(
    const std::vector<std::pair<size_t, size_t>>& pairs) {
    std::vector<size_t> tails, before(pairs.size(), kNone);  // tails: the last pair by length
    for (size_t i = 0; i < pairs.size(); ++i) {
        const auto at = std::ranges::lower_bound(
            tails, pairs[i].second, {}, [&](size_t t) { return pairs[t].second; });
        if (at != tails.begin()) before[i] = *(at - 1);
        if (at == tails.end()) {
            tails.push_back(i);
        } else {
            *at = i;
        }
    }
    std::vector<std::pair<size_t, size_t>> run;
    for (size_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = before[i])
        run.push_back(pairs[i]);
    std::ranges::reverse(run);
    return run;
}

bool same_source(const Alignment& alignment, ir::TensorId a, ir::TensorId b) {
    const auto& left = alignment.a.producers[a];
    const auto& right = alignment.b.producers[b];
    if (left && right)
        return alignment.matching.a_to_b[left->node] == right->node && left->input == right->input;
    if (left || right) return false;
    const auto& inside_a = alignment.a.body_inputs[a];
    const auto& inside_b = alignment.b.body_inputs[b];
    if (inside_a || inside_b) {
        if (!inside_a || !inside_b || inside_a->number != inside_b->number) return false;
        const auto& loop_a = alignment.a.node_numbers[inside_a->loop];
        const auto& loop_b = alignment.b.node_numbers[inside_b->loop];
        return loop_a && loop_b && alignment.matching.a_to_b[*loop_a] == *loop_b;
    }
    const auto& input = alignment.a.input_numbers[a];
    if (!input) return !alignment.b.input_numbers[b];
    const size_t partner = alignment.matching.inputs_to_b[*input];
    return partner != kNone && alignment.b.inputs[partner].tensor == b;
}

void align_rest(Alignment alignment) {
    for_each_gap(alignment, [&](const Nodes& a, const Nodes& b) { Gap(alignment, a, b).run(); });
    Matching& matching = alignment.matching;
    for (size_t n = matching.a_to_b.size(); n-- > 0;) {
        if (matching.a_to_b[n] != kNone) continue;
        const Node& node = alignment.a.nodes[n];
        const size_t found = replacement(alignment, node);
        if (found == kNone || !shares_input(alignment, node, alignment.b.nodes[found])) continue;
        matching.a_to_b[n] = found;
        matching.b_to_a[found] = n;
    }
}

}  // namespace lemma::diff
