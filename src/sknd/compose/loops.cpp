// Loops: what they start from, and those that are unrolled (spec 2.10.1).
#include <fmt/format.h>

#include "base/match.h"
#include "sknd/compose/composer.h"

namespace lemma::sknd {

std::optional<Results> Composer::compose_loop(Frame& frame,
                                              RegionId id,
                                              const Loop& loop,
                                              const std::string& scope) {
    const Region& region = frame.module().regions[id];
    auto initial = initial_values(frame, loop);
    auto packs = scanned_packs(frame, loop);
    if (!initial || !packs) return std::nullopt;
    LoopStart start{std::move(*initial), std::move(*packs), {}, {}};
    if (!count_iterations(frame, region, loop, start)) return std::nullopt;
    if (start.count.valid() && program_.symbols.as_int(start.count) == 0) {
        return without_iterations(frame, loop, std::move(start));
    }
    return loop.unroll ? compose_unrolled(frame, region, loop, std::move(start), scope)
                       : compose_dynamic_loop(frame, region, loop, start, scope);
}

// ---- What a loop starts from --------------------------------------------------------------------

std::optional<std::vector<Binding>> Composer::initial_values(Frame& frame, const Loop& loop) {
    std::vector<Binding> values;
    for (const Loop::Carried& carried : loop.carried) {
        const size_t made_here = program_.tensors.size();
        auto value = tensor_value(frame, carried.initial);
        if (!value || value->poison || !fit_initial(frame, carried, *value, made_here)) {
            return std::nullopt;
        }
        values.push_back(std::move(*value));
    }
    return values;
}

// An initial value has the declared shape; a single number stands for all of its elements.
bool Composer::fit_initial(Frame& frame,
                           const Loop::Carried& carried,
                           Binding& value,
                           size_t made_here) {
    if (!carried.type || !carried.type->shape) return true;
    auto& items = value.operand.items;
    const auto shapes = declared_shapes(frame, *carried.type, items.size());
    if (!shapes) return false;
    for (size_t i = 0; i < items.size(); ++i) {
        const ir::Tensor& tensor = program_.tensors[items[i]];
        const bool number = tensor.role == ir::TensorRole::Constant && tensor.shape.empty();
        if (number && !(*shapes)[i].empty()) {
            // A constant that others know stays as it is.
            if (items[i].value < made_here) items[i] = add_tensor(ir::Tensor(tensor));
            program_.tensors[items[i]].shape = (*shapes)[i];
            continue;
        }
        if (may_be_equal(tensor.shape, (*shapes)[i])) continue;
        inner_error(frame,
                    frame.module().exprs[carried.initial].span,
                    tensor.shape.size() == (*shapes)[i].size() ? DiagKind::ExtentMismatch
                                                               : DiagKind::RankMismatch,
                    fmt::format("the loop variable `{}` starts with the shape {}, expected {}",
                                carried.name.text,
                                shape_text(tensor.shape),
                                shape_text((*shapes)[i])));
        return false;
    }
    return true;
}

std::optional<std::vector<Binding>> Composer::scanned_packs(Frame& frame, const Loop& loop) {
    std::vector<Binding> packs;
    for (const Loop::Scan& scan : loop.scans) {
        auto pack = tensor_value(frame, scan.pack);
        if (!pack || pack->poison) return std::nullopt;
        if (!packs.empty() && packs.front().operand.items.size() != pack->operand.items.size()) {
            inner_error(frame,
                        frame.module().exprs[scan.pack].span,
                        DiagKind::LengthMismatch,
                        fmt::format("scanned packs of {} and {} tensors, expected equal lengths",
                                    packs.front().operand.items.size(),
                                    pack->operand.items.size()));
            return std::nullopt;
        }
        packs.push_back(std::move(*pack));
    }
    return packs;
}

// The count is what is stated, or else the length of the scanned packs.
bool Composer::count_iterations(Frame& frame,
                                const Region& region,
                                const Loop& loop,
                                LoopStart& start) {
    ir::SymbolPool& symbols = program_.symbols;
    ir::SymId length;
    if (!start.packs.empty()) {
        const ir::Operand& pack = start.packs.front().operand;
        length = pack.length.valid() ? pack.length
                                     : symbols.integer(static_cast<int64_t>(pack.items.size()));
    }
    start.count = length;
    if (!loop.count || !loop.count->count.valid()) return true;
    const ExprId id = loop.count->count;
    if (is_tensor_expr(frame, id)) {
        const auto count = tensor_value(frame, id);
        if (!count || count->poison) return false;
        if (!count->operand.null()) start.dynamic_count = count->operand.items[0];
        return true;
    }
    const auto count = evaluate_in(frame, id);
    if (!count) return false;
    if (std::holds_alternative<Null>(*count)) return true;
    start.count = to_sym(std::get<Scalar>(*count));
    const ir::Interval range = symbols.range(start.count);
    const bool negative = range.high < 0;
    const bool too_many = length.valid() && range.low > symbols.range(length).high;
    if (!negative && !too_many) return true;
    std::string message = fmt::format("a loop with {} iterations", symbols.text(start.count));
    if (too_many) message += fmt::format(" over packs of {} tensors", symbols.text(length));
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

// The variables keep their initial values, and nothing is collected. The body is not composed: what
// it would scan has no dtype and no shape.
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
