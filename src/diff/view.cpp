// SPDX-License-Identifier: Apache-2.0
// The member `diff` of a view document.
#include <map>
#include <set>

#include "diff/report.h"
#include "diff/report_parts.h"
#include "show/cost.h"

namespace lemma::diff {

namespace {

using Outermost = Table<ir::OpId, ir::OpId>;

// The outermost compound around each operation; the operation itself if there is none.
void find_outermost(const ir::Program& program,
                    const std::vector<ir::OpId>& ops,
                    ir::OpId around,
                    Outermost& found) {
    for (const ir::OpId id : ops) {
        const ir::Operation& op = program.operations[id];
        found[id] = around.valid() ? around : id;
        find_outermost(program, op.parts, found[id], found);
        for (const show::Body& body : show::bodies(op))
            find_outermost(program, program.graphs[body.graph].operations, {}, found);
    }
}

Outermost outermost_of(const ir::Program& program) {
    Outermost found(program.operations.size());
    find_outermost(program, program.graphs[program.main].operations, {}, found);
    return found;
}

class ViewWriter {
public:
    ViewWriter(const Comparison& comparison, const ViewIds& a, const ViewIds& b)
        : comparison_(comparison), a_(a), b_(b) {
        for (const Change& change : comparison.changes)
            if (change.a != kNone) changed_.insert(change.a);
    }

    Json run(const Numbers* numbers) {
        for (const auto& [left, right] : comparison_.pairs)
            pairs_.push_back({id_a(left), id_b(right), status(left)});
        add_compounds();
        for (const size_t n : comparison_.only_a) only_a_.push_back(id_a(n));
        for (const size_t n : comparison_.only_b) only_b_.push_back(id_b(n));
        Json json = {{"pairs", std::move(pairs_)},
                     {"only_a", std::move(only_a_)},
                     {"only_b", std::move(only_b_)},
                     {"changes", changes()}};
        if (numbers != nullptr) {
            json["numbers"] = numbers_json(*numbers);
            json["first"] = numbers->first ? Json(*numbers->first) : Json();
        }
        return json;
    }

private:
    ir::OpId op_a(size_t n) const { return comparison_.a.nodes[n].op; }
    ir::OpId op_b(size_t n) const { return comparison_.b.nodes[n].op; }
    int64_t id_a(size_t n) const { return a_[op_a(n)]; }
    int64_t id_b(size_t n) const { return b_[op_b(n)]; }
    const char* status(size_t a) const { return changed_.contains(a) ? "changed" : "equal"; }

    Json changes() const {
        Json list = Json::array();
        for (const Change& change : comparison_.changes) {
            Json json = change_json(change);
            json["a"] = change.a == kNone ? Json() : Json(id_a(change.a));
            json["b"] = change.b == kNone ? Json() : Json(id_b(change.b));
            list.push_back(std::move(json));
        }
        const auto add = [&](const char* what, size_t a, size_t b, Json before, Json after) {
            list.push_back({{"what", what},
                            {"name", ""},
                            {"before", std::move(before)},
                            {"after", std::move(after)},
                            {"a", id_a(a)},
                            {"b", id_b(b)}});
        };
        for (const auto& [left, right] : comparison_.pairs) {
            const std::string& before = comparison_.a.nodes[left].name;
            const std::string& after = comparison_.b.nodes[right].name;
            if (before != after) add("name", left, right, before, after);
        }
        for (const size_t i : comparison_.moved) {
            const auto& [left, right] = comparison_.pairs[i];
            add("order", left, right, std::to_string(left), std::to_string(right));
        }
        return list;
    }

    // Compared by their parts, compounds are partners if most of their parts are.
    void add_compounds() {
        if (comparison_.level == Level::Compound) return;
        const Outermost a = outermost_of(*comparison_.a.program);
        const Outermost b = outermost_of(*comparison_.b.program);
        struct Votes {
            std::map<ir::OpId, size_t> for_b;
            bool changed = false;
        };
        std::map<ir::OpId, Votes> votes;
        for (const auto& [left, right] : comparison_.pairs) {
            const ir::OpId around = a[op_a(left)];
            if (around == op_a(left) && b[op_b(right)] == op_b(right)) continue;
            Votes& vote = votes[around];
            ++vote.for_b[b[op_b(right)]];
            vote.changed = vote.changed || changed_.contains(left);
        }
        for (const size_t n : comparison_.only_a) {
            const auto found = votes.find(a[op_a(n)]);
            if (found != votes.end()) found->second.changed = true;
        }
        std::set<ir::OpId> taken;
        for (const auto& [op, vote] : votes) {
            ir::OpId best;
            size_t most = 0;
            for (const auto& [candidate, count] : vote.for_b) {
                if (count <= most || taken.contains(candidate)) continue;
                best = candidate;
                most = count;
            }
            if (!best.valid()) continue;
            taken.insert(best);
            pairs_.push_back({a_[op], b_[best], vote.changed ? "changed" : "equal"});
        }
    }

    const Comparison& comparison_;
    const ViewIds& a_;
    const ViewIds& b_;
    std::set<size_t> changed_;
    Json pairs_ = Json::array(), only_a_ = Json::array(), only_b_ = Json::array();
};

}  // namespace

ViewIds operation_ids(const ir::Program& program) {
    ViewIds ids(program.operations.size());
    for (uint32_t i = 0; i < program.operations.size(); ++i) ids[make_id<ir::OpId>(i)] = i;
    return ids;
}

nlohmann::ordered_json view_diff(const Comparison& comparison,
                                 const Numbers* numbers,
                                 const ViewIds& a,
                                 const ViewIds& b) {
    return ViewWriter(comparison, a, b).run(numbers);
}

}  // namespace lemma::diff
