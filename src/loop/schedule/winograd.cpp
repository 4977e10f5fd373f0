// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/winograd.h"

#include "base/check.h"

namespace lemma::loop {

namespace {

// The interpolation points are 0, 1, -1 and infinity; F(4, 3) adds 2 and -2.
const Filtering kTwo = {
    2,
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
    {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
    {{1, 1, 1, 0}, {0, 1, -1, 1}},
};
const Filtering kFour = {
    4,
    {{4, 0, -5, 0, 1, 0},
     {0, -4, -4, 1, 1, 0},
     {0, 4, -4, -1, 1, 0},
     {0, -2, -1, 2, 1, 0},
     {0, 2, -1, -2, 1, 0},
     {0, 4, 0, -5, 0, 1}},
    {{1. / 4, 0, 0},
     {-1. / 6, -1. / 6, -1. / 6},
     {-1. / 6, 1. / 6, -1. / 6},
     {1. / 24, 1. / 12, 1. / 6},
     {1. / 24, -1. / 12, 1. / 6},
     {0, 0, 1}},
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
};

ExprId add(Builder& build, ExprId sum, double factor, ExprId value) {
    const auto number = [&](double of) { return build.real(of, build.type(value).kind); };
    if (!sum.valid()) {
        if (factor == 1) return value;
        if (factor == -1) return build.make(Op::Neg, {value});
        return build.make(Op::Mul, {value, number(factor)});
    }
    if (factor == 1) return build.make(Op::Add, {sum, value});
    if (factor == -1) return build.make(Op::Sub, {sum, value});
    return build.make(Op::Fma, {value, number(factor), sum});
}

// Terms with factor 1 first, so that nothing is negated.
ExprId sum_of(Builder& build,
              const std::vector<double>& factors,
              const std::vector<ExprId>& values) {
    ExprId sum;
    for (const bool ones : {true, false}) {
        for (size_t i = 0; i < factors.size(); ++i) {
            if (factors[i] == 0 || (factors[i] == 1) != ones) continue;
            sum = add(build, sum, factors[i], values[i]);
        }
    }
    return sum.valid() ? sum : build.real(0, build.type(values[0]).kind);
}

// Whether each pair of factors is equal or opposite, and neither is always so.
bool are_mirrored(const std::vector<double>& a, const std::vector<double>& b) {
    bool equal = false, opposite = false;
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i] && a[i] != -b[i]) return false;
        if (a[i] == 0) continue;
        (a[i] == b[i] ? equal : opposite) = true;
    }
    return equal && opposite;
}

std::vector<double> column(const Matrix& of, size_t number) {
    std::vector<double> result;
    for (const auto& row : of) result.push_back(row[number]);
    return result;
}

}  // namespace

const Filtering& filtering(int64_t outputs) {
    LEMMA_CHECK(outputs == 2 || outputs == 4);
    return outputs == 2 ? kTwo : kFour;
}

std::vector<ExprId> transform(Builder& build, const Matrix& by, const std::vector<ExprId>& values) {
    std::vector<ExprId> result;
    for (size_t row = 0; row < by.size(); ++row) {
        if (row + 1 == by.size() || !are_mirrored(by[row], by[row + 1])) {
            result.push_back(sum_of(build, by[row], values));
            continue;
        }
        std::vector<double> same = by[row], other = by[row];
        for (size_t i = 0; i < same.size(); ++i) {
            (by[row][i] == by[row + 1][i] ? other : same)[i] = 0;
        }
        const ExprId even = sum_of(build, same, values);
        const ExprId odd = sum_of(build, other, values);
        result.push_back(build.make(Op::Add, {even, odd}));
        result.push_back(build.make(Op::Sub, {even, odd}));
        ++row;
    }
    return result;
}

std::vector<ExprId> transform_back(Builder& build,
                                   const Matrix& by,
                                   const std::vector<ExprId>& values) {
    Matrix left = by;
    std::vector<ExprId> parts = values;  // a mirrored pair becomes its sum and its difference
    for (size_t i = 0; i + 1 < values.size(); ++i) {
        const std::vector<double> a = column(by, i), b = column(by, i + 1);
        if (!are_mirrored(a, b)) continue;
        parts[i] = build.make(Op::Add, {values[i], values[i + 1]});
        parts[i + 1] = build.make(Op::Sub, {values[i], values[i + 1]});
        for (auto& row : left) {
            const bool equal = row[i] == row[i + 1];
            if (!equal) row[i + 1] = row[i];
            row[equal ? i + 1 : i] = 0;
        }
        ++i;
    }
    std::vector<ExprId> result;
    for (const auto& row : left) result.push_back(sum_of(build, row, parts));
    return result;
}

}  // namespace lemma::loop
