// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/device/wide_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "loop/ir/run.h"

namespace lemma::loop {
namespace {

std::vector<float> computed(const char* name, std::vector<float> x) {
    Function f;
    Builder build(f);
    f.item = build.var("item");
    f.items = static_cast<int64_t>(x.size());
    const BufferId from = build.buffer("x", tensor::DType::F32, false);
    const BufferId to = build.buffer("y", tensor::DType::F32, true);
    Address at;
    at.add(f.item, 1);
    const ExprId value = expand_wide(build, name, build.load(from, at));
    f.body.push_back({StoreStmt{to, at, value, {}}});
    EXPECT_EQ(verify(f), "");
    std::vector<float> y(x.size());
    void* const buffers[] = {x.data(), y.data()};
    run_function(f, buffers, 0, f.items);
    return y;
}

// Floats of all sizes, and those where something ends.
std::vector<float> floats() {
    std::vector<float> x = {
        0.F,        -0.F,       1.F,           -1.F,         0.5F,        2.F,         0.06F,
        0.0599F,    1e9F,       1.1e9F,        88.8F,        89.4F,       1e-45F,      3.4e38F,
        HUGE_VALF,  -HUGE_VALF, std::nanf(""), 0.99999994F,  1.0000001F,  0.41421354F, 2.4142137F,
        1.5707964F, 3.1415927F, 355.F,         16367173e29F, 4.2949673e9F};
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
        x.push_back(std::ldexp(static_cast<float>(static_cast<int32_t>(random())), -31));
        x.push_back(std::ldexp(static_cast<float>(static_cast<int32_t>(random())), -24));
    }
    return x;
}

// In units in the last place of the float; 0 if both have no value, or the same infinite one.
double error_of(float got, double want) {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e9;
    const auto rounded = static_cast<float>(want);
    if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : 1e9;
    const float size = std::max(std::fabs(rounded), 1.17549435e-38F);
    const double unit = std::ldexp(1.0, std::ilogb(size) - 23);
    return std::fabs(static_cast<double>(got) - want) / unit;
}

TEST(WideMath, IsCloseToTheLibrary) {
    const std::vector<float> x = floats();
    struct Case {
        const char* name;
        double (*f)(double);
    };
    const Case cases[] = {{"sin", std::sin},
                          {"cos", std::cos},
                          {"tan", std::tan},
                          {"asin", std::asin},
                          {"acos", std::acos},
                          {"atan", std::atan},
                          {"sinh", std::sinh},
                          {"cosh", std::cosh},
                          {"asinh", std::asinh},
                          {"acosh", std::acosh},
                          {"atanh", std::atanh}};
    for (const Case& one : cases) {
        EXPECT_TRUE(is_expanded_wide(one.name));
        const std::vector<float> y = computed(one.name, x);
        double worst = 0;
        float where = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double error = error_of(y[i], one.f(static_cast<double>(x[i])));
            if (error <= worst) continue;
            worst = error;
            where = x[i];
        }
        EXPECT_LE(worst, 0.6) << one.name << "(" << where << ")";
    }
    EXPECT_FALSE(is_expanded_wide("exp"));
}

TEST(WideMath, ZerosKeepTheirSign) {
    for (const char* const name : {"sin", "tan", "asin", "atan", "sinh", "asinh", "atanh"}) {
        EXPECT_TRUE(std::signbit(computed(name, {-0.F})[0])) << name;
        EXPECT_FALSE(std::signbit(computed(name, {0.F})[0])) << name;
    }
}

}  // namespace
}  // namespace lemma::loop
