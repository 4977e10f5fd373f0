// SPDX-License-Identifier: Apache-2.0
#include "diff/match.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "diff/align.h"

namespace lemma::diff {

namespace {

// What two nodes must share to be alike, from strong to weak.
enum class Strength { Full, Signature, SignatureOnly, Family };

bool with_weights(Strength strength) {
    return strength == Strength::Full || strength == Strength::Signature;
}

Hash own(const Node& node, Strength strength) {
    switch (strength) {
        case Strength::Full:
            return node.full;
        case Strength::Signature:
        case Strength::SignatureOnly:
            return node.signature;
        case Strength::Family:
            break;
    }
    return node.family;
}

// ---- Hashes with context ------------------------------------------------------------------------

struct Context {
    std::vector<Hash> up, down;  // by node
};

// The numbers of the terminals are the same for partners.
struct Terminals {
    Table<ir::TensorId, std::optional<uint64_t>> inputs;
    std::vector<uint64_t> outputs;
};

class Contexts {
public:
    Contexts(MatchSide side, const Terminals& terminals) : side_(side), terminals_(terminals) {}

    Context make(Strength strength) {
        const std::vector<Node>& nodes = side_.graph.nodes;
        Context context{std::vector<Hash>(nodes.size()), std::vector<Hash>(nodes.size())};
        Table<ir::TensorId, std::optional<Hash>> known(side_.graph.program->tensors.size());
        for (size_t n = 0; n < nodes.size(); ++n) {
            Hasher hasher("up");
            hasher.add(own(nodes[n], strength));
            for (const Edge& edge : nodes[n].inputs)
                hasher.add(edge.tensor.valid() ? tensor(edge.tensor, strength, known) : Hash{});
            context.up[n] = hasher.hash();
            for (size_t i = 0; i < nodes[n].outputs.size(); ++i) {
                auto& made = known[nodes[n].outputs[i].tensor];
                if (!made) made = Hasher("made").add(context.up[n]).add(i).hash();
            }
        }
        from_outputs(strength, context);
        return context;
    }
    // The node with its own weights, without context.
    Hash fingerprint(const Node& node, bool& has_weights) {
        Hasher hasher("fingerprint");
        hasher.add(node.signature);
        for (const Edge& edge : node.inputs) {
            if (!edge.tensor.valid() || !is_weight(edge.tensor)) continue;
            has_weights = true;
            hasher.add(edge.port).add(side_.weights.content(edge.tensor));
        }
        return hasher.hash();
    }

private:
    bool is_weight(ir::TensorId id) const {
        return Weights::is_weight(side_.graph.program->tensors[id]);
    }
    Hash tensor(ir::TensorId id,
                Strength strength,
                Table<ir::TensorId, std::optional<Hash>>& known) {
        auto& hash = known[id];
        if (hash) return *hash;
        if (const auto& input = terminals_.inputs[id]) {
            hash = Hasher("input").add(*input).hash();
        } else if (is_weight(id)) {
            hash = with_weights(strength) ? side_.weights.content(id) : Hasher("weight").hash();
        } else {
            const auto& inside = side_.graph.body_inputs[id];
            hash = Hasher("body input").add(inside ? inside->number : 0).hash();
        }
        return *hash;
    }
    void from_outputs(Strength strength, Context& context) {
        const std::vector<Node>& nodes = side_.graph.nodes;
        Table<ir::TensorId, HashSum> readers(side_.graph.program->tensors.size());
        for (size_t i = 0; i < side_.graph.outputs.size(); ++i) {
            readers[side_.graph.outputs[i].tensor].add(
                Hasher("output").add(terminals_.outputs[i]).hash());
        }
        for (size_t n = nodes.size(); n-- > 0;) {
            Hasher hasher("down");
            hasher.add(own(nodes[n], strength));
            for (const Edge& edge : nodes[n].inputs) {
                if (with_weights(strength) && edge.tensor.valid() && is_weight(edge.tensor))
                    hasher.add(edge.port).add(side_.weights.content(edge.tensor));
            }
            for (const Edge& edge : nodes[n].outputs) hasher.add(readers[edge.tensor].hash());
            context.down[n] = hasher.hash();
            for (size_t i = 0; i < nodes[n].inputs.size(); ++i) {
                const Edge& edge = nodes[n].inputs[i];
                if (!edge.tensor.valid()) continue;
                readers[edge.tensor].add(Hasher("reader").add(context.down[n]).add(i).hash());
            }
        }
    }

    MatchSide side_;
    const Terminals& terminals_;
};

// ---- Terminals ----------------------------------------------------------------------------------

void join_terminals(const std::vector<Terminal>& a,
                    const std::vector<Terminal>& b,
                    std::vector<size_t>& to_b,
                    std::vector<size_t>& to_a) {
    to_b.assign(a.size(), kNone);
    to_a.assign(b.size(), kNone);
    std::unordered_map<std::string_view, size_t> names;
    for (size_t i = 0; i < b.size(); ++i) names.emplace(b[i].name, i);
    const auto join = [&](size_t i, size_t j) {
        to_b[i] = j;
        to_a[j] = i;
    };
    for (size_t i = 0; i < a.size(); ++i) {
        const auto found = names.find(a[i].name);
        if (found != names.end() && to_a[found->second] == kNone) join(i, found->second);
    }
    size_t next = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        if (to_b[i] != kNone) continue;
        while (next < b.size() && to_a[next] != kNone) ++next;
        if (next < b.size()) join(i, next);
    }
}

Terminals numbered(const Graph& graph,
                   const std::vector<size_t>& inputs,
                   const std::vector<size_t>& outputs,
                   uint64_t own_numbers) {
    Terminals terminals;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
        auto& number = terminals.inputs[graph.inputs[i].tensor];
        if (!number) number = inputs[i] == kNone ? own_numbers + i : inputs[i];
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i)
        terminals.outputs.push_back(outputs[i] == kNone ? own_numbers + i : outputs[i]);
    return terminals;
}

std::vector<size_t> counting(size_t count) {
    std::vector<size_t> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = i;
    return numbers;
}

// ---- Nodes --------------------------------------------------------------------------------------

class Matcher {
public:
    Matcher(MatchSide a, MatchSide b, Matching& matching) : a_(a), b_(b), matching_(matching) {
        matching_.a_to_b.assign(a.graph.nodes.size(), kNone);
        matching_.b_to_a.assign(b.graph.nodes.size(), kNone);
    }

    void run() {
        constexpr uint64_t kOfA = uint64_t{1} << 40, kOfB = uint64_t{1} << 41;
        std::vector<size_t> ins = counting(b_.graph.inputs.size());
        std::vector<size_t> outs = counting(b_.graph.outputs.size());
        const Terminals of_a =
            numbered(a_.graph, matching_.inputs_to_b, matching_.outputs_to_b, kOfA);
        const Terminals of_b = numbered(b_.graph, ins, outs, kOfB);
        Contexts a(a_, of_a), b(b_, of_b);
        if (a_.meanings != nullptr && b_.meanings != nullptr) by_meaning();
        by_context(a, b, Strength::Full);
        if (!done()) {
            by_fingerprint(a, b);
            spread(Strength::Full);
            by_context(a, b, Strength::Signature);
            by_context(a, b, Strength::SignatureOnly);
            spread(Strength::SignatureOnly);
            by_name();
            by_context(a, b, Strength::Family);
            spread(Strength::Family);
            align_rest({a_.graph, b_.graph, matching_});
        }
    }

private:
    bool done() const {
        return std::ranges::find(matching_.a_to_b, kNone) == matching_.a_to_b.end() ||
               std::ranges::find(matching_.b_to_a, kNone) == matching_.b_to_a.end();
    }
    void join(size_t a, size_t b) {
        matching_.a_to_b[a] = b;
        matching_.b_to_a[b] = a;
        joined_.emplace_back(a, b);
    }

    // Nodes with the same key: those with the same name, then in order.
    using Key = std::function<Hash(size_t)>;
    void by_key(const Key& key_a, const Key& key_b) {
        struct Group {
            std::vector<size_t> a, b;
        };
        std::unordered_map<Hash, Group, HashHash> groups;
        std::vector<Hash> order;
        for (size_t n = 0; n < matching_.a_to_b.size(); ++n) {
            if (matching_.a_to_b[n] != kNone) continue;
            Group& group = groups[key_a(n)];
            if (group.a.empty()) order.push_back(key_a(n));
            group.a.push_back(n);
        }
        for (size_t n = 0; n < matching_.b_to_a.size(); ++n) {
            if (matching_.b_to_a[n] != kNone) continue;
            const auto found = groups.find(key_b(n));
            if (found != groups.end()) found->second.b.push_back(n);
        }
        for (const Hash& key : order) {
            const Group& group = groups[key];
            if (group.b.empty()) continue;
            if (group.a.size() == 1 && group.b.size() == 1) {
                join(group.a[0], group.b[0]);
                continue;
            }
            join_group(group.a, group.b);
        }
    }
    void join_group(const std::vector<size_t>& a, const std::vector<size_t>& b) {
        std::unordered_map<std::string_view, size_t> names;
        for (const size_t n : b) names.emplace(b_.graph.nodes[n].name, n);
        for (const size_t n : a) {
            const auto found = names.find(a_.graph.nodes[n].name);
            if (found != names.end() && matching_.b_to_a[found->second] == kNone)
                join(n, found->second);
        }
        size_t next = 0;
        for (const size_t n : a) {
            if (matching_.a_to_b[n] != kNone) continue;
            while (next < b.size() && matching_.b_to_a[b[next]] != kNone) ++next;
            if (next == b.size()) return;
            join(n, b[next]);
        }
    }

    void by_meaning() {
        const auto key = [](const MatchSide& side, size_t n) {
            Hasher hasher("results");
            for (const Edge& edge : side.graph.nodes[n].outputs)
                hasher.add((*side.meanings)[edge.tensor]);
            return hasher.hash();
        };
        by_key([&](size_t n) { return key(a_, n); }, [&](size_t n) { return key(b_, n); });
    }
    void by_context(Contexts& contexts_a, Contexts& contexts_b, Strength strength) {
        if (done()) return;
        const Context a = contexts_a.make(strength), b = contexts_b.make(strength);
        const auto both = [](const Context& context) {
            return [&context](size_t n) {
                return Hasher("both").add(context.up[n]).add(context.down[n]).hash();
            };
        };
        by_key(both(a), both(b));
        by_key([&](size_t n) { return a.up[n]; }, [&](size_t n) { return b.up[n]; });
        by_key([&](size_t n) { return a.down[n]; }, [&](size_t n) { return b.down[n]; });
    }

    // Nodes with weights that occur once are anchors wherever they stand.
    void by_fingerprint(Contexts& contexts_a, Contexts& contexts_b) {
        unique_keys(
            [&](size_t n, bool& use) { return contexts_a.fingerprint(a_.graph.nodes[n], use); },
            [&](size_t n, bool& use) { return contexts_b.fingerprint(b_.graph.nodes[n], use); });
    }
    void by_name() {
        const auto key = [](const Node& node, bool& use) {
            use = !node.name.empty();
            return Hasher("name").add(node.family).add(node.name).hash();
        };
        unique_keys([&](size_t n, bool& use) { return key(a_.graph.nodes[n], use); },
                    [&](size_t n, bool& use) { return key(b_.graph.nodes[n], use); });
    }
    // Joins nodes with a key that no other node of its side has.
    using MaybeKey = std::function<Hash(size_t, bool&)>;
    void unique_keys(const MaybeKey& key_a, const MaybeKey& key_b) {
        struct Pair {
            size_t a = kNone, b = kNone;
            bool many = false;
        };
        std::unordered_map<Hash, Pair, HashHash> pairs;
        std::vector<Hash> order;
        const auto add = [&](size_t count,
                             const std::vector<size_t>& partners,
                             const MaybeKey& key_of,
                             size_t Pair::* slot) {
            for (size_t n = 0; n < count; ++n) {
                bool use = false;
                if (partners[n] != kNone) continue;
                const Hash key = key_of(n, use);
                if (!use) continue;
                Pair& pair = pairs[key];
                if (pair.*slot == kNone && slot == &Pair::a) order.push_back(key);
                pair.many = pair.many || pair.*slot != kNone;
                pair.*slot = n;
            }
        };
        add(matching_.a_to_b.size(), matching_.a_to_b, key_a, &Pair::a);
        add(matching_.b_to_a.size(), matching_.b_to_a, key_b, &Pair::b);
        for (const Hash& key : order) {
            const Pair& pair = pairs[key];
            if (!pair.many && pair.a != kNone && pair.b != kNone) join(pair.a, pair.b);
        }
    }

    // From partners to their producers and readers that are alike. Each pair is looked at once for
    // each strength, so the time is linear in the edges.
    void spread(Strength strength) {
        if (done()) return;
        for (size_t next = 0; next < joined_.size(); ++next) {
            const auto [a, b] = joined_[next];
            const Node& left = a_.graph.nodes[a];
            const Node& right = b_.graph.nodes[b];
            for (size_t i = 0; i < std::min(left.inputs.size(), right.inputs.size()); ++i)
                spread_up(left.inputs[i].tensor, right.inputs[i].tensor, strength);
            for (size_t i = 0; i < std::min(left.outputs.size(), right.outputs.size()); ++i)
                spread_down(left.outputs[i].tensor, right.outputs[i].tensor, strength);
        }
    }
    bool alike(size_t a, size_t b, Strength strength) const {
        return matching_.a_to_b[a] == kNone && matching_.b_to_a[b] == kNone &&
               own(a_.graph.nodes[a], strength) == own(b_.graph.nodes[b], strength);
    }
    void spread_up(ir::TensorId a, ir::TensorId b, Strength strength) {
        if (!a.valid() || !b.valid()) return;
        const auto& left = a_.graph.producers[a];
        const auto& right = b_.graph.producers[b];
        if (left && right && left->input == right->input &&
            alike(left->node, right->node, strength))
            join(left->node, right->node);
    }
    void spread_down(ir::TensorId a, ir::TensorId b, Strength strength) {
        const auto& left = a_.graph.uses[a];
        const auto& right = b_.graph.uses[b];
        std::unordered_map<Hash, std::vector<size_t>, HashHash> waiting;
        const auto key = [&](const Graph& graph, const Use& use) {
            return Hasher("use").add(own(graph.nodes[use.node], strength)).add(use.input).hash();
        };
        for (size_t i = right.size(); i-- > 0;)
            if (matching_.b_to_a[right[i].node] == kNone)
                waiting[key(b_.graph, right[i])].push_back(right[i].node);
        if (waiting.empty()) return;
        for (const Use& use : left) {
            if (matching_.a_to_b[use.node] != kNone) continue;
            const auto found = waiting.find(key(a_.graph, use));
            if (found == waiting.end()) continue;
            std::vector<size_t>& nodes = found->second;
            while (!nodes.empty() && matching_.b_to_a[nodes.back()] != kNone) nodes.pop_back();
            if (nodes.empty()) continue;
            join(use.node, nodes.back());
            nodes.pop_back();
        }
    }

    MatchSide a_, b_;
    Matching& matching_;
    std::vector<std::pair<size_t, size_t>> joined_;
};

}  // namespace

Matching match_terminals(const Graph& a, const Graph& b) {
    Matching matching;
    join_terminals(a.inputs, b.inputs, matching.inputs_to_b, matching.inputs_to_a);
    join_terminals(a.outputs, b.outputs, matching.outputs_to_b, matching.outputs_to_a);
    return matching;
}

void match_nodes(MatchSide a, MatchSide b, Matching& matching) { Matcher(a, b, matching).run(); }

}  // namespace lemma::diff
