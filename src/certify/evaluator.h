// SPDX-License-Identifier: Apache-2.0
// certify/evaluator.h — evaluates a formula on abstract arrays, step by step in the order of the
// interpreter. Ints that depend on loop indices only are numbers. A selection is evaluated for each
// outcome of its condition, with the bounds that the outcome implies.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "certify/abstract_array.h"
#include "certify/arithmetic.h"
#include "certify/expression.h"

namespace lemma::certify {

// The limit of a certification.
struct Budget {
    int64_t steps = 0;
    int64_t most = 0;

    bool spend(int64_t count) {
        steps += count;
        return steps <= most;
    }
};

struct EvaluatorArrays {
    std::map<ir::TensorId, const AbstractArray*> inputs;
    std::map<ir::TensorId, AbstractArray*> outputs;
    bool as_given = false;  // the inputs are exact, with their computed bounds
};

class Evaluator {
public:
    Evaluator(const Expression& expression,
              Arithmetic arithmetic,
              const EvaluatorArrays& arrays,
              Budget& budget);

    // Called at each step that certainly writes: offsets of the first write and of the loads, -1
    // for loads without an offset.
    using Observer = std::function<void(int64_t, const std::vector<int64_t>&)>;
    Result<void> run(const Observer& observer = {});

private:
    // Bounds that hold inside of a branch.
    struct Scope {
        const Scope* parent = nullptr;
        size_t level = 0;
        uint64_t number = 0;
        std::vector<std::pair<NodeId, Value>> known;
    };
    struct Slot {
        const AbstractArray* array = nullptr;
        bool given = false;   // read as exact
        bool narrow = false;  // f64, rounded to float when it is read
    };
    // The elements that an index may name.
    struct Box {
        std::vector<int64_t> low, high;
        bool differs = false;  // rounding may change the element
        bool maybe = false;    // the element may be outside, which skips the step
        bool empty = false;
    };

    bool sums_products() const;
    bool loop(size_t depth);
    bool step();
    bool guards();
    int64_t integer(NodeId id);
    int64_t compute_integer(const Node& node);
    int64_t sum(const std::vector<NodeTerm>& terms);
    Value value(NodeId id, const Scope* scope);
    Value compute(NodeId id, const Scope* scope);
    Value sum(const std::vector<NodeTerm>& terms, const Scope* scope);
    Value operation(const Node& node, const Scope* scope);
    Value real_operation(const Node& node, std::span<const Value> operands);
    Value int_operation(const Node& node, std::span<const Value> operands);
    Value logic(const Node& node, const Scope* scope);
    Value select(const Node& node, const Scope* scope);
    Value choose(const Value& condition, const Value& yes, const Value& no);
    enum class Worlds { Agree, Differ };
    // Adds what follows from the outcome; false if it is impossible.
    bool assume(NodeId condition, bool outcome, Worlds worlds, const Scope* scope, Scope& inner);
    bool assume_order(const Node& node, bool outcome, Worlds worlds, const Scope* scope, Scope& in);
    Value load(NodeId id, const Scope* scope);
    Value element(const Slot& slot, int64_t offset);
    int64_t affine_offset(const Place& place) const;
    // The offset if all indices are numbers; -1 if outside.
    bool concrete_offset(const Place& place, int64_t& offset);
    Box box(const Place& place, const Scope* scope);
    template <class F>
    bool for_each(const Place& place, const Box& box, F f);
    Value related(const Node& node, std::span<const Value> operands, Value made);
    bool write(const Expression::Write& write, const Value& made, const Value& condition);
    void combine(AbstractArray& array,
                 int64_t offset,
                 const Value& made,
                 const Value& condition,
                 bool weak,
                 bool differs);
    Value combined(bool real, const Value& old, const Value& made);
    bool fail(std::string message);
    void observe(const Observer& observer);

    const Expression& expression_;
    Arithmetic arithmetic_;
    Budget& budget_;
    std::vector<Slot> slots_;              // by access
    std::vector<AbstractArray*> targets_;  // by write
    std::vector<int64_t> indices_;         // by loop
    std::vector<uint64_t> epochs_;         // by depth
    uint64_t clock_ = 0;
    struct Memo {
        Value value;
        uint64_t stamp = 0;
    };
    std::vector<std::vector<Memo>> memos_;  // by level of scopes
    struct IntegerMemo {
        int64_t value = 0;
        uint64_t stamp = 0;
    };
    std::vector<IntegerMemo> integers_;
    std::vector<std::pair<size_t, size_t>>
        skips_;  // guarded indices: access (or writes after) and axis
    const Observer* observer_ = nullptr;
    bool product_ = false;
    std::vector<int64_t> offsets_;  // by access, of the last load
    std::string error_;
};

}  // namespace lemma::certify
