// SPDX-License-Identifier: Apache-2.0
#include "loop/plan/stored_plan.h"

#include <algorithm>

#include "base/archive.h"
#include "ir/program/stored_program.h"

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
                 bf16_dots,
                 device] = target;
    archive(vector_bytes, registers, l2_bytes, threads, byte_dots, byte_tiles, bf16_tiles);
    archive(bf16_dots, device);
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
    writer(ir::encode_program(program), extents, options);
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
