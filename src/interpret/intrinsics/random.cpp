// SPDX-License-Identifier: Apache-2.0
// Random tensors: element i of a call depends only on the seed of the run, the number of the call
// and i (interpret/random.h).
#include <cmath>
#include <numbers>

#include "interpret/intrinsic.h"
#include "interpret/random.h"

namespace lemma::interpret {

namespace {

Result<Array*> make_output(IntrinsicCall& call) {
    auto& output = call.outputs[0];
    LEMMA_TRY(output.array, Array::zeros(output.dtype, output.shape));
    return &output.array;
}

}  // namespace

Result<void> random_uniform(IntrinsicCall& call) {
    LEMMA_TRY(Array* const array, make_output(call));
    if (!array->integers.empty()) {
        const int64_t low = call.integer("min");
        const uint64_t count =
            static_cast<uint64_t>(call.integer("max")) - static_cast<uint64_t>(low) + 1;
        for (size_t i = 0; i < array->integers.size(); ++i) {
            const uint64_t drawn = random_bits(call.seed(), i);
            const uint64_t step = count == 0 ? drawn : drawn % count;
            array->integers[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + step);
        }
        return {};
    }
    const double low = call.real("min");
    const double high = call.real("max");
    for (size_t i = 0; i < array->reals.size(); ++i) {
        // Rounding to a narrower type must not reach the excluded upper end.
        double drawn = low + (high - low) * random_unit(call.seed(), i);
        if (tensor::round_to(array->dtype, drawn) >= high && high > low) drawn = low;
        array->reals[i] = drawn;
    }
    return {};
}

// Box–Muller transform: two uniform numbers for each normal one.
Result<void> random_normal(IntrinsicCall& call) {
    LEMMA_TRY(Array* const array, make_output(call));
    const double mean = call.real("mean");
    const double deviation = call.real("std");
    for (size_t i = 0; i < array->reals.size(); ++i) {
        const double radius = std::sqrt(-2 * std::log(1 - random_unit(call.seed(), 2 * i)));
        const double angle = 2 * std::numbers::pi * random_unit(call.seed(), 2 * i + 1);
        array->reals[i] = mean + deviation * radius * std::cos(angle);
    }
    return {};
}

Result<void> random_bernoulli(IntrinsicCall& call) {
    LEMMA_TRY(Array* const array, make_output(call));
    const double probability = call.real("prob");
    for (size_t i = 0; i < array->integers.size(); ++i) {
        array->integers[i] = random_unit(call.seed(), i) < probability;
    }
    return {};
}

}  // namespace lemma::interpret
