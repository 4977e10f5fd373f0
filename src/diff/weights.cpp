// SPDX-License-Identifier: Apache-2.0
#include "diff/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/match.h"
#include "ir/symbols/symbolic.h"

namespace lemma::diff {

namespace {

constexpr int64_t kMaxExpanded = int64_t{1} << 26;  // elements of a constant given by its items

bool uniform(std::span<const std::byte> bytes, size_t size) {
    if (size == 0 || bytes.size() < size) return false;
    return bytes.size() == size ||
           std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

void set_item(tensor::Tensor& tensor, int64_t at, const ir::Scalar& item) {
    match(
        item,
        [&](int64_t number) { tensor.set_integer(at, number); },
        [&](double number) { tensor.set_real(at, number); },
        [&](bool truth) { tensor.set_integer(at, truth ? 1 : 0); },
        [&](const std::string& text) {
            if (tensor.dtype() == tensor::DType::Str)
                tensor.strings()[static_cast<size_t>(at)] = text;
        },
        [](ir::SymId) {});
}

Hash bytes_hash(const tensor::Tensor& tensor, Hasher hasher) {
    if (tensor.dtype() == tensor::DType::Str) {
        for (const std::string& text : tensor.strings()) hasher.add(text);
        return hasher.hash();
    }
    const auto size = static_cast<size_t>(tensor::dtype_size(tensor.dtype()));
    const auto bytes = tensor.bytes();
    if (uniform(bytes, size)) return hasher.add("one").add(bytes.first(size)).hash();
    return hasher.add(bytes).hash();
}

}  // namespace

Result<std::optional<tensor::Tensor>> Weights::values(ir::TensorId id) const {
    const ir::Tensor& tensor = side_.program.tensors[id];
    if (tensor.role == ir::TensorRole::Variable) {
        if (!side_.data) return std::nullopt;
        return side_.data(tensor);
    }
    tensor::Shape shape;
    for (const ir::SymId extent : tensor.shape) {
        const auto number = side_.program.symbols.as_int(extent);
        if (!number) return std::nullopt;
        shape.push_back(*number);
    }
    const auto volume = tensor::volume(shape);
    if (!volume || *volume > kMaxExpanded || tensor.items.empty()) return std::nullopt;
    const bool each = tensor.items.size() > 1;
    if (each && static_cast<int64_t>(tensor.items.size()) != *volume) return std::nullopt;
    for (const ir::Scalar& item : tensor.items)
        if (std::holds_alternative<ir::SymId>(item)) return std::nullopt;
    LEMMA_TRY(tensor::Tensor made, tensor::Tensor::zeros(tensor.dtype, shape));
    for (int64_t i = 0; i < *volume; ++i)
        set_item(made, i, tensor.items[each ? static_cast<size_t>(i) : 0]);
    return made;
}

Hash Weights::computed(ir::TensorId id) {
    const ir::Tensor& tensor = side_.program.tensors[id];
    Hasher hasher("weight");
    hasher.add(static_cast<uint64_t>(tensor.dtype));
    for (const ir::SymId extent : tensor.shape) {
        const auto number = side_.program.symbols.as_int(extent);
        if (squeezed_ && number == 1) continue;
        hasher.add(number ? static_cast<uint64_t>(*number) : UINT64_MAX);
    }
    auto data = values(id);
    if (!data) {
        if (!trouble_) trouble_ = data.error();
        return hasher.hash();
    }
    if (*data) return bytes_hash(**data, hasher);
    // A constant of symbols, or of very many elements.
    for (const ir::Scalar& item : tensor.items) {
        match(
            item,
            [&](int64_t number) { hasher.add(static_cast<uint64_t>(number)); },
            [&](double number) { hasher.add(ir::real_text(number)); },
            [&](bool truth) { hasher.add(truth ? 1 : 0); },
            [&](const std::string& text) { hasher.add(text); },
            [&](ir::SymId symbol) { hasher.add(side_.program.symbols.text(symbol)); });
    }
    return hasher.hash();
}

Hash Weights::content(ir::TensorId id) {
    if (!contents_[id]) contents_[id] = computed(id);
    return *contents_[id];
}

namespace {

std::string index_text(const tensor::Shape& shape, int64_t element) {
    std::vector<std::string> parts(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
        const int64_t extent = std::max<int64_t>(shape[i], 1);
        parts[i] = std::to_string(element % extent);
        element /= extent;
    }
    std::string text = "[";
    for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", " : "") + parts[i];
    return text + "]";
}

std::string number_text(const tensor::Tensor& tensor, int64_t at) {
    if (tensor.dtype() == tensor::DType::Str)
        return ir::quoted_text(tensor.strings()[static_cast<size_t>(at)]);
    if (tensor::is_real(tensor.dtype())) return fmt::format("{:.7g}", tensor.real(at));
    return std::to_string(tensor.integer(at));
}

double largest(const tensor::Tensor& tensor) {
    double most = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
        const double value = std::fabs(tensor.real(i));
        if (std::isfinite(value)) most = std::max(most, value);
    }
    return most;
}

bool equal_bytes(const tensor::Tensor& a, const tensor::Tensor& b) {
    if (a.dtype() == tensor::DType::Str) return a.strings() == b.strings();
    return std::ranges::equal(a.bytes(), b.bytes());
}

// NaN on one side only counts as an infinite difference.
double distance(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
    const double difference = std::fabs(a - b);
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

std::optional<WeightChange> compare_values(const tensor::Tensor& a,
                                           const tensor::Tensor& b,
                                           double tolerance) {
    if (a.dtype() == b.dtype() && equal_bytes(a, b)) return std::nullopt;
    WeightChange change{.elements = a.size()};
    int64_t worst = -1;
    const bool texts = a.dtype() == tensor::DType::Str;
    const double limit = tolerance > 0 && !texts ? tolerance * std::max(largest(a), largest(b)) : 0;
    for (int64_t i = 0; i < a.size(); ++i) {
        if (texts) {
            const auto at = static_cast<size_t>(i);
            if (a.strings()[at] == b.strings()[at]) continue;
            ++change.changed;
            if (worst < 0) worst = i;
            continue;
        }
        const double x = a.real(i), y = b.real(i), difference = distance(x, y);
        if (difference <= limit) continue;
        ++change.changed;
        change.max_rel =
            std::max(change.max_rel, difference / std::max(std::fabs(x), std::fabs(y)));
        if (worst >= 0 && difference <= change.max_abs) continue;
        change.max_abs = difference;
        worst = i;
    }
    if (worst < 0) return std::nullopt;
    change.where = index_text(a.shape(), worst);
    change.before = number_text(a, worst);
    change.after = number_text(b, worst);
    return change;
}

}  // namespace lemma::diff
