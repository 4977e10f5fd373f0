// SPDX-License-Identifier: Apache-2.0
// Euclidean norms of errors and of deviations from the centre (norms.h).
#include <algorithm>
#include <cmath>

#include "certify/walk.h"

namespace lemma::certify {

namespace {

double above(double x) { return x * (1 + 0x1p-30) + 0x1p-1000; }

double norm_of(const std::vector<double>& numbers) {
    double most = 0;
    for (const double x : numbers) most = std::max(most, x);
    if (most == 0 || !std::isfinite(most)) return most;
    double sum = 0;
    for (const double x : numbers) sum += (x / most) * (x / most);
    return above(most * above(std::sqrt(above(sum))));
}

// Of all elements from the centre.
double radius_of(const AbstractArray& array) {
    std::vector<double> distances;
    for (size_t i = 0; i < array.values.size(); ++i) {
        const Value& v = array.values[i];
        const Value& c = array.centre->values[i];
        if (v.nan || c.nan) return kInfinity;
        distances.push_back(std::max({up(v.high - c.low), up(c.high - v.low), 0.0}));
    }
    return norm_of(distances);
}

double error_norm_of(const AbstractArray& array) {
    std::vector<double> errors;
    for (const Value& v : array.values) errors.push_back(v.error);
    return norm_of(errors);
}

}  // namespace

// The middle of the range of an input.
Result<Walk::Ref> Walk::centre_of(ir::TensorId id, AbstractArray& input) {
    LEMMA_TRY(Ref made, array(id));
    for (const Value& v : input.values) {
        Value c = Value::point(v.low + (v.high - v.low) / 2);
        c.grid = v.grid;
        made->values.push_back(c);
    }
    live_ += made->size;
    input.error_norm = error_norm_of(input);
    input.centre = made;
    input.radius = radius_of(input);
    return made;
}

void Walk::note_stretch(const Expression& expression, StretchFinder& finder, Pass& pass) {
    const auto found = finder.finish();
    for (const Expression::Write& write : expression.writes) {
        const ir::TensorId output = write.place.tensor;
        if (!found) {
            pass.unbounded.insert(output);
            continue;
        }
        for (const auto& [input, stretch] : *found) {
            const auto [known, fresh] = pass.stretches[output].emplace(input, stretch);
            if (fresh) continue;
            // Two formulas: the parts of the result add up.
            if (!known->second.rows.empty() && !stretch.rows.empty()) {
                for (size_t i = 0; i < stretch.rows.size(); ++i)
                    known->second.rows[i] += stretch.rows[i];
            } else {
                known->second.rows.clear();
            }
            known->second.whole += stretch.whole;
        }
    }
}

void Walk::apply_norms(ir::TensorId id,
                       AbstractArray& made,
                       const Pass& introduced,
                       const Pass* centre,
                       const std::vector<double>& own) {
    if (!tensor::is_real(made.dtype)) return;
    double errors = kInfinity, radius = kInfinity;
    std::vector<double> error_rows(made.values.size(), kInfinity), radius_rows = error_rows;
    if (!introduced.unbounded.contains(id)) {
        errors = norm_of(own);
        radius = 0;
        error_rows = own;
        std::ranges::fill(radius_rows, 0.0);
        const auto found = introduced.stretches.find(id);
        const bool none = found == introduced.stretches.end();
        for (const auto& [input, stretch] :
             none ? std::map<ir::TensorId, Stretch>() : found->second) {
            const AbstractArray& from = *values_.at(input);
            const auto grow = [](double factor, double norm) {
                return norm == 0 || factor == 0 ? 0 : above(factor * norm);
            };
            errors = above(errors + grow(stretch.whole, from.error_norm));
            radius = above(radius + grow(stretch.whole, from.radius));
            for (size_t i = 0; i < error_rows.size(); ++i) {
                const double row = stretch.rows.empty() ? stretch.whole : stretch.rows[i];
                error_rows[i] = above(error_rows[i] + grow(row, from.error_norm));
                radius_rows[i] = above(radius_rows[i] + grow(row, from.radius));
            }
        }
    }
    if (centre) made.centre = centre->outputs.at(id);
    for (size_t i = 0; i < made.values.size(); ++i) {
        Value& v = made.values[i];
        if (v.nan) continue;
        v.error = std::min({v.error, errors, error_rows[i]});
        const double off = std::min(radius, radius_rows[i]);
        if (made.centre && !made.centre->values[i].nan && off < kInfinity) {
            const Value& c = made.centre->values[i];
            v.low = std::max(v.low, down(c.low - off));
            v.high = std::min(v.high, up(c.high + off));
        }
        v = sealed(v);
    }
    made.error_norm = std::min(errors, error_norm_of(made));
    made.radius = made.centre ? std::min(radius, radius_of(made)) : kInfinity;
}

}  // namespace lemma::certify
