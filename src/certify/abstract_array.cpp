// SPDX-License-Identifier: Apache-2.0
#include "certify/abstract_array.h"

#include <algorithm>

namespace lemma::certify {

Value AbstractArray::whole(int64_t number) {
    const auto x = static_cast<double>(number);
    Value v = Value::point(x);
    v.nonzero = number != 0;
    if (std::fabs(x) >= 0x1p53) v = Value::between(down(x), up(x));
    return v;
}

Value AbstractArray::real(double x) const {
    if (std::isnan(x)) return Value::top();
    Value v = Value::point(x);
    v.nonzero = x != 0;
    switch (dtype) {
        case tensor::DType::F64:
            v.grid = x == static_cast<double>(static_cast<float>(x)) ? Grid::F32 : Grid::None;
            break;
        case tensor::DType::F16:
            v.grid = Grid::F16;
            break;
        case tensor::DType::BF16:
            v.grid = Grid::BF16;
            break;
        default:
            v.grid = Grid::F32;
    }
    return v;
}

bool AbstractArray::exact() const {
    return std::ranges::all_of(values, [](const Value& v) { return v.error == 0 && !v.nan; });
}

bool AbstractArray::fixed() const {
    return constant ||
           std::ranges::all_of(values, [](const Value& v) { return v.is_point() && !v.nan; });
}

}  // namespace lemma::certify
