// SPDX-License-Identifier: Apache-2.0
#include "certify/norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lemma::certify {
namespace {

// By power iteration on the products of rows.
double spectral_norm(const std::vector<MatrixEntry>& entries, size_t rows, size_t columns) {
    std::vector<double> x(columns, 1);
    double norm = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<double> y(rows, 0), z(columns, 0);
        for (const MatrixEntry& e : entries)
            y[static_cast<size_t>(e.row)] += e.value * x[static_cast<size_t>(e.column)];
        for (const MatrixEntry& e : entries)
            z[static_cast<size_t>(e.column)] += e.value * y[static_cast<size_t>(e.row)];
        double size = 0;
        for (const double v : z) size += v * v;
        size = std::sqrt(size);
        norm = std::sqrt(size);
        for (size_t i = 0; i < columns; ++i) x[i] = z[i] / size;
    }
    return norm;
}

TEST(SpectralBound, IsAboveTheNormAndCloseToIt) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 7}, {50, 50}, {120, 400}, {450, 30}}) {
        std::vector<MatrixEntry> entries;
        for (int i = 0; i < rows; ++i) {
            for (int k = 0; k < columns; ++k) entries.push_back({i, k, normal(random)});
        }
        const auto m = static_cast<size_t>(rows), n = static_cast<size_t>(columns);
        const double norm = spectral_norm(entries, m, n);
        const double bound = spectral_bound(entries, m, n);
        EXPECT_GE(bound, norm * (1 - 1e-9)) << rows << " x " << columns;
        EXPECT_LE(bound, norm * 1.6) << rows << " x " << columns;
    }
}

TEST(SpectralBound, AddsEntriesOfOnePlace) {
    EXPECT_NEAR(spectral_bound({{0, 0, 2}, {0, 0, 3}}, 1, 1), 5, 1e-6);
    EXPECT_NEAR(spectral_bound({{0, 0, 2}, {0, 0, -2}, {1, 1, 1}}, 2, 2), 1, 0.001);
    EXPECT_LE(spectral_bound({}, 2, 2), 1e-6);
}

// A convolution of 1000 elements is too large for squaring, but not for inner products.
TEST(SpectralBound, TakesSparseMatrices) {
    std::vector<MatrixEntry> entries;
    for (int32_t i = 0; i < 1000; ++i) {
        for (int32_t k = 0; k < 3; ++k)
            if (i + k < 1000) entries.push_back({i, i + k, k == 1 ? 2.0 : -1.0});
    }
    const double norm = spectral_norm(entries, 1000, 1000);
    const double bound = spectral_bound(entries, 1000, 1000);
    EXPECT_GE(bound, norm);
    EXPECT_LE(bound, 4.0001);
}

}  // namespace
}  // namespace lemma::certify
