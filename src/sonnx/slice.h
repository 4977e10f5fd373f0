// SPDX-License-Identifier: Apache-2.0
// sonnx/slice.h — the lists of a Slice: as they are given, and in the explicit form of the profile,
// which names every axis and clamps nothing.
#pragma once

#include <optional>

#include "sonnx/view.h"

namespace lemma::sonnx {

struct SliceLists {
    Extents starts, ends, axes, steps;
};
// With the defaults of ONNX for axes and steps. Empty if a list is computed, too long or an
// attribute (before operator set 10).
std::optional<SliceLists> slice_lists(const onnx::Node& node, const View& view);
// Whether the lists have one length, axes are distinct and in range, and no step is 0.
bool is_valid_slice(const SliceLists& lists, const Extents& shape);
// The same elements with all axes in order, starts inside of the axis and ends not beyond it. Empty
// for invalid lists and empty results.
std::optional<SliceLists> explicit_slice(const SliceLists& lists, const Extents& shape);

}  // namespace lemma::sonnx
