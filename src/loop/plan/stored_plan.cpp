// SPDX-License-Identifier: Apache-2.0
#include "loop/plan/stored_plan.h"

#include <algorithm>

#include "base/archive.h"

// ---- Programs -----------------------------------------------------------------------------------

namespace lemma::ir {

template <class Archive>
void fields(Archive&, const Null&) {}

template <class Archive>
void fields(Archive& archive, const Pack& pack) {
    const auto& [items, uniform, type] = pack;
    archive(items, uniform, type);
}

template <class Archive>
void fields(Archive& archive, const Attribute& attribute) {
    const auto& [name, value] = attribute;
    archive(name, value);
}

template <class Archive>
void fields(Archive& archive, const Quantizer& quantizer) {
    const auto& [op, attributes] = quantizer;
    archive(op, attributes);
}

template <class Archive>
void fields(Archive& archive, const Tensor& tensor) {
    const auto& [name, dtype, shape, role, identity, items, quantizer] = tensor;
    archive(name, dtype, shape, role, identity, items, quantizer);
}

template <class Archive>
void fields(Archive& archive, const Operand& operand) {
    const auto& [packed, items, length] = operand;
    archive(packed, items, length);
}

template <class Archive>
void fields(Archive& archive, const Port& port) {
    const auto& [name, operand] = port;
    archive(name, operand);
}

template <class Archive>
void fields(Archive& archive, const Assertion& assertion) {
    const auto& [condition, message] = assertion;
    archive(condition, message);
}

template <class Archive>
void fields(Archive& archive, const Branch::Arm& arm) {
    const auto& [condition, consequent] = arm;
    archive(condition, consequent);
}

template <class Archive>
void fields(Archive& archive, const Branch& branch) {
    const auto& [arms, alternative] = branch;
    archive(arms, alternative);
}

template <class Archive>
void fields(Archive& archive, const Loop& loop) {
    const auto& [carried, items, index, count, dynamic_count, pre, body, post] = loop;
    archive(carried, items, index, count, dynamic_count, pre, body, post);
}

template <class Archive>
void fields(Archive& archive, const IndexTerm& term) {
    const auto& [value, guard, below, above] = term;
    archive(value, guard, below, above);
}

template <class Archive>
void fields(Archive& archive, const Access& access) {
    const auto& [symbol, tensor, indices] = access;
    archive(symbol, tensor, indices);
}

template <class Archive>
void fields(Archive& archive, const Bound& bound) {
    const auto& [index, extent] = bound;
    archive(index, extent);
}

template <class Archive>
void fields(Archive& archive, const Write& write) {
    const auto& [tensor, indices, value] = write;
    archive(tensor, indices, value);
}

template <class Archive>
void fields(Archive& archive, const Formula& formula) {
    const auto& [op, bounds, accesses, condition, writes, counter] = formula;
    archive(op, bounds, accesses, condition, writes, counter);
}

// The place in the source does not matter.
template <class Archive>
void fields(Archive& archive, const Operation& operation) {
    const auto& [kind,
                 op,
                 label,
                 dtypes,
                 attributes,
                 inputs,
                 outputs,
                 formulas,
                 parts,
                 assertions,
                 control,
                 span] = operation;
    archive(kind, op, label, dtypes, attributes, inputs, outputs);
    archive(formulas, parts, assertions, control);
}

template <class Archive>
void fields(Archive& archive, const Graph& graph) {
    const auto& [name, inputs, outputs, operations] = graph;
    archive(name, inputs, outputs, operations);
}

template <class Archive>
void fields(Archive& archive, const Update& update) {
    const auto& [variable, value] = update;
    archive(variable, value);
}

template <class Archive>
void fields(Archive& archive, const SymFactor& factor) {
    const auto& [atom, power] = factor;
    archive(atom, power);
}

template <class Archive>
void fields(Archive& archive, const SymTerm& term) {
    const auto& [coefficient, factors] = term;
    archive(coefficient, factors);
}

template <class Archive>
void fields(Archive& archive, const SymNode& node) {
    const auto& [kind, type, name, terms, op, operands] = node;
    archive(kind, type, name, terms, op, operands);
}

template <class Archive>
void fields(Archive& archive, const SymbolPool& pool) {
    archive(static_cast<uint64_t>(pool.size()));
    for (size_t i = 0; i < pool.size(); ++i) {
        const auto id = make_id<SymId>(i);
        const SymNode node = pool.node(id);
        archive(node);
        if (node.kind == SymKind::Constant) {
            archive(pool.as_int(id), pool.as_real(id), pool.as_bool(id), pool.as_string(id));
        }
        if (node.kind == SymKind::Symbol && node.type == ScalarType::Int) {
            const Interval range = pool.range(id);
            archive(range.low, range.high);
        }
    }
}

template <class Archive>
void fields(Archive& archive, const Program& program) {
    const auto& [name, symbols, tensors, operations, graphs, main, updates, assertions] = program;
    archive(name, symbols, tensors, operations, graphs, main, updates, assertions);
}

}  // namespace lemma::ir

// ---- Plans --------------------------------------------------------------------------------------

namespace lemma::loop {

template <class Archive>
void fields(Archive& archive, const Target& target) {
    const auto& [vector_bytes,
                 registers,
                 l2_bytes,
                 threads,
                 byte_dots,
                 byte_tiles,
                 bf16_tiles,
                 device] = target;
    archive(vector_bytes, registers, l2_bytes, threads, byte_dots, byte_tiles, bf16_tiles, device);
}

template <class Archive>
void fields(Archive& archive, like<CarriedPair, Archive>& pair) {
    auto& [input, output, axis] = pair;
    archive(input, output, axis);
}

template <class Archive>
void fields(Archive& archive, const PlanOptions& options) {
    const auto& [target,
                 fuse,
                 numerics,
                 accumulate,
                 least_steps,
                 least_gain,
                 window_share,
                 term_share,
                 apart,
                 integer_powers,
                 carried,
                 log,
                 verify] = options;
    archive(target,
            fuse,
            numerics,
            accumulate,
            least_steps,
            least_gain,
            window_share,
            term_share,
            apart,
            integer_powers,
            carried);
}

template <class Archive>
void fields(Archive& archive, like<Storage, Archive>& storage) {
    auto& [role,
           dtype,
           elements,
           tensor,
           offset,
           once,
           zeros,
           scratch,
           base,
           begin,
           moves,
           targets] = storage;
    archive(
        role, dtype, elements, tensor, offset, once, zeros, scratch, base, begin, moves, targets);
}

template <class Archive>
void fields(Archive& archive, like<Layout, Archive>& layout) {
    auto& [strides, offset, split, block] = layout;
    archive(strides, offset, split, block);
}

template <class Archive>
void fields(Archive& archive, like<BufferView, Archive>& view) {
    auto& [storage, dtype, shape, layout, extents, room, align] = view;
    archive(storage, dtype, shape, layout, extents, room, align);
}

template <class Archive>
void fields(Archive& archive, like<StoragePack, Archive>& pack) {
    auto& [first, stride, count] = pack;
    archive(first, stride, count);
}

template <class Archive>
void fields(Archive& archive, like<DynamicView, Archive>& view) {
    auto& [storage, dtype, computed] = view;
    archive(storage, dtype, computed);
}

template <class Archive>
void fields(Archive& archive, like<RunItems::Extent, Archive>& extent) {
    auto& [number, times] = extent;
    archive(number, times);
}

template <class Archive>
void fields(Archive& archive, like<RunItems, Archive>& items) {
    auto& [one, outermost, together, inner, single] = items;
    archive(one, outermost, together, inner, single);
}

template <class Archive>
void fields(Archive& archive, like<WindowItems, Archive>& items) {
    auto& [outputs,
           positions,
           axes,
           channels,
           tiles,
           vectors,
           batches,
           vector_bytes,
           l2_bytes,
           block,
           points,
           room] = items;
    archive(outputs, positions, axes, channels, tiles, vectors, batches);
    archive(vector_bytes, l2_bytes, block, points, room);
}

template <class Archive>
void fields(Archive& archive, like<ShapeArgument, Archive>& argument) {
    auto& [symbol, count, var, most, room_of] = argument;
    archive(symbol, count, var, most, room_of);
}

// The code takes the place of the function.
template <class Archive>
void fields(Archive& archive, like<ScheduledKernel, Archive>& kernel) {
    auto& [function, arguments, schedule, run_items, windows, offsets, numbers, narrower] = kernel;
    archive(function.items, arguments, schedule, run_items, windows, offsets, numbers);
}

template <class Archive>
void fields(Archive& archive, like<DynamicKernel, Archive>& dynamic) {
    auto& [kernel, told, numbers, first, read, cleared, inlined, within] = dynamic;
    archive(kernel, told, numbers, first, read, cleared, inlined, within);
}

template <class Archive>
void fields(Archive& archive, like<InterpretedStep, Archive>& step) {
    auto& [why, within] = step;
    archive(why, within);
}

template <class Archive>
void fields(Archive&, like<CheckStep, Archive>&) {}

template <class Archive>
void fields(Archive& archive, like<PlanCopy, Archive>& copy) {
    auto& [from, to, begin] = copy;
    archive(from, to, begin);
}

template <class Archive>
void fields(Archive& archive, like<PlanLoop::Item, Archive>& item) {
    auto& [seen, pack] = item;
    archive(seen, pack);
}

template <class Archive>
void fields(Archive& archive, like<PlanLoop::Carried, Archive>& carried) {
    auto& [seen, initial, result, outcome, stays, copied, slots] = carried;
    archive(seen, initial, result, outcome, stays, copied, slots);
}

template <class Archive>
void fields(Archive& archive, like<PlanLoop::Written, Archive>& written) {
    auto& [result, pack, slots] = written;
    archive(result, pack, slots);
}

template <class Archive>
void fields(Archive& archive, like<PlanLoop::Collected, Archive>& collected) {
    auto& [result, pack] = collected;
    archive(result, pack);
}

template <class Archive>
void fields(Archive& archive, like<PlanLoop, Archive>& loop) {
    auto& [count,
           dynamic_count,
           index,
           items,
           carried,
           written,
           collected,
           before,
           after,
           pre_condition,
           post_condition,
           pre_value,
           post_value,
           body,
           most_results,
           lengths] = loop;
    archive(count, dynamic_count, index, items, carried, written, collected, before, after);
    archive(pre_condition, post_condition, pre_value, post_value, body, most_results, lengths);
}

template <class Archive>
void fields(Archive& archive, like<PlanBranch::Arm, Archive>& arm) {
    auto& [condition, value, body, results] = arm;
    archive(condition, value, body, results);
}

template <class Archive>
void fields(Archive& archive, like<PlanBranch::Dynamic, Archive>& dynamic) {
    auto& [output, results] = dynamic;
    archive(output, results);
}

template <class Archive>
void fields(Archive& archive, like<PlanBranch, Archive>& branch) {
    auto& [arms, outputs, dynamic] = branch;
    archive(arms, outputs, dynamic);
}

template <class Archive>
void fields(Archive& archive, like<PlanStep, Archive>& step) {
    auto& [op, label, once, operations, wave, reads, writes, kind] = step;
    archive(op, label, once, operations, wave, reads, writes, kind);
}

template <class Archive>
void fields(Archive& archive, like<Plan, Archive>& plan) {
    auto& [storages, places, dynamic_places, steps, regions, arena_bytes, waves, carried] = plan;
    archive(storages, places, dynamic_places, steps, regions, arena_bytes, waves, carried);
}

std::string plan_source(const ir::Program& program,
                        const KnownExtents& known,
                        const PlanOptions& options) {
    std::vector<std::pair<ir::SymId, int64_t>> extents(known.begin(), known.end());
    std::ranges::sort(extents);
    ArchiveWriter writer;
    writer(program, extents, options);
    return std::move(writer.bytes);
}

std::string encode_plan(const Plan& plan) {
    ArchiveWriter writer;
    writer(plan);
    return std::move(writer.bytes);
}

std::optional<Plan> decode_plan(std::string_view bytes) {
    ArchiveReader reader(bytes);
    Plan plan;
    reader(plan);
    if (!reader.good() || !reader.at_end()) return std::nullopt;
    return plan;
}

}  // namespace lemma::loop
