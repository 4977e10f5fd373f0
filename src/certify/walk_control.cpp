// SPDX-License-Identifier: Apache-2.0
// Loops and branches, and the results of a walk.
#include <fmt/format.h>

#include <algorithm>

#include "certify/walk.h"

namespace lemma::certify {

namespace {

std::optional<int64_t> number_of(const AbstractArray& array) {
    if (array.size != 1) return std::nullopt;
    const Value v = array.at(0);
    if (!v.is_point()) return std::nullopt;
    return static_cast<int64_t>(v.low);
}

}  // namespace

// ---- Branches -----------------------------------------------------------------------------------

Result<std::optional<Value>> Walk::condition(ir::GraphId id) {
    const ir::Graph& graph = program_.graphs[id];
    LEMMA_TRY(operations(graph.operations));
    LEMMA_TRY(const Ref value, value_of(graph.outputs[0].operand.items[0]));
    if (!value || value->size != 1) return std::nullopt;
    return value->at(0);
}

// The outputs of one arm; several possible arms are joined.
Result<void> Walk::take_arm(const ir::Operation& op, ir::GraphId id, ArmResults& results) {
    const ir::Graph& graph = program_.graphs[id];
    LEMMA_TRY(operations(graph.operations));
    for (size_t i = 0; i < op.outputs.size(); ++i) {
        for (size_t k = 0; k < op.outputs[i].operand.items.size(); ++k) {
            LEMMA_TRY(const Ref value, value_of(graph.outputs[i].operand.items[k]));
            results[op.outputs[i].operand.items[k]].push_back(value);
        }
    }
    return {};
}

Result<void> Walk::branch(const ir::Operation& op, const ir::Branch& branch) {
    ArmResults results;
    bool differs = false, decided = false;
    for (const ir::Branch::Arm& arm : branch.arms) {
        LEMMA_TRY(const std::optional<Value> holds, condition(arm.condition));
        if (!holds) return unknown(op, "the condition of a branch is not known");
        differs |= holds->error > 0 || holds->nan;
        if (holds->high == 0 && holds->chigh == 0 && !holds->nan) continue;
        LEMMA_TRY(take_arm(op, arm.consequent, results));
        decided = holds->low == 1 && holds->clow == 1 && !holds->nan;
        if (decided) break;
    }
    if (!decided) {
        LEMMA_TRY(take_arm(op, branch.alternative, results));
    }
    for (auto& [id, values] : results) {
        const auto other = [&](const Ref& value) {
            return !value || value->shape != values[0]->shape;
        };
        if (!values[0] || std::ranges::any_of(values, other))
            return unknown(op, "the shape of a result depends on a branch");
        if (values.size() == 1) {
            record(id, *values[0]);
            set(id, values[0]);
            continue;
        }
        LEMMA_TRY(Ref made, array(id));
        for (int64_t i = 0; i < made->size; ++i) {
            Value v = values[0]->at(i);
            for (const Ref& value : values) v = join(v, value->at(i));
            made->values.push_back(differs ? cross(v, v) : v);
        }
        live_ += made->size;
        record(id, *made);
        set(id, std::move(made));
    }
    return {};
}

// ---- Loops --------------------------------------------------------------------------------------

Result<void> Walk::loop(const ir::Operation& op, const ir::Loop& loop) {
    std::optional<int64_t> count;
    if (loop.static_count.valid()) count = program_.symbols.as_int(loop.static_count);
    if (loop.dynamic_count.valid()) {
        LEMMA_TRY(const Ref value, value_of(loop.dynamic_count));
        const auto wanted = value ? number_of(*value) : std::nullopt;
        if (!wanted) return unknown(op, "the count of a loop depends on the data");
        count = count ? std::min(*count, *wanted) : *wanted;
    }
    const bool ends = loop.pre_condition.valid() || loop.post_condition.valid();
    if (!count && !ends) return unknown(op, "the count of a loop is not known before the run");
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        LEMMA_TRY(Ref value, value_of(op.inputs[loop.initial_input(i)].operand.items[0]));
        if (!value) return unknown(op, "nothing is known about a value that a loop carries");
        set(loop.carried[i], std::move(value));
    }
    for (int64_t step = 0; !count || step < *count; ++step) {
        if (!budget_.spend(1))
            return std::unexpected(Error{
                fmt::format("a loop takes more than {} steps; raise --max-steps", budget_.most)});
        LEMMA_TRY(const LoopState state, loop_step(op, loop, step));
        if (state == LoopState::Unknown)
            return unknown(op, "the end of a loop depends on the data");
        if (state == LoopState::Ended) break;
    }
    for (size_t i = 0; i < loop.carried.size(); ++i) {
        LEMMA_TRY(Ref value, value_of(loop.carried[i]));
        const ir::TensorId target = op.outputs[i].operand.items[0];
        if (!value) return unknown(op, "nothing is known about a value that a loop carries");
        record(target, *value);
        set(target, std::move(value));
    }
    return {};
}

Result<Walk::LoopState> Walk::loop_step(const ir::Operation& op,
                                        const ir::Loop& loop,
                                        int64_t step) {
    if (loop.index.valid()) {
        LEMMA_TRY(Ref index, array(loop.index));
        index->values = {AbstractArray::whole(step)};
        live_ += 1;
        set(loop.index, std::move(index));
    }
    for (size_t i = 0; i < loop.items.size(); ++i) {
        const auto& pack = op.inputs[loop.pack_input(i)].operand.items;
        if (static_cast<size_t>(step) >= pack.size()) return LoopState::Unknown;
        LEMMA_TRY(Ref value, value_of(pack[static_cast<size_t>(step)]));
        if (!value) return LoopState::Unknown;
        set(loop.items[i], std::move(value));
    }
    // Whether the loop goes on after a condition.
    const auto goes_on = [&](ir::GraphId id) -> Result<LoopState> {
        if (!id.valid()) return LoopState::GoesOn;
        LEMMA_TRY(const std::optional<Value> value, condition(id));
        if (!value || !value->is_point()) return LoopState::Unknown;
        return value->low != 0 ? LoopState::GoesOn : LoopState::Ended;
    };
    LEMMA_TRY(const LoopState before, goes_on(loop.pre_condition));
    if (before != LoopState::GoesOn) return before;
    const ir::Graph& body = program_.graphs[loop.body];
    LEMMA_TRY(operations(body.operations));
    std::vector<Ref> results;
    for (const ir::Port& port : body.outputs) {
        LEMMA_TRY(Ref value, value_of(port.operand.items[0]));
        if (!value) return LoopState::Unknown;
        results.push_back(std::move(value));
    }
    for (size_t i = 0; i < results.size(); ++i) {
        if (i < loop.carried.size()) {
            set(loop.carried[i], results[i]);
            continue;
        }
        const auto& pack = op.outputs[i].operand.items;
        if (static_cast<size_t>(step) >= pack.size()) return LoopState::Unknown;
        record(pack[static_cast<size_t>(step)], *results[i]);
        set(pack[static_cast<size_t>(step)], results[i]);
    }
    return goes_on(loop.post_condition);
}

// ---- Results ------------------------------------------------------------------------------------

TensorBound Walk::bound_of(ir::TensorId id, const AbstractArray& array, bool elements) const {
    TensorBound bound;
    bound.name = program_.tensors[id].name;
    bound.dtype = array.dtype;
    bound.shape = array.shape;
    bound.inner = !outer_.contains(id);
    bound.ideal = bound.computed = {kInfinity, -kInfinity};
    const auto widen = [](Range& range, double low, double high) {
        range.low = std::min(range.low, low);
        range.high = std::max(range.high, high);
    };
    for (int64_t i = 0; i < array.size; ++i) {
        const Value v = array.at(i);
        widen(bound.ideal, v.low, v.high);
        widen(bound.computed, v.clow, v.chigh);
        bound.error = std::max(bound.error, v.error);
        const double relative = v.error == 0 ? 0 : v.tiny == 0 ? v.relative : kInfinity;
        bound.relative = std::max(bound.relative, relative);
        if (elements)
            bound.elements.push_back(
                {.ideal = {v.low, v.high}, .computed = {v.clow, v.chigh}, .error = v.error});
    }
    if (array.size == 0) bound.ideal = bound.computed = {0, 0};
    return bound;
}

// In a loop, the bounds hold for all iterations.
void Walk::record(ir::TensorId id, const AbstractArray& array) {
    TensorBound bound = bound_of(id, array, false);
    const auto [found, fresh] = recorded_.emplace(id, certificate_.tensors.size());
    if (fresh) {
        certificate_.tensors.push_back(std::move(bound));
        return;
    }
    TensorBound& known = certificate_.tensors[found->second];
    known.ideal = {std::min(known.ideal.low, bound.ideal.low),
                   std::max(known.ideal.high, bound.ideal.high)};
    known.computed = {std::min(known.computed.low, bound.computed.low),
                      std::max(known.computed.high, bound.computed.high)};
    known.error = std::max(known.error, bound.error);
    known.relative = std::max(known.relative, bound.relative);
}

// A variable with a range of its own must keep it for the next run.
Result<void> Walk::check_updates() {
    for (const ir::Update& update : program_.updates) {
        const std::string& name = program_.tensors[update.variable].name;
        const auto range = options_.ranges.find(name);
        if (range == options_.ranges.end()) {
            certificate_.hypotheses.push_back(
                fmt::format("the first run: the variable `{}` has its initial value (give `--range "
                            "{}=LOW:HIGH` "
                            "for all runs)",
                            name,
                            name));
            continue;
        }
        LEMMA_TRY(const Ref value, value_of(update.value));
        bool kept = value != nullptr;
        for (int64_t i = 0; kept && i < value->size; ++i) {
            const auto& ranges = range->second.ranges;
            const Range& one = ranges[ranges.size() == 1 ? 0 : static_cast<size_t>(i)];
            const Value v = value->at(i);
            kept = !v.nan && v.clow >= one.low && v.chigh <= one.high;
        }
        certificate_.hypotheses.push_back(
            kept ? fmt::format(
                       "every run: the variable `{}` stays within its range; its value counts "
                       "as exact at the start of a run",
                       name)
                 : fmt::format("one run: the variable `{}` begins within its range, which a run is "
                               "not shown to keep; its value counts as exact",
                               name));
    }
    return {};
}

void Walk::describe(Certificate& certificate) {
    const bool in_float = options_.accumulate == ir::Accumulate::F32;
    certificate.arithmetic = in_float ? "f32" : "f64";
    auto& out = certificate.hypotheses;
    out.insert(
        out.begin(),
        {"IEEE 754 binary32 and binary64, rounding to nearest, ties to even",
         "subnormal numbers are kept: no flush to zero",
         in_float ? "each real operation is rounded to binary32, in the order of the formula; no "
                    "fused multiply-add"
                  : "formulas are computed in binary64, in their order; no fused multiply-add; "
                    "results are rounded when an operation is done",
         "weights and constants are exact as stored"});
    for (const auto& [name, range] : options_.assumed)
        out.push_back(
            fmt::format("not proved: `{}` stays within [{}, {}]", name, range.low, range.high));
    if (!functions_.empty())
        out.push_back("functions of the C library, called in double, keep the claims below");
    for (const std::string& name : functions_)
        certificate.library.push_back({name, library_ulp(name)});
}

Result<Certificate> certify(const ir::Program& program,
                            const VariableReader& variables,
                            const CertifyOptions& options) {
    return Walk(program, variables, options).run();
}

}  // namespace lemma::certify
