// SPDX-License-Identifier: Apache-2.0
#include "diff/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lemma::diff {

namespace {

struct Worst {
    int64_t element = -1;
    double amount = 0;
};

std::string place_text(const tensor::Shape& shape, int64_t element) {
    tensor::Shape index(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
        const int64_t extent = std::max<int64_t>(shape[i], 1);
        index[i] = element % extent;
        element /= extent;
    }
    return tensor::shape_text(index);
}

void add(NumberPair& pair, Worst& worst, int64_t element, double a, double b, double allowed) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    double difference = std::fabs(a - b);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    const double size = std::max(std::fabs(a), std::fabs(b));
    const double relative =
        std::isfinite(difference) ? difference / size : std::numeric_limits<double>::infinity();
    pair.max_rel = std::max(pair.max_rel, relative);
    if (!(difference <= allowed) || std::isinf(a) || std::isinf(b)) ++pair.differing;
    if (worst.element >= 0 && difference <= worst.amount) return;
    worst = {element, difference};
    pair.value_a = a;
    pair.value_b = b;
}

}  // namespace

NumberPair compare_arrays(const interpret::Array& a,
                          const interpret::Array& b,
                          const Tolerance& tolerance) {
    NumberPair pair{.elements = a.size};
    pair.type = fmt::format("{}{}", tensor::dtype_name(a.dtype), tensor::shape_text(a.shape));
    const auto trouble = [&](std::string text) {
        pair.trouble = std::move(text);
        pair.equal = false;
        return pair;
    };
    const bool kinds = a.reals.size() == b.reals.size() && a.integers.size() == b.integers.size() &&
                       a.strings.size() == b.strings.size();
    if (a.size == b.size && !kinds) {
        return trouble(fmt::format(
            "types {} and {}", tensor::dtype_name(a.dtype), tensor::dtype_name(b.dtype)));
    }
    const auto squeezed = [](tensor::Shape shape) {
        std::erase(shape, 1);
        return shape;
    };
    if (squeezed(a.shape) != squeezed(b.shape)) {
        return trouble(fmt::format(
            "shapes {} and {}", tensor::shape_text(a.shape), tensor::shape_text(b.shape)));
    }
    Worst worst;
    for (size_t i = 0; i < a.reals.size(); ++i) {
        const double allowed = tolerance.absolute + tolerance.relative * std::fabs(b.reals[i]);
        add(pair, worst, static_cast<int64_t>(i), a.reals[i], b.reals[i], allowed);
    }
    for (size_t i = 0; i < a.integers.size(); ++i) {
        if (a.integers[i] == b.integers[i]) continue;
        add(pair,
            worst,
            static_cast<int64_t>(i),
            static_cast<double>(a.integers[i]),
            static_cast<double>(b.integers[i]),
            -1);
    }
    for (size_t i = 0; i < a.strings.size(); ++i)
        if (a.strings[i] != b.strings[i]) add(pair, worst, static_cast<int64_t>(i), 0, 1, -1);
    pair.max_abs = worst.amount;
    pair.equal = pair.differing == 0;
    if (worst.element >= 0) pair.where = place_text(a.shape, worst.element);
    return pair;
}

}  // namespace lemma::diff
