// SPDX-License-Identifier: Apache-2.0
// Loops: initial values, and unrolling (spec 2.10.1).
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/compose/composer.h"

namespace lemma::sknd {

std::optional<Results> Composer::compose_loop(Frame& frame,
                                              RegionId id,
                                              const Loop& loop,
                                              const std::string& scope) {
    const Region& region = frame.module().regions[id];
    LoopStart start;
    const bool good = initial_values(frame, loop, start);
    if (!scan_packs(frame, loop, start) || !good) return std::nullopt;
    if (!count_iterations(frame, region, loop, start)) return std::nullopt;
    if (start.count.valid() && program_.symbols.as_int(start.count) == 0) {
        return without_iterations(frame, loop, std::move(start));
    }
    return loop.unroll ? compose_unrolled(frame, region, loop, std::move(start), scope)
                       : compose_dynamic_loop(frame, region, loop, start, scope);
}

// ---- Initial values -----------------------------------------------------------------------------

bool Composer::initial_values(Frame& frame, const Loop& loop, LoopStart& start) {
    for (const Loop::Carried& carried : loop.carried) {
        const size_t made_here = program_.tensors.size();
        auto value = tensor_value(frame, carried.initial);
        if (!value || value->poison || !fit_initial(frame, carried, *value, made_here, start)) {
            return false;
        }
        start.initial.push_back(std::move(*value));
    }
    return true;
}

// An initial value has the declared shape; a single number is broadcast to it.
bool Composer::fit_initial(Frame& frame,
                           const Loop::Carried& carried,
                           Binding& value,
                           size_t made_here,
                           LoopStart& start) {
    if (!carried.type || !carried.type->shape) return true;
    auto& items = value.operand.items;
    const size_t told_before = program_.symbols.size();
    auto shapes = declared_shapes(frame, *carried.type, items.size());
    if (!shapes) return false;
    for (size_t i = 0; i < items.size(); ++i) {
        const ir::Tensor& tensor = program_.tensors[items[i]];
        const bool number = tensor.role == ir::TensorRole::Constant && tensor.shape.empty();
        if (number && !(*shapes)[i].empty()) {
            // A constant with other users stays unchanged.
            if (items[i].value < made_here) items[i] = add_tensor(ir::Tensor(tensor));
            program_.tensors[items[i]].shape = (*shapes)[i];
            continue;
        }
        const std::string message =
            fmt::format("the loop variable `{}` starts with the shape {}, expected {}",
                        carried.name.text,
                        shape_text(tensor.shape),
                        shape_text((*shapes)[i]));
        if (may_be_equal(tensor.shape, (*shapes)[i])) {
            for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
                // `~|10` is the extent of the initial value.
                const auto told = program_.symbols.symbols_of((*shapes)[i][axis]);
                const bool anything = !told.empty() && told.back().value >= told_before;
                if (anything) (*shapes)[i][axis] = tensor.shape[axis];
            }
            const auto open = open_equalities(tensor.shape, (*shapes)[i], message);
            start.assertions.insert(start.assertions.end(), open.begin(), open.end());
            continue;
        }
        inner_error(frame,
                    frame.module().exprs[carried.initial].span,
                    tensor.shape.size() == (*shapes)[i].size() ? DiagKind::ExtentMismatch
                                                               : DiagKind::RankMismatch,
                    message);
        return false;
    }
    return true;
}

ir::SymId Composer::length_of(const ir::Operand& pack) {
    if (pack.length.valid()) return pack.length;
    return program_.symbols.integer(static_cast<int64_t>(pack.items.size()));
}

// All scanned packs have the same length; undecided equalities are left to the run.
bool Composer::scan_packs(Frame& frame, const Loop& loop, LoopStart& start) {
    for (const Loop::Scan& scan : loop.scans) {
        auto pack = tensor_value(frame, scan.pack);
        if (!pack || pack->poison) return false;
        if (!start.packs.empty()) {
            const ir::SymId want = length_of(start.packs.front().operand);
            const ir::SymId got = length_of(pack->operand);
            const std::string message =
                fmt::format("scanned packs of {} and {} tensors, expected equal lengths",
                            program_.symbols.text(want),
                            program_.symbols.text(got));
            if (surely_differ(want, got)) {
                inner_error(
                    frame, frame.module().exprs[scan.pack].span, DiagKind::LengthMismatch, message);
                return false;
            }
            const auto equal = program_.symbols.apply(ir::SymOp::Equal, want, got);
            if (equal && want != got) start.assertions.push_back({*equal, message});
        }
        start.packs.push_back(std::move(*pack));
    }
    return true;
}

// The stated count, or else the length of the scanned packs.
bool Composer::count_iterations(Frame& frame,
                                const Region& region,
                                const Loop& loop,
                                LoopStart& start) {
    ir::SymbolPool& symbols = program_.symbols;
    ir::SymId length;
    if (!start.packs.empty()) length = length_of(start.packs.front().operand);
    start.count = length;
    if (!loop.count || !loop.count->count.valid()) return true;
    const ExprId id = loop.count->count;
    if (is_tensor_expr(frame, id)) {
        const auto count = tensor_value(frame, id);
        if (!count || count->poison) return false;
        if (!count->operand.null()) start.dynamic_count = count->operand.items[0];
        return true;
    }
    const auto count = evaluate_known(frame, id, "the count of a loop");
    if (!count) return false;
    if (std::holds_alternative<Null>(*count)) return true;
    start.count = to_sym(std::get<Scalar>(*count));
    const ir::Interval range = symbols.range(start.count);
    const bool negative = range.high < 0;
    std::string message = fmt::format("a loop with {} iterations", symbols.text(start.count));
    if (length.valid()) message += fmt::format(" over packs of {} tensors", symbols.text(length));
    const auto fits =
        length.valid() ? symbols.apply(ir::SymOp::LessEqual, start.count, length) : std::nullopt;
    const auto holds = fits ? symbols.prove(*fits) : true;
    if (!negative && !holds) start.assertions.push_back({*fits, message});
    if (!negative && holds.value_or(true)) return true;
    inner_error(frame, region.span, DiagKind::LengthMismatch, std::move(message));
    return false;
}

size_t Composer::result_count(const Frame& frame, RegionId id) const {
    return match(
        frame.module().regions[id].node,
        [](const BadRegion&) -> size_t { return 0; },
        [](const Value&) -> size_t { return 1; },
        [](const Block& block) { return block.yields.size(); },
        [&](const Branch& branch) { return result_count(frame, branch.alternative); },
        [&](const Loop& loop) { return result_count(frame, loop.body); },
        [&](const Invocation& call) -> size_t {
            const auto callee = resolve(frame.ref().module, call.callee);
            if (!callee) return 0;
            const Module& module = package_[callee->module].module;
            return module.definitions[callee->definition].outputs.size();
        });
}

// The variables keep their initial values, and nothing is collected. The body is not composed,
// because scanned items have no dtype and no shape.
Results Composer::without_iterations(const Frame& frame, const Loop& loop, LoopStart start) const {
    Results results = std::move(start.initial);
    Binding nothing;
    nothing.operand.packed = true;
    const size_t count = result_count(frame, loop.body);
    if (results.size() < count) results.resize(count, nothing);
    return results;
}

// ---- Unrolling ----------------------------------------------------------------------------------

std::optional<Results> Composer::compose_unrolled(Frame& frame,
                                                  const Region& region,
                                                  const Loop& loop,
                                                  LoopStart start,
                                                  const std::string& scope) {
    const auto count = start.count.valid() ? program_.symbols.as_int(start.count) : std::nullopt;
    if (count && !start.assertions.empty()) {
        inner_error(frame,
                    region.span,
                    DiagKind::DynamicUnroll,
                    fmt::format("`unroll` depends on extents that only a run tells: {}",
                                start.assertions.front().message))
            .note("write `do` instead of `unroll`");
        return std::nullopt;
    }
    if (!count || *count > options_.max_unroll) {
        inner_error(
            frame,
            region.span,
            count ? DiagKind::TooLarge : DiagKind::DynamicUnroll,
            count
                ? fmt::format("`unroll` with {} iterations (--max-unroll raises the limit)", *count)
                : "the count of `unroll` must be known when the graph is composed");
        return std::nullopt;
    }
    Results results = std::move(start.initial);
    results.resize(std::max(results.size(), result_count(frame, loop.body)));
    for (size_t s = loop.carried.size(); s < results.size(); ++s) results[s].operand.packed = true;
    for (int64_t i = 0; i < *count; ++i) {
        auto step = compose_iteration(frame, loop, start.packs, results, i, scope);
        if (!step || step->size() != results.size()) return std::nullopt;
        for (size_t r = 0; r < results.size(); ++r) {
            if (r < loop.carried.size()) {
                results[r] = (*step)[r];
                continue;
            }
            auto& items = results[r].operand.items;
            items.insert(
                items.end(), (*step)[r].operand.items.begin(), (*step)[r].operand.items.end());
        }
    }
    return results;
}

std::optional<Results> Composer::compose_iteration(Frame& frame,
                                                   const Loop& loop,
                                                   const std::vector<Binding>& packs,
                                                   const Results& carried,
                                                   int64_t number,
                                                   const std::string& scope) {
    if (!spend(frame, frame.module().regions[loop.body].span, 4)) return std::nullopt;
    frame.push();
    for (size_t c = 0; c < loop.carried.size(); ++c) {
        frame.bind(loop.carried[c].name.text, carried[c]);
    }
    for (size_t s = 0; s < loop.scans.size(); ++s) {
        const ir::TensorId item = packs[s].operand.items[static_cast<size_t>(number)];
        frame.bind(loop.scans[s].name.text, {ir::Operand::single(item), false});
    }
    const Name* index = loop.count && loop.count->index ? &*loop.count->index : nullptr;
    // The index may hide another name.
    std::optional<CompileValue> hidden;
    if (index && frame.known(index->text)) hidden = *frame.value(index->text);
    if (index) frame.set(index->text, Scalar(number));
    auto results =
        compose_region(frame,
                       loop.body,
                       join_scope(labelled_scope(frame, loop.body, scope), std::to_string(number)));
    if (index && hidden) frame.set(index->text, std::move(*hidden));
    if (index && !hidden) frame.forget(index->text);
    frame.pop();
    return results;
}

}  // namespace lemma::sknd
