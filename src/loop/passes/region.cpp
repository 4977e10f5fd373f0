// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/region.h"

#include "tensor/room.h"

namespace lemma::loop {

Layout layout_of(const RegionGraph& region, ir::TensorId id, int64_t& elements) {
    const tensor::Shape& shape = region.graph.shapes.at(id);
    const auto halo = region.layouts.halos.find(id);
    const auto innermost = region.layouts.innermost.find(id);
    std::vector<size_t> order;  // of the axes, innermost first
    if (innermost != region.layouts.innermost.end()) order.push_back(innermost->second);
    for (size_t axis = shape.size(); axis-- > 0;) {
        if (order.empty() || axis != order[0] || innermost == region.layouts.innermost.end()) {
            order.push_back(axis);
        }
    }
    elements = 1;
    if (tensor::volume(shape) == 0) return row_major(shape);
    Layout layout;
    layout.strides.resize(shape.size());
    for (const size_t axis : order) {
        layout.strides[axis] = elements;
        int64_t extent = shape[axis];
        if (halo != region.layouts.halos.end()) {
            layout.offset += halo->second.below[axis] * elements;
            extent += halo->second.below[axis] + halo->second.above[axis];
        }
        elements = total_elements(elements, extent);
    }
    return layout;
}

TensorSet find_shared(const RegionGraph& region) {
    TensorSet shared;
    for (const auto& [id, parent] : region.parents) {
        shared.insert(id);
        shared.insert(parent.first);
    }
    for (const auto& [id, whole] : region.inside) {
        shared.insert(id);
        shared.insert(whole.first);
    }
    return shared;
}

}  // namespace lemma::loop
