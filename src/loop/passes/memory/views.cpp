// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/memory/views.h"

#include <algorithm>
#include <optional>

#include "ir/program/lane_math.h"

namespace lemma::loop {

namespace {

// The row-major position of the element, if it is affine and always inside.
std::optional<Address> element_of(const StageGraph& graph,
                                  ir::TensorId id,
                                  const std::vector<ExprId>& index) {
    const tensor::Shape& shape = graph.shapes.at(id);
    Address result;
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        const StagePool::Range range = graph.pool.range(index[axis]);
        if (range.low < 0 || range.high >= shape[axis]) return std::nullopt;
        const auto affine = graph.pool.affine(index[axis]);
        if (!affine) return std::nullopt;
        result.offset = ir::wrapping_add(result.offset, ir::wrapping_mul(affine->offset, stride));
        for (const AddressTerm& term : affine->terms) {
            result.add(term.var, ir::wrapping_mul(term.factor, stride));
        }
        stride *= shape[axis];  // no overflow: the tensor has elements
    }
    std::erase_if(result.terms, [](const AddressTerm& term) { return term.factor == 0; });
    return result;
}

int64_t volume(const StageGraph& graph, ir::TensorId id) {
    return tensor::volume(graph.shapes.at(id)).value_or(0);
}

int64_t steps_of(const Stage& stage) {
    if (stage.empty) return 0;
    int64_t steps = 1;
    for (const StageLoop& loop : stage.loops) steps *= loop.extent;
    return steps;
}

// Whether the address covers a contiguous range: the step of each variable is the size of the inner
// variables' range.
bool is_dense(const Address& address, const StageGraph& graph) {
    std::vector<AddressTerm> terms = address.terms;
    std::ranges::sort(terms, {}, &AddressTerm::factor);
    int64_t reach = 1;
    for (const AddressTerm& term : terms) {
        if (term.factor != reach) return false;
        reach *= graph.pool.extent(term.var);
    }
    return true;
}

// Whether the layout is row-major, apart from axes of extent 1.
bool in_order(const Layout& layout, const tensor::Shape& shape) {
    const Layout wanted = row_major(shape);
    if (layout.offset != 0 || layout.split >= 0) return false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] > 1 && layout.strides[axis] != wanted.strides[axis]) return false;
    }
    return true;
}

// A stage that copies a contiguous range of elements to another one in the same order.
struct PlainCopy {
    ir::TensorId from, to;
    int64_t from_begin = 0, to_begin = 0;
    int64_t elements = 0;
};

std::optional<PlainCopy> plain_copy(const Stage& stage, const StageGraph& graph) {
    if (!is_plain(stage)) return std::nullopt;
    const StageWrite& write = stage.writes[0];
    const Expr& value = graph.pool[write.value];
    if (value.op != Op::Read) return std::nullopt;
    PlainCopy copy;
    copy.from = tensor_of(value);
    copy.to = write.tensor;
    if (copy.from == copy.to || !graph.shapes.contains(copy.from)) return std::nullopt;
    if (graph.dtypes.at(copy.from) != graph.dtypes.at(copy.to)) return std::nullopt;
    const auto from = element_of(graph, copy.from, value.args);
    const auto to = element_of(graph, copy.to, write.index);
    if (!from || !to || from->terms != to->terms) return std::nullopt;
    if (from->terms.size() != stage.loops.size() || !is_dense(*from, graph)) return std::nullopt;
    copy.from_begin = from->offset;
    copy.to_begin = to->offset;
    copy.elements = steps_of(stage);
    return copy;
}

bool is_row_major(const RegionGraph& region, ir::TensorId id) {
    if (region.inside.contains(id)) return false;
    // Zeros after the last element change no stride, but need memory.
    if (region.layouts.halos.contains(id)) return false;
    if (const auto place = region.places.find(id); place != region.places.end()) {
        return in_order(place->second.layout, place->second.shape);
    }
    if (region.graph.padded.contains(id)) return false;
    int64_t elements = 0;
    return in_order(layout_of(region, id, elements), region.graph.shapes.at(id));
}

// Whether this region decides on the memory of the tensor. Control flow decides on tensors that it
// moves.
bool is_free(const RegionGraph& region, ir::TensorId id) {
    if (region.places.contains(id) || region.parents.contains(id)) return false;
    if (!is_row_major(region, id)) return false;
    return region.kind == RegionKind::Main || !region.graph.results.contains(id);
}

void drop_empty(StageGraph& graph) {
    std::erase_if(graph.groups, [](const FusionGroup& group) {
        return group.compiled() && group.stages.empty();
    });
}

}  // namespace

// All stages of the concatenation must be such copies, or assign elements that no other stage
// writes.
int find_parts(RegionGraph& region) {
    StageGraph& graph = region.graph;
    const size_t before = region.parents.size();
    TensorSet made;  // by steps of this region, not moved by control flow
    for (const FusionGroup& group : graph.groups) {
        const bool control = group.control();
        const ir::Operation& op = region.program.operations[group.op];
        const auto* loop = control ? std::get_if<ir::Loop>(&op.control) : nullptr;
        if (group.once || (control && !loop)) continue;
        if (!control) made.insert(group.writes.begin(), group.writes.end());
        if (!loop) continue;
        for (size_t i = loop->carried.size(); i < op.outputs.size(); ++i) {
            const auto& items = op.outputs[i].operand.items;
            made.insert(items.begin(), items.end());
        }
    }
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled() || group.once || group.writes.size() != 1 || group.contraction)
            continue;
        const ir::TensorId whole = group.writes[0];
        const bool plain = std::ranges::all_of(
            group.stages, [](const Stage& stage) { return stage.empty || is_plain(stage); });
        int64_t elements = 0;
        for (const Stage& stage : group.stages) elements += steps_of(stage);
        if (!is_row_major(region, whole) || !plain || elements != volume(graph, whole)) continue;
        std::erase_if(group.stages, [&](const Stage& stage) {
            const auto copy = plain_copy(stage, graph);
            if (!copy || copy->elements != volume(graph, copy->from)) return false;
            if (!made.contains(copy->from) || !is_free(region, copy->from)) return false;
            // Before the loop, the place of the whole is unknown.
            if (region.lifted.contains(copy->from)) return false;
            if (copy->elements == elements) return false;  // the reverse is as good
            region.parents[copy->from] = {whole, copy->to_begin};
            return true;
        });
    }
    drop_empty(graph);
    return static_cast<int>(region.parents.size() - before);
}

int find_views(RegionGraph& region) {
    StageGraph& graph = region.graph;
    const size_t before = region.parents.size();
    std::unordered_map<ir::TensorId, int, IdHash> writers;
    for (const FusionGroup& group : graph.groups) {
        for (const Stage& stage : group.stages) {
            for (const StageWrite& write : stage.writes) ++writers[write.tensor];
        }
    }
    for (FusionGroup& group : graph.groups) {
        if (!group.compiled() || group.contraction) continue;
        std::erase_if(group.stages, [&](const Stage& stage) {
            const auto copy = plain_copy(stage, graph);
            if (!copy || copy->elements != volume(graph, copy->to)) return false;
            if (!is_row_major(region, copy->from) || writers[copy->to] != 1 ||
                !is_free(region, copy->to))
                return false;
            region.parents[copy->to] = {copy->from, copy->from_begin};
            return true;
        });
    }
    drop_empty(graph);
    return static_cast<int>(region.parents.size() - before);
}

}  // namespace lemma::loop
