// SPDX-License-Identifier: Apache-2.0
#include "edit/slice.h"

#include <algorithm>

namespace lemma::edit {

namespace {

class Slicer {
public:
    Slicer(const ir::Program& program, const TensorSet& cut, const TensorMap& same)
        : program_(program), cut_(cut), same_(same) {}

    Slice run(TensorSet wanted) {
        // A variable that the part reads keeps its update, which may need more of the graph.
        while (true) {
            result_ = {};
            for (const ir::TensorId id : wanted) need(id);
            walk(program_.graphs[program_.main].operations);
            std::ranges::reverse(result_.operations);
            bool grown = false;
            for (const ir::Update& update : program_.updates) {
                if (!result_.needed.contains(update.variable) || cut_.contains(update.variable))
                    continue;
                result_.updates.push_back(update);
                grown = wanted.insert(update.value).second || grown;
            }
            if (!grown) break;
        }
        find_missing();
        return std::move(result_);
    }

private:
    void need(ir::TensorId id) {
        const ir::TensorId other = follow(same_, id);
        if (other != id) result_.replaced.insert(id);
        result_.needed.insert(other);
    }

    // Readers come after makers.
    void walk(const std::vector<ir::OpId>& list) {
        for (auto id = list.rbegin(); id != list.rend(); ++id) operation(*id);
    }

    void operation(ir::OpId id) {
        const ir::Operation& op = program_.operations[id];
        const Uses uses = uses_of(program_, id);
        const auto is_needed = [&](ir::TensorId tensor) {
            return result_.needed.contains(tensor) && !cut_.contains(tensor);
        };
        if (std::ranges::none_of(uses.made, is_needed)) return;
        const std::vector<ir::TensorId> results = items_of(op.outputs);
        const TensorSet own(results.begin(), results.end());
        // Somebody asks for a tensor inside, or gives one.
        const bool cut_through = std::ranges::any_of(uses.made, [&](ir::TensorId tensor) {
            if (!own.contains(tensor)) return cut_.contains(tensor) || is_needed(tensor);
            return cut_.contains(tensor) && uses.inner.contains(tensor);
        });
        if (op.compound() && cut_through) return walk(op.parts);
        result_.operations.push_back(id);
        for (const ir::TensorId read : uses.reads) need(read);
    }

    void find_missing() {
        TensorSet given = cut_;
        for (const ir::OpId id : result_.operations) {
            const Uses uses = uses_of(program_, id);
            given.insert(uses.made.begin(), uses.made.end());
        }
        TensorSet told;
        const auto miss = [&](ir::TensorId tensor, ir::OpId reader) {
            const ir::TensorRole role = program_.tensors[tensor].role;
            const bool stored =
                role == ir::TensorRole::Constant || role == ir::TensorRole::Variable;
            if (stored || given.contains(tensor) || !told.insert(tensor).second) return;
            result_.missing.push_back({tensor, reader});
        };
        for (const ir::OpId id : result_.operations) {
            const Uses uses = uses_of(program_, id);
            std::vector<ir::TensorId> reads(uses.reads.begin(), uses.reads.end());
            std::ranges::sort(reads);
            for (const ir::TensorId tensor : reads) miss(follow(same_, tensor), id);
        }
        std::vector<ir::TensorId> asked(result_.needed.begin(), result_.needed.end());
        std::ranges::sort(asked);
        for (const ir::TensorId tensor : asked) miss(tensor, {});
    }

    const ir::Program& program_;
    const TensorSet& cut_;
    const TensorMap& same_;
    Slice result_;
};

}  // namespace

ir::TensorId follow(const TensorMap& same, ir::TensorId id) {
    for (auto found = same.find(id); found != same.end(); found = same.find(id)) id = found->second;
    return id;
}

Slice slice(const ir::Program& program,
            const TensorSet& cut,
            const TensorSet& wanted,
            const TensorMap& same) {
    return Slicer(program, cut, same).run(wanted);
}

}  // namespace lemma::edit
