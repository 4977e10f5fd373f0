// SPDX-License-Identifier: Apache-2.0
// The member `diff` of a view document.
#include <map>
#include <set>

#include "diff/report.h"
#include "diff/report_parts.h"
#include "show/cost.h"

namespace lemma::diff {

namespace {

// Operations of a program in pre-order, with the outermost compound around each.
struct Outline {
    ViewIds ids;
    Table<ir::OpId, ir::OpId> outermost;  // itself if there is none
};

class Walker {
public:
    explicit Walker(const ir::Program& program) : program_(program) {
        outline_.ids = ViewIds(program.operations.size());
    }
    Outline run() {
        walk(program_.graphs[program_.main].operations, {});
        return std::move(outline_);
    }

private:
    void walk(const std::vector<ir::OpId>& ops, ir::OpId around) {
        for (const ir::OpId id : ops) {
            const ir::Operation& op = program_.operations[id];
            const ir::OpId outermost = around.valid() ? around : id;
            outline_.ids[id] = next_++;
            outline_.outermost[id] = outermost;
            walk(op.parts, outermost);
            for (const show::Body& body : show::bodies(op))
                walk(program_.graphs[body.graph].operations, {});
        }
    }
    const ir::Program& program_;
    Outline outline_;
    int64_t next_ = 0;
};

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
        const Outline a = Walker(*comparison_.a.program).run();
        const Outline b = Walker(*comparison_.b.program).run();
        struct Votes {
            std::map<ir::OpId, size_t> for_b;
            bool changed = false;
        };
        std::map<ir::OpId, Votes> votes;
        for (const auto& [left, right] : comparison_.pairs) {
            const ir::OpId around = a.outermost[op_a(left)];
            if (around == op_a(left) && b.outermost[op_b(right)] == op_b(right)) continue;
            Votes& vote = votes[around];
            ++vote.for_b[b.outermost[op_b(right)]];
            vote.changed = vote.changed || changed_.contains(left);
        }
        for (const size_t n : comparison_.only_a) {
            const auto found = votes.find(a.outermost[op_a(n)]);
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

ViewIds preorder_ids(const ir::Program& program) { return Walker(program).run().ids; }

nlohmann::ordered_json view_diff(const Comparison& comparison,
                                 const Numbers* numbers,
                                 const ViewIds& a,
                                 const ViewIds& b) {
    return ViewWriter(comparison, a, b).run(numbers);
}

}  // namespace lemma::diff
