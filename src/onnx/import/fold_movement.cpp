// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: gathering, slicing, joining, reshaping, reducing.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/checked.h"
#include "onnx/import/fold.h"

namespace lemma::onnx {

namespace {

Folded one(ConstantValue known) { return std::vector{std::move(known)}; }

// A result whose element i is the element `source(i)` of `from`.
template <class Source>
Folded moved(const ConstantValue& from, Shape shape, Source source) {
    const auto count = tensor::volume(shape);
    if (!count || *count > kMaxKnownItems) return std::nullopt;
    ConstantValue result{.dtype = from.dtype, .shape = std::move(shape), .items = {}};
    for (int64_t i = 0; i < *count; ++i) {
        const int64_t at = source(i);
        if (at < 0 || at >= from.size()) return std::nullopt;
        result.items.push_back(from.items[static_cast<size_t>(at)]);
    }
    return one(std::move(result));
}

// The coordinates of an element.
std::vector<int64_t> position(int64_t index, const Shape& shape) {
    std::vector<int64_t> at(shape.size());
    for (size_t i = shape.size(); i > 0; --i) {
        at[i - 1] = index % shape[i - 1];
        index /= shape[i - 1];
    }
    return at;
}

int64_t number(const std::vector<int64_t>& at, const Shape& shape) {
    int64_t index = 0;
    for (size_t i = 0; i < at.size(); ++i) index = index * shape[i] + at[i];
    return index;
}

// The product of the extents from `begin` to `end`; empty on overflow.
std::optional<int64_t> product(const Shape& shape, size_t begin, size_t end) {
    return tensor::volume({shape.begin() + static_cast<std::ptrdiff_t>(begin),
                           shape.begin() + static_cast<std::ptrdiff_t>(end)});
}

Folded reshaped(const ConstantValue& x, Shape shape) {
    const auto count = tensor::volume(shape);
    if (!count || *count != x.size()) return std::nullopt;
    ConstantValue result = x;
    result.shape = std::move(shape);
    return one(std::move(result));
}

// ---- Reshaping ----------------------------------------------------------------------------------

Folded fold_reshape(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const auto given = call.ints(1, "shape");
    if (!x || !given) return std::nullopt;
    const bool zero_is_zero = call.attributes.integer("allowzero").value_or(0) != 0;
    Shape shape = *given;
    int64_t known = 1;
    size_t open = shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0 && !zero_is_zero) {
            if (i >= x->shape.size()) return std::nullopt;
            shape[i] = x->shape[i];
        }
        if (shape[i] == -1) {
            if (open < shape.size()) return std::nullopt;
            open = i;
            continue;
        }
        const auto product = checked_mul(known, shape[i]);
        if (!product) return std::nullopt;
        known = *product;
    }
    if (open < shape.size()) {
        if (known <= 0) return std::nullopt;
        shape[open] = x->size() / known;
    }
    return reshaped(*x, std::move(shape));
}

Folded fold_squeeze(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    const auto axes = call.ints(1, "axes");
    std::vector<bool> drop(x->shape.size());
    for (size_t i = 0; !axes && i < drop.size(); ++i) drop[i] = x->shape[i] == 1;
    for (const int64_t axis : axes.value_or(std::vector<int64_t>())) {
        const auto front = front_axis(axis, drop.size());
        if (!front) return std::nullopt;
        drop[*front] = true;
    }
    Shape shape;
    for (size_t i = 0; i < drop.size(); ++i) {
        if (!drop[i]) shape.push_back(x->shape[i]);
    }
    return reshaped(*x, std::move(shape));
}

Folded fold_unsqueeze(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const auto axes = call.ints(1, "axes");
    if (!x || !axes) return std::nullopt;
    const size_t rank = x->shape.size() + axes->size();
    std::vector<bool> added(rank);
    for (const int64_t axis : *axes) {
        const auto front = front_axis(axis, rank);
        if (!front || added[*front]) return std::nullopt;
        added[*front] = true;
    }
    Shape shape;
    size_t next = 0;
    for (size_t i = 0; i < rank; ++i) shape.push_back(added[i] ? 1 : x->shape[next++]);
    return reshaped(*x, std::move(shape));
}

Folded fold_flatten(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    int64_t axis = call.attributes.integer("axis").value_or(1);
    const auto rank = static_cast<int64_t>(x->shape.size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) return std::nullopt;
    const auto rows = product(x->shape, 0, static_cast<size_t>(axis));
    const auto columns = product(x->shape, static_cast<size_t>(axis), x->shape.size());
    if (!rows || !columns) return std::nullopt;
    return reshaped(*x, {*rows, *columns});
}

Folded fold_transpose(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    const size_t rank = x->shape.size();
    std::vector<int64_t> perm;
    for (size_t i = rank; i > 0; --i) perm.push_back(static_cast<int64_t>(i) - 1);
    if (call.attributes.has("perm")) perm = call.attributes.ints("perm").value_or(perm);
    if (perm.size() != rank) return std::nullopt;
    Shape shape;
    for (const int64_t axis : perm) {
        if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
        shape.push_back(x->shape[static_cast<size_t>(axis)]);
    }
    return moved(*x, shape, [&](int64_t i) {
        const auto at = position(i, shape);
        std::vector<int64_t> from(rank);
        for (size_t k = 0; k < rank; ++k) from[static_cast<size_t>(perm[k])] = at[k];
        return number(from, x->shape);
    });
}

Folded fold_expand(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const auto wanted = call.ints(1, "shape");
    if (!x || !wanted) return std::nullopt;
    const auto shape = broadcast_shape(x->shape, *wanted);
    if (!shape) return std::nullopt;
    return moved(*x, *shape, [&](int64_t i) { return broadcast_index(i, *shape, x->shape); });
}

Folded fold_tile(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const auto repeats = call.ints(1, "repeats");
    if (!x || !repeats || repeats->size() != x->shape.size()) return std::nullopt;
    Shape shape = x->shape;
    for (size_t i = 0; i < shape.size(); ++i) {
        const auto extent = checked_mul(shape[i], (*repeats)[i]);
        if (!extent) return std::nullopt;
        shape[i] = *extent;
    }
    return moved(*x, shape, [&](int64_t i) {
        auto at = position(i, shape);
        for (size_t k = 0; k < at.size(); ++k) at[k] %= x->shape[k];
        return number(at, x->shape);
    });
}

// ---- Choosing -----------------------------------------------------------------------------------

Folded fold_gather(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const ConstantValue* const indices = call.input(1);
    if (!x || !indices) return std::nullopt;
    const auto axis = front_axis(call.attributes.integer("axis").value_or(0), x->shape.size());
    const auto values = as_ints(indices->items);
    if (!axis || !values) return std::nullopt;
    Shape shape(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(*axis));
    shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
    shape.insert(
        shape.end(), x->shape.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, x->shape.end());
    const auto inner = product(x->shape, *axis + 1, x->shape.size());
    if (!inner) return std::nullopt;
    const int64_t extent = x->shape[*axis];
    const int64_t count = indices->size();
    return moved(*x, std::move(shape), [&](int64_t i) {
        const int64_t outer = i / *inner / count;
        int64_t index = (*values)[static_cast<size_t>(i / *inner % count)];
        if (index < 0) index += extent;
        if (x->items.empty() || index < 0 || index >= extent) return int64_t{-1};
        return (outer * extent + index) * *inner + i % *inner;
    });
}

struct Range {
    int64_t begin = 0;
    int64_t step = 1;
    int64_t count = 0;
};
Range slice_range(int64_t start, int64_t end, int64_t step, int64_t extent) {
    const auto clamp = [](int64_t value, int64_t low, int64_t high) {
        return std::min(std::max(value, low), high);
    };
    if (start < 0) start += extent;
    if (end < 0) end += extent;
    if (step > 0) {
        start = clamp(start, 0, extent);
        end = clamp(end, 0, extent);
        return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
    }
    start = clamp(start, 0, extent - 1);
    end = clamp(end, -1, extent - 1);
    return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

Folded fold_slice(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    const auto starts = call.ints(1, "starts");
    const auto ends = call.ints(2, "ends");
    if (!x || !starts || !ends || starts->size() != ends->size()) return std::nullopt;
    std::vector<int64_t> axes;
    for (size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<int64_t>(i));
    std::vector<int64_t> steps(starts->size(), 1);
    if (call.input(3) || call.attributes.has("axes")) axes = call.ints(3, "axes").value_or(axes);
    if (call.input(4)) steps = call.ints(4, "steps").value_or(steps);
    if (axes.size() != starts->size() || steps.size() != starts->size()) return std::nullopt;
    std::vector<Range> ranges;
    for (const int64_t extent : x->shape) ranges.push_back({0, 1, extent});
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = front_axis(axes[i], x->shape.size());
        if (!axis || steps[i] == 0 || steps[i] == INT64_MIN) return std::nullopt;
        if (steps[i] < 0 && x->shape[*axis] == 0) return std::nullopt;
        ranges[*axis] = slice_range((*starts)[i], (*ends)[i], steps[i], x->shape[*axis]);
    }
    Shape shape;
    for (const Range& range : ranges) shape.push_back(range.count);
    return moved(*x, shape, [&](int64_t i) {
        auto at = position(i, shape);
        for (size_t k = 0; k < at.size(); ++k) at[k] = ranges[k].begin + at[k] * ranges[k].step;
        return number(at, x->shape);
    });
}

Folded fold_split(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    const auto axis = front_axis(call.attributes.integer("axis").value_or(0), x->shape.size());
    if (!axis || call.outputs == 0) return std::nullopt;
    const int64_t extent = x->shape[*axis];
    const auto count = static_cast<int64_t>(call.outputs);
    const int64_t chunk = extent / count + (extent % count != 0 ? 1 : 0);
    std::vector<int64_t> parts(call.outputs, chunk);
    const auto before = checked_mul(chunk, count - 1);
    parts.back() = before ? extent - *before : -1;
    if (call.input(1) || call.attributes.has("split"))
        parts = call.ints(1, "split").value_or(parts);
    if (parts.size() != call.outputs) return std::nullopt;
    std::vector<ConstantValue> results;
    int64_t begin = 0;
    for (const int64_t part : parts) {
        if (part < 0 || part > extent - begin) return std::nullopt;
        Shape shape = x->shape;
        shape[*axis] = part;
        Folded piece = moved(*x, shape, [&](int64_t i) {
            auto at = position(i, shape);
            at[*axis] += begin;
            return number(at, x->shape);
        });
        if (!piece) return std::nullopt;
        results.push_back(std::move((*piece)[0]));
        begin += part;
    }
    return results;
}

// ---- Making -------------------------------------------------------------------------------------

Folded fold_concat(const FoldCall& call) {
    if (call.inputs.empty() || !call.inputs[0]) return std::nullopt;
    const ConstantValue& first = *call.inputs[0];
    const auto axis = front_axis(call.attributes.integer("axis").value_or(1), first.shape.size());
    if (!axis) return std::nullopt;
    ConstantValue result{.dtype = first.dtype, .shape = first.shape, .items = {}};
    result.shape[*axis] = 0;
    for (const ConstantValue* const input : call.inputs) {
        if (!input || input->shape.size() != first.shape.size()) return std::nullopt;
        for (size_t i = 0; i < first.shape.size(); ++i) {
            if (i != *axis && input->shape[i] != first.shape[i]) return std::nullopt;
        }
        const auto sum = checked_add(result.shape[*axis], input->shape[*axis]);
        if (!sum) return std::nullopt;
        result.shape[*axis] = *sum;
    }
    // Without elements there are no rows, even if the product of the extents overflows.
    const auto outer = product(first.shape, 0, *axis);
    const bool empty = tensor::volume(result.shape) == 0;
    if (!outer && !empty) return std::nullopt;
    for (int64_t row = 0; !empty && row < *outer; ++row) {
        for (const ConstantValue* const input : call.inputs) {
            const int64_t length = input->size() / *outer;
            const auto begin = input->items.begin() + row * length;
            result.items.insert(result.items.end(), begin, begin + length);
        }
    }
    return one(std::move(result));
}

Folded fold_range(const FoldCall& call) {
    const ConstantValue* const start = call.input(0);
    const ConstantValue* const limit = call.input(1);
    const ConstantValue* const delta = call.input(2);
    if (!start || !limit || !delta || !tensor::is_integer(start->dtype)) return std::nullopt;
    if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) return std::nullopt;
    const auto begin = as_int(start->items[0]);
    const auto end = as_int(limit->items[0]);
    const auto step = as_int(delta->items[0]);
    if (!begin || !end || !step || *step == 0) return std::nullopt;
    ConstantValue result{.dtype = start->dtype, .shape = {}, .items = {}};
    for (int64_t at = *begin; *step > 0 ? at < *end : at > *end;) {
        if (result.size() >= kMaxKnownItems) return std::nullopt;
        result.items.emplace_back(at);
        const auto next = checked_add(at, *step);
        if (!next) break;
        at = *next;
    }
    result.shape = {result.size()};
    return one(std::move(result));
}

Folded fold_constant_of_shape(const FoldCall& call) {
    const auto shape = call.ints(0, "shape");
    const auto count = shape ? tensor::volume(*shape) : std::nullopt;
    if (!count || *count > kMaxKnownItems || !call.type) return std::nullopt;
    const auto found = call.attributes.all().find("value");
    if (found == call.attributes.all().end()) return std::nullopt;
    const auto* const value = std::get_if<Scalar>(&found->second);
    if (!value) return std::nullopt;
    return one({*call.type, *shape, std::vector<Scalar>(static_cast<size_t>(*count), *value)});
}

Folded fold_non_zero(const FoldCall& call) {
    const ConstantValue* const x = call.input(0);
    if (!x) return std::nullopt;
    std::vector<std::vector<int64_t>> found;
    for (int64_t i = 0; i < x->size(); ++i) {
        const Scalar& item = x->items[static_cast<size_t>(i)];
        const auto truth = as_bool(item);
        const auto number = as_real(item);
        if (!truth && !number) return std::nullopt;
        if (truth ? *truth : *number != 0) found.push_back(position(i, x->shape));
    }
    const size_t rank = x->shape.size();
    ConstantValue result{.dtype = DType::I64,
                         .shape = {static_cast<int64_t>(rank), static_cast<int64_t>(found.size())},
                         .items = {}};
    for (size_t axis = 0; axis < rank; ++axis) {
        for (const auto& at : found) result.items.emplace_back(at[axis]);
    }
    return one(std::move(result));
}

// ---- Reducing -----------------------------------------------------------------------------------

}  // namespace

Folded fold_reduction(const FoldCall& call, std::string_view by) {
    const std::string combine(by);
    const ConstantValue* const x = call.input(0);
    if (!x || x->dtype == DType::Bool) return std::nullopt;
    const size_t rank = x->shape.size();
    const auto axes = call.ints(1, "axes");
    const bool all = !axes || axes->empty();
    if (all && call.attributes.integer("noop_with_empty_axes").value_or(0) != 0) return one(*x);
    std::vector<bool> gone(rank, all);
    for (const int64_t axis : axes.value_or(std::vector<int64_t>())) {
        const auto front = front_axis(axis, rank);
        if (!front) return std::nullopt;
        gone[*front] = true;
    }
    Shape kept = x->shape;
    for (size_t i = 0; i < rank; ++i) kept[i] = gone[i] ? 1 : kept[i];
    const auto count = tensor::volume(kept);
    if (!count || *count > x->size()) return std::nullopt;  // an empty reduction
    std::vector<std::optional<Scalar>> items(static_cast<size_t>(*count));
    const FoldFunction function = find_elementwise_fold(combine);
    const Attributes none;
    for (int64_t i = 0; i < x->size(); ++i) {
        const Scalar& item = x->items[static_cast<size_t>(i)];
        auto& into = items[static_cast<size_t>(broadcast_index(i, x->shape, kept))];
        if (!into) {
            into = item;
            continue;
        }
        const ConstantValue a{.dtype = x->dtype, .shape = {}, .items = {*into}};
        const ConstantValue b{.dtype = x->dtype, .shape = {}, .items = {item}};
        const Folded sum = function({combine, none, {&a, &b}, 1, {}, call.symbols});
        if (!sum) return std::nullopt;
        into = (*sum)[0].items[0];
    }
    ConstantValue result{.dtype = x->dtype, .shape = {}, .items = {}};
    const bool keep = call.attributes.integer("keepdims").value_or(1) != 0;
    for (size_t i = 0; i < rank; ++i) {
        if (keep || !gone[i]) result.shape.push_back(kept[i]);
    }
    for (auto& item : items) result.items.push_back(std::move(*item));
    return one(std::move(result));
}

FoldFunction find_movement_fold(const std::string& op) {
    static const std::unordered_map<std::string, FoldFunction> kFunctions = {
        {"Reshape", fold_reshape},
        {"Squeeze", fold_squeeze},
        {"Unsqueeze", fold_unsqueeze},
        {"Flatten", fold_flatten},
        {"Transpose", fold_transpose},
        {"Expand", fold_expand},
        {"Tile", fold_tile},
        {"Gather", fold_gather},
        {"Slice", fold_slice},
        {"Split", fold_split},
        {"Concat", fold_concat},
        {"Range", fold_range},
        {"ConstantOfShape", fold_constant_of_shape},
        {"NonZero", fold_non_zero},
    };
    const auto found = kFunctions.find(op);
    return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace lemma::onnx
