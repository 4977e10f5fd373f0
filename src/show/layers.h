// SPDX-License-Identifier: Apache-2.0
// show/layers.h — places for the boxes of a drawing: layers from top to bottom, so that all edges
// lead down, with few crossings and short edges.
#pragma once

#include <cstddef>
#include <vector>

namespace lemma::show {

struct Point {
    double x = 0, y = 0;
};

struct Box {
    double width = 0, height = 0;
    double room = 0;  // below the box, for labels
    // Results: the middle of the upper side.
    size_t layer = 0;
    Point top;
};

struct Arrow {
    size_t from = 0, to = 0;  // boxes; `from` is the smaller number
    // Result: from the lower side of a box to the upper side of the other. Between two points with
    // the same x, the line is straight.
    std::vector<Point> points;
};

struct Drawing {
    std::vector<Box> boxes;
    std::vector<Arrow> arrows;
    double width = 0, height = 0;  // results
};

void lay_out(Drawing& drawing);

}  // namespace lemma::show
