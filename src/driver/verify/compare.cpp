// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "driver/verify/case.h"
#include "tensor/convert.h"

namespace lemma::driver {

namespace {

bool agrees(double got, double want, const Tolerance& tolerance) {
    if (got == want || (std::isnan(got) && std::isnan(want))) return true;
    if (std::isinf(want)) return false;  // a relative tolerance would accept everything
    return std::fabs(got - want) <= tolerance.absolute + tolerance.relative * std::fabs(want);
}

Difference whole(std::string text) {
    return {std::move(text), std::numeric_limits<double>::infinity(), 0, -1};
}

struct Worst {
    size_t element = 0;
    double amount = -1;
    int64_t count = 0;

    void add(size_t at, double difference) {
        ++count;
        // A NaN on one side only counts as an infinite difference.
        if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
        if (difference <= amount) return;
        amount = difference;
        element = at;
    }
};

}  // namespace

std::optional<Difference> compare(const std::string& name,
                                  const interpret::Array& got,
                                  const interpret::Array& want,
                                  const Tolerance& tolerance) {
    const bool reals = tensor::is_real(want.dtype);
    const bool bools = want.dtype == tensor::DType::Bool;
    const bool texts = want.dtype == tensor::DType::Str;
    if (reals != tensor::is_real(got.dtype) || bools != (got.dtype == tensor::DType::Bool) ||
        texts != (got.dtype == tensor::DType::Str)) {
        return whole(fmt::format("{} has the type {}, expected {}",
                                 name,
                                 tensor::dtype_name(got.dtype),
                                 tensor::dtype_name(want.dtype)));
    }
    if (got.shape != want.shape) {
        return whole(fmt::format("{} has the shape {}, expected {}",
                                 name,
                                 tensor::shape_text(got.shape),
                                 tensor::shape_text(want.shape)));
    }
    Worst worst;
    for (size_t i = 0; i < want.reals.size(); ++i) {
        if (agrees(got.reals[i], want.reals[i], tolerance)) continue;
        worst.add(i, std::fabs(got.reals[i] - want.reals[i]));
    }
    for (size_t i = 0; i < want.integers.size(); ++i) {
        if (got.integers[i] == want.integers[i]) continue;
        worst.add(i,
                  std::fabs(static_cast<double>(got.integers[i]) -
                            static_cast<double>(want.integers[i])));
    }
    for (size_t i = 0; i < want.strings.size(); ++i) {
        if (got.strings[i] != want.strings[i]) worst.add(i, 1);
    }
    if (worst.count == 0) return std::nullopt;
    const size_t at = worst.element;
    const auto value = [&](const interpret::Array& array) {
        if (reals) return fmt::format("{:.9g}", array.reals[at]);
        return texts ? array.strings[at] : fmt::format("{}", array.integers[at]);
    };
    return Difference{
        fmt::format("{} of {} is {}, expected {}, a difference of {:.3g}; {} of {} elements differ",
                    tensor::element_text(want.shape, static_cast<int64_t>(at)),
                    name,
                    value(got),
                    value(want),
                    worst.amount,
                    worst.count,
                    want.size),
        worst.amount,
        worst.count,
        static_cast<int64_t>(at)};
}

}  // namespace lemma::driver
