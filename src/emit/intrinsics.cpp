#include "emit/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>

namespace lemma::emit {

namespace {

const ir::Value* find(const ir::Operation& op, std::string_view name) {
    for (const ir::Attribute& attribute : op.attributes) {
        if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
}

template <class T>
std::optional<T> attribute(const ir::Operation& op, std::string_view name) {
    const ir::Value* const value = find(op, name);
    const auto* const scalar = value ? std::get_if<ir::Scalar>(value) : nullptr;
    const T* const found = scalar ? std::get_if<T>(scalar) : nullptr;
    return found ? std::optional<T>(*found) : std::nullopt;
}

// The products of the axes before an axis, of the axis and of those after it.
std::optional<IntrinsicText> top_k(const ir::Operation& op, const tensor::Shape& shape) {
    const auto k = attribute<int64_t>(op, "k");
    auto axis = attribute<int64_t>(op, "axis");
    const auto largest = attribute<bool>(op, "largest");
    const auto sorted = attribute<bool>(op, "sorted");
    if (!k || !axis || !largest || !sorted) return std::nullopt;
    if (*axis < 0) *axis += std::ssize(shape);
    if (*axis < 0 || *axis >= std::ssize(shape)) return std::nullopt;
    int64_t outer = 1, inner = 1;
    for (int64_t i = 0; i < std::ssize(shape); ++i) {
        if (i != *axis) (i < *axis ? outer : inner) *= shape[static_cast<size_t>(i)];
    }
    const int64_t length = shape[static_cast<size_t>(*axis)];
    return IntrinsicText{"sx_top_k",
                         {fmt::format("{}", outer),
                          fmt::format("{}", length),
                          fmt::format("{}", inner),
                          fmt::format("{}", std::clamp<int64_t>(*k, 0, length)),
                          *largest ? "1" : "0",
                          *sorted ? "1" : "0"}};
}

}  // namespace

std::optional<IntrinsicText> intrinsic_call(const ir::Operation& op,
                                            const std::vector<tensor::Shape>& inputs) {
    if (op.op == "algo.top_k" && inputs.size() == 1) return top_k(op, inputs[0]);
    return std::nullopt;
}

const char* const kIntrinsicsHeader = R"(/* Operators without a formula. */
#ifndef SX_INTRINSICS_H
#define SX_INTRINSICS_H

#include <stdint.h>

/* The k largest or smallest elements of each row. Element i of a row is at i * inner. Equal elements
   keep their order, and NaN is larger than all numbers. Unless sorted, the chosen elements keep the
   order of the row. */
void sx_top_k(const double *input, double *values, int64_t *indices, int64_t outer, int64_t length,
              int64_t inner, int64_t k, int32_t largest, int32_t sorted);

#endif
)";

const char* const kIntrinsicsSource = R"(#include "intrinsics.h"

/* Whether element i is chosen before element j. */
static int32_t sx_before(double a, double b, int64_t i, int64_t j, int32_t largest)
{
    const double first = (largest != 0) ? a : b;
    const double second = (largest != 0) ? b : a;
    int32_t result = (i < j) ? 1 : 0;
    if ((first > second) || ((first != first) && (second == second))) {
        result = 1;
    } else if ((second > first) || ((second != second) && (first == first))) {
        result = 0;
    } else {
        /* equal: the order of the row */
    }
    return result;
}

void sx_top_k(const double *input, double *values, int64_t *indices, int64_t outer, int64_t length,
              int64_t inner, int64_t k, int32_t largest, int32_t sorted)
{
    for (int64_t block = 0; block < outer; block++) {
        for (int64_t lane = 0; lane < inner; lane++) {
            const double *row = &input[(block * length * inner) + lane];
            const int64_t to = (block * k * inner) + lane;
            int64_t last = -1;
            for (int64_t n = 0; n < k; n++) {
                /* The next one: the first of those behind the last. */
                int64_t best = -1;
                for (int64_t i = 0; i < length; i++) {
                    const int32_t behind =
                        (last < 0) ? 1
                                   : ((i != last) && (sx_before(row[last * inner], row[i * inner],
                                                                last, i, largest) != 0));
                    if ((behind != 0) && ((best < 0) || (sx_before(row[i * inner], row[best * inner],
                                                                   i, best, largest) != 0))) {
                        best = i;
                    }
                }
                last = best;
                indices[to + (n * inner)] = best;
            }
            if (sorted == 0) {
                for (int64_t n = 1; n < k; n++) {
                    const int64_t moved = indices[to + (n * inner)];
                    int64_t at = n;
                    while ((at > 0) && (indices[to + ((at - 1) * inner)] > moved)) {
                        indices[to + (at * inner)] = indices[to + ((at - 1) * inner)];
                        at--;
                    }
                    indices[to + (at * inner)] = moved;
                }
            }
            for (int64_t n = 0; n < k; n++) {
                values[to + (n * inner)] = row[indices[to + (n * inner)] * inner];
            }
        }
    }
}
)";

}  // namespace lemma::emit
