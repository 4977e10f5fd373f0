// Random tensors. The generator is SplitMix64 over a counter: element i of a call is a function of
// the seed of the run, the number of the call and i alone, so that results do not depend on the
// machine, the engine or the number of threads.
#include <cmath>
#include <numbers>

#include "loop/intrinsic.h"

namespace lemma::loop {

namespace {

uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
uint64_t bits(uint64_t seed, uint64_t index) {
    return mix(mix(seed) + (index + 1) * 0x9E3779B97F4A7C15u);
}
// In [0, 1), with the 53 bits of a double.
double unit(uint64_t seed, uint64_t index) {
    return static_cast<double>(bits(seed, index) >> 11) * 0x1p-53;
}

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
            const uint64_t drawn = bits(call.seed(), i);
            const uint64_t step = count == 0 ? drawn : drawn % count;
            array->integers[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + step);
        }
        return {};
    }
    const double low = call.real("min");
    const double high = call.real("max");
    for (size_t i = 0; i < array->reals.size(); ++i) {
        // Rounding to a narrower type must not reach the open end.
        double drawn = low + (high - low) * unit(call.seed(), i);
        if (tensor::round_to(array->dtype, drawn) >= high && high > low) drawn = low;
        array->reals[i] = drawn;
    }
    return {};
}

// Box and Muller: two uniform numbers for each normal one.
Result<void> random_normal(IntrinsicCall& call) {
    LEMMA_TRY(Array* const array, make_output(call));
    const double mean = call.real("mean");
    const double deviation = call.real("std");
    for (size_t i = 0; i < array->reals.size(); ++i) {
        const double radius = std::sqrt(-2 * std::log(1 - unit(call.seed(), 2 * i)));
        const double angle = 2 * std::numbers::pi * unit(call.seed(), 2 * i + 1);
        array->reals[i] = mean + deviation * radius * std::cos(angle);
    }
    return {};
}

Result<void> random_bernoulli(IntrinsicCall& call) {
    LEMMA_TRY(Array* const array, make_output(call));
    const double probability = call.real("prob");
    for (size_t i = 0; i < array->integers.size(); ++i) {
        array->integers[i] = unit(call.seed(), i) < probability;
    }
    return {};
}

}  // namespace lemma::loop
