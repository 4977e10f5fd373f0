// SPDX-License-Identifier: Apache-2.0
#include "show/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.h"

namespace lemma::show {

namespace {

Amount combined(std::optional<int64_t> value, Amount a, Amount b) {
    return {.value = value.value_or(INT64_MAX),
            .at_most = a.at_most || b.at_most,
            .at_least = a.at_least || b.at_least || !value};
}

// `≤` for an upper bound, `≥` for a lower bound, `~` for both.
std::string mark(Amount amount) {
    if (amount.at_most && amount.at_least) return "~";
    return amount.at_most ? "≤" : amount.at_least ? "≥" : "";
}

bool nothing(Amount amount) { return amount.value == 0 && !amount.at_least; }

std::string grouped(int64_t value) {
    std::string digits = std::to_string(value);
    for (auto i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) {
        digits.insert(static_cast<size_t>(i), ",");
    }
    return digits;
}

}  // namespace

Amount operator+(Amount a, Amount b) { return combined(checked_add(a.value, b.value), a, b); }

Amount operator*(Amount a, Amount b) {
    const bool zero = (a.value == 0 && !a.at_least) || (b.value == 0 && !b.at_least);
    return zero ? Amount{} : combined(checked_mul(a.value, b.value), a, b);
}

Amount larger(Amount a, Amount b) { return combined(std::max(a.value, b.value), a, b); }

Amount amount_of(const ir::SymbolPool& symbols, ir::SymId id) {
    if (const auto exact = symbols.as_int(id)) return {.value = std::max<int64_t>(*exact, 0)};
    const int64_t high = symbols.range(id).high;
    if (high == INT64_MAX) return {.value = 1, .at_most = false, .at_least = true};
    return {.value = std::max<int64_t>(high, 0), .at_most = true};
}

Amount volume(const ir::Program& program, ir::TensorId tensor) {
    Amount product{.value = 1};
    for (const ir::SymId extent : program.tensors[tensor].shape) {
        product = product * amount_of(program.symbols, extent);
    }
    return product;
}

Amount bytes(const ir::Program& program, ir::TensorId tensor) {
    const int64_t size = tensor::dtype_size(program.tensors[tensor].dtype);
    return volume(program, tensor) * Amount{.value = size};
}

std::string count_text(Amount amount) {
    return nothing(amount) ? "-" : mark(amount) + grouped(amount.value);
}

std::string bytes_text(Amount amount) {
    if (nothing(amount)) return "-";
    constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(amount.value);
    size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
    if (unit == 0) return fmt::format("{}{} B", mark(amount), amount.value);
    return fmt::format("{}{:.1f} {}", mark(amount), value, kUnits[unit]);
}

}  // namespace lemma::show
