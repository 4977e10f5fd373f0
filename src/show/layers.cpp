// SPDX-License-Identifier: Apache-2.0
#include "show/layers.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lemma::show {

namespace {

constexpr double kMargin = 16;
constexpr double kGapAcross = 28;  // between neighbours of a layer
constexpr double kGapDown = 30;    // between layers, besides the room for labels
constexpr double kLineWidth = 10;  // of an arrow that passes a layer
// Arrows that pass more layers than this in all are drawn straight: the order would take too long.
constexpr size_t kMostPassing = 100'000;
constexpr int kOrderSweeps = 12;
constexpr int kPlaceSweeps = 24;

// A box, or an arrow that passes a layer.
struct Item {
    size_t layer = 0;
    double width = 0;
    double x = 0;      // the middle
    double place = 0;  // in the order of the layer
    std::vector<size_t> above, below;
};

class LayerPlan {
public:
    explicit LayerPlan(Drawing& drawing) : drawing_(drawing) {}
    void run();

private:
    void choose_layers();
    void make_items();
    void order();
    void sort_layer(std::vector<size_t>& layer, bool by_above);
    void place();
    void align_layer(const std::vector<size_t>& layer, bool by_above);
    void write();

    Drawing& drawing_;
    std::vector<Item> items_;  // the boxes, then the passing arrows
    std::vector<std::vector<size_t>> layers_;
    std::vector<std::vector<size_t>> chains_;  // passing items of each arrow
};

void LayerPlan::choose_layers() {
    auto& boxes = drawing_.boxes;
    std::vector<size_t> first_reader(boxes.size(), SIZE_MAX);
    std::vector<bool> has_source(boxes.size(), false);
    // Arrows in the order of their sources: the layer of a source is final when it is used.
    std::vector<size_t> order(drawing_.arrows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return drawing_.arrows[i].from; });
    for (const size_t i : order) {
        const Arrow& arrow = drawing_.arrows[i];
        has_source[arrow.to] = true;
        boxes[arrow.to].layer = std::max(boxes[arrow.to].layer, boxes[arrow.from].layer + 1);
    }
    // Boxes without a source lie just above their first reader.
    for (const Arrow& arrow : drawing_.arrows)
        first_reader[arrow.from] = std::min(first_reader[arrow.from], boxes[arrow.to].layer);
    for (size_t i = 0; i < boxes.size(); ++i) {
        if (!has_source[i] && first_reader[i] != SIZE_MAX) boxes[i].layer = first_reader[i] - 1;
    }
}

void LayerPlan::make_items() {
    size_t passing = 0, deepest = 0;
    for (const Box& box : drawing_.boxes) {
        items_.push_back({.layer = box.layer, .width = box.width, .above = {}, .below = {}});
        deepest = std::max(deepest, box.layer);
    }
    const auto span = [&](const Arrow& arrow) {
        return drawing_.boxes[arrow.to].layer - drawing_.boxes[arrow.from].layer;
    };
    for (const Arrow& arrow : drawing_.arrows) passing += span(arrow) - 1;
    chains_.resize(drawing_.arrows.size());
    for (size_t i = 0; i < drawing_.arrows.size(); ++i) {
        const Arrow& arrow = drawing_.arrows[i];
        size_t last = arrow.from;
        for (size_t k = 1; k < span(arrow) && passing <= kMostPassing; ++k) {
            const size_t next = items_.size();
            items_.push_back({.layer = items_[arrow.from].layer + k,
                              .width = kLineWidth,
                              .above = {last},
                              .below = {}});
            items_[last].below.push_back(next);
            chains_[i].push_back(next);
            last = next;
        }
        items_[last].below.push_back(arrow.to);
        items_[arrow.to].above.push_back(last);
    }
    layers_.resize(deepest + 1);
    for (size_t i = 0; i < items_.size(); ++i) layers_[items_[i].layer].push_back(i);
}

// By the mean place of the neighbours; items without neighbours keep theirs.
void LayerPlan::sort_layer(std::vector<size_t>& layer, bool by_above) {
    std::vector<std::pair<double, size_t>> keys;
    for (const size_t id : layer) {
        const auto& near = by_above ? items_[id].above : items_[id].below;
        double sum = 0;
        for (const size_t other : near) sum += items_[other].place;
        keys.emplace_back(near.empty() ? items_[id].place : sum / static_cast<double>(near.size()),
                          id);
    }
    std::ranges::stable_sort(keys, {}, [](const auto& key) { return key.first; });
    for (size_t i = 0; i < keys.size(); ++i) {
        layer[i] = keys[i].second;
        items_[layer[i]].place = (static_cast<double>(i) + 0.5) / static_cast<double>(keys.size());
    }
}

void LayerPlan::order() {
    for (auto& layer : layers_) {
        for (size_t i = 0; i < layer.size(); ++i)
            items_[layer[i]].place =
                (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
    }
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
        if (sweep % 2 == 0) {
            for (size_t i = 1; i < layers_.size(); ++i) sort_layer(layers_[i], true);
        } else {
            for (size_t i = layers_.size() - 1; i-- > 0;) sort_layer(layers_[i], false);
        }
    }
}

// Moves items towards their neighbours. Pushing them apart to the right and to the left and taking
// the mean keeps the order and the gaps.
void LayerPlan::align_layer(const std::vector<size_t>& layer, bool by_above) {
    std::vector<double> wanted, right, left(layer.size());
    for (const size_t id : layer) {
        const auto& near = by_above ? items_[id].above : items_[id].below;
        double sum = 0;
        for (const size_t other : near) sum += items_[other].x;
        wanted.push_back(near.empty() ? items_[id].x : sum / static_cast<double>(near.size()));
    }
    const auto apart = [&](size_t i) {  // of an item and the one before it
        return (items_[layer[i - 1]].width + items_[layer[i]].width) / 2 + kGapAcross;
    };
    right = wanted;
    for (size_t i = 1; i < layer.size(); ++i)
        right[i] = std::max(wanted[i], right[i - 1] + apart(i));
    left = wanted;
    for (size_t i = layer.size(); i-- > 1;)
        left[i - 1] = std::min(wanted[i - 1], left[i] - apart(i));
    for (size_t i = 0; i < layer.size(); ++i) items_[layer[i]].x = (left[i] + right[i]) / 2;
}

void LayerPlan::place() {
    for (const auto& layer : layers_) {
        double x = 0;
        for (const size_t id : layer) {
            items_[id].x = x + items_[id].width / 2;
            x += items_[id].width + kGapAcross;
        }
        for (const size_t id : layer) items_[id].x -= x / 2;
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
        if (sweep % 2 == 0) {
            for (size_t i = 1; i < layers_.size(); ++i) align_layer(layers_[i], true);
        } else {
            for (size_t i = layers_.size() - 1; i-- > 0;) align_layer(layers_[i], false);
        }
    }
}

void LayerPlan::write() {
    auto& boxes = drawing_.boxes;
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (const Item& item : items_) {
        low = std::min(low, item.x - item.width / 2);
        high = std::max(high, item.x + item.width / 2);
    }
    std::vector<double> tops(layers_.size()), heights(layers_.size()), rooms(layers_.size());
    for (const Box& box : boxes) {
        heights[box.layer] = std::max(heights[box.layer], box.height);
        rooms[box.layer] = std::max(rooms[box.layer], box.room);
    }
    double y = kMargin;
    for (size_t i = 0; i < layers_.size(); ++i) {
        tops[i] = y;
        y += heights[i] + rooms[i] + kGapDown;
    }
    for (size_t i = 0; i < boxes.size(); ++i)
        boxes[i].top = {items_[i].x - low + kMargin, tops[boxes[i].layer]};
    for (size_t i = 0; i < drawing_.arrows.size(); ++i) {
        Arrow& arrow = drawing_.arrows[i];
        const Box& from = boxes[arrow.from];
        arrow.points = {{from.top.x, from.top.y + from.height}};
        for (const size_t id : chains_[i]) {
            const double x = items_[id].x - low + kMargin;
            const size_t layer = items_[id].layer;
            arrow.points.push_back({x, tops[layer]});
            arrow.points.push_back({x, tops[layer] + heights[layer] + rooms[layer]});
        }
        arrow.points.push_back(boxes[arrow.to].top);
    }
    drawing_.width = high - low + 2 * kMargin;
    drawing_.height = y - kGapDown + kMargin;
}

void LayerPlan::run() {
    choose_layers();
    make_items();
    order();
    place();
    write();
}

}  // namespace

void lay_out(Drawing& drawing) {
    if (!drawing.boxes.empty()) LayerPlan(drawing).run();
}

}  // namespace lemma::show
