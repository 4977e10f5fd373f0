// SPDX-License-Identifier: Apache-2.0
#include "certify/norms.h"

#include <algorithm>
#include <cmath>

namespace lemma::certify {

namespace {

using ir::SymOp;

constexpr size_t kMaxEntries = size_t{1} << 24;
constexpr double kMaxGram = 1.5e9;  // multiplications for a matrix of inner products
constexpr int kMaxVisits = 1000;    // of nodes: a shared part is visited for each use
constexpr size_t kMaxDense = 400;   // rows of a matrix that is squared again
constexpr double kSlack = 0x1p-36;  // far above the rounding errors of the sums here

// Room for the rounding of sums with up to millions of terms.
double above(double x) { return x * (1 + 0x1p-30) + 0x1p-1000; }

// Entries by row: the columns and values of row i are at [begin[i], begin[i + 1]).
struct Rows {
    std::vector<size_t> begin;
    std::vector<int32_t> at;
    std::vector<double> value;
};

Rows sorted(const std::vector<MatrixEntry>& entries, size_t rows, bool by_column) {
    Rows made;
    made.begin.assign(rows + 1, 0);
    for (const MatrixEntry& e : entries)
        ++made.begin[static_cast<size_t>(by_column ? e.column : e.row) + 1];
    for (size_t i = 0; i < rows; ++i) made.begin[i + 1] += made.begin[i];
    made.at.resize(entries.size());
    made.value.resize(entries.size());
    std::vector<size_t> next(made.begin.begin(), made.begin.end() - 1);
    for (const MatrixEntry& e : entries) {
        const size_t place = next[static_cast<size_t>(by_column ? e.column : e.row)]++;
        made.at[place] = by_column ? e.row : e.column;
        made.value[place] = e.value;
    }
    return made;
}

double size_of(const Range& range) { return std::max(std::fabs(range.low), std::fabs(range.high)); }

double largest_sum(const Rows& rows) {
    double most = 0;
    for (size_t i = 0; i + 1 < rows.begin.size(); ++i) {
        double sum = 0;
        for (size_t k = rows.begin[i]; k < rows.begin[i + 1]; ++k) sum += std::fabs(rows.value[k]);
        most = std::max(most, sum);
    }
    return above(most);
}

double work(const Rows& rows) {
    double total = 0;
    for (size_t i = 0; i + 1 < rows.begin.size(); ++i) {
        const auto count = static_cast<double>(rows.begin[i + 1] - rows.begin[i]);
        total += count * count;
    }
    return total;
}

// The norm of G is at most the largest sum of a row of |G|; the same for its powers.
double dense_bound(std::vector<double> gram, size_t n, double slack) {
    const auto most = [&](const std::vector<double>& m) {
        double largest = 0;
        for (size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (size_t k = 0; k < n; ++k) sum += std::fabs(m[i * n + k]);
            largest = std::max(largest, sum);
        }
        return above(largest);
    };
    double best = most(gram) + slack;
    double root = 1;  // best = bound of |G^(1/root)|^…
    double off = slack;
    for (int round = 0; round < 3; ++round) {
        const double size = most(gram) + off;
        std::vector<double> square(n * n, 0);
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k < n; ++k) {
                const double a = gram[i * n + k];
                if (a == 0) continue;
                for (size_t j = 0; j < n; ++j) square[i * n + j] += a * gram[k * n + j];
            }
        }
        // (G + E)^2 = G^2 + GE + EG + E^2, and the rounding of the product.
        off = above(2 * size * off + off * off + kSlack * size * size);
        root *= 2;
        gram = std::move(square);
        best = std::min(best, above(std::pow(most(gram) + off, 1 / root)));
    }
    return best;
}

}  // namespace

double spectral_bound(std::vector<MatrixEntry> entries, size_t rows, size_t columns) {
    const Rows by_row = sorted(entries, rows, false), by_column = sorted(entries, columns, true);
    const double simple_squared = above(largest_sum(by_row) * largest_sum(by_column));
    // Inner products of rows take the squares of the columns' lengths, and the reverse.
    const bool of_rows = work(by_column) <= work(by_row);
    const Rows& outer = of_rows ? by_row : by_column;
    const Rows& inner = of_rows ? by_column : by_row;
    if (std::min(work(by_row), work(by_column)) > kMaxGram) return above(std::sqrt(simple_squared));
    const size_t n = of_rows ? rows : columns;
    const double slack = above(kSlack * simple_squared);
    const bool dense = n <= kMaxDense;
    std::vector<double> gram(dense ? n * n : 0, 0), sums(n, 0);
    std::vector<int32_t> touched;
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        touched.clear();
        for (size_t k = outer.begin[i]; k < outer.begin[i + 1]; ++k) {
            const auto middle = static_cast<size_t>(outer.at[k]);
            for (size_t j = inner.begin[middle]; j < inner.begin[middle + 1]; ++j) {
                const auto other = static_cast<size_t>(inner.at[j]);
                if (sums[other] == 0) touched.push_back(inner.at[j]);
                sums[other] += outer.value[k] * inner.value[j];
            }
        }
        double sum = 0;
        for (const int32_t other : touched) {
            const auto at = static_cast<size_t>(other);
            sum += std::fabs(sums[at]);
            if (dense) gram[i * n + at] += sums[at];
            sums[at] = 0;
        }
        largest = std::max(largest, sum);
    }
    double squared = std::min(simple_squared, above(largest) + slack);
    if (dense) squared = std::min(squared, dense_bound(std::move(gram), n, slack));
    return above(std::sqrt(squared));
}

// ---- Formulas -----------------------------------------------------------------------------------

StretchFinder::StretchFinder(const Expression& expression, const EvaluatorArrays& arrays)
    : expression_(expression) {
    using Op = ir::FormulaOp;
    const bool usual = expression.op == Op::Assign || expression.op == Op::Sum ||
                       expression.op == Op::Max || expression.op == Op::Min;
    if (expression.writes.size() != 1 || !usual) return;
    if (expression.condition != kNoNode && !expression.nodes[expression.condition].concrete) return;
    target_ = arrays.outputs.at(expression.writes[0].place.tensor);
    if (!tensor::is_real(target_->dtype)) return;
    for (const Place& place : expression.accesses) {
        if (arrays.outputs.contains(place.tensor)) return;
        arrays_of_.push_back(arrays.inputs.at(place.tensor));
    }
    if (find_product()) {
        known_ = true;
        return;
    }
    known_ = slopes_of(expression.writes[0].value, slopes_);
    if (!known_) return;
    std::erase_if(slopes_, [&](const auto& item) { return is_constant(item.first); });
    writes_.assign(static_cast<size_t>(target_->size), 0);
    for (const auto& [access, slope] : slopes_)
        reads_[access].assign(static_cast<size_t>(arrays_of_[access]->size), 0);
}

bool StretchFinder::is_constant(size_t access) const { return arrays_of_[access]->fixed(); }

bool StretchFinder::find_product() {
    const Node& node = expression_.nodes[expression_.writes[0].value];
    if (expression_.op != ir::FormulaOp::Sum || node.kind != NodeKind::Operation) return false;
    if (node.op != SymOp::Mul || node.operands.size() != 2) return false;
    for (const NodeId id : node.operands) {
        if (expression_.nodes[id].kind != NodeKind::Load) return false;
    }
    const size_t a = expression_.nodes[node.operands[0]].position;
    const size_t b = expression_.nodes[node.operands[1]].position;
    if (is_constant(a) == is_constant(b)) return false;
    variable_ = is_constant(a) ? b : a;
    weight_ = is_constant(a) ? a : b;
    return product_ = true;
}

bool StretchFinder::scaled(NodeId id, double factor, Slopes& slopes) const {
    Slopes inner;
    if (!slopes_of(id, inner)) return false;
    for (const auto& [access, slope] : inner)
        slopes[access] = above(slopes[access] + slope * factor);
    return true;
}

// Bounds of all values of an expression, in both worlds.
std::optional<Range> StretchFinder::bounds_of(NodeId id) const {
    const Node& node = expression_.nodes[id];
    if (++visits_ > kMaxVisits) return std::nullopt;
    if (node.type != ir::ScalarType::Real) return std::nullopt;
    if (node.kind == NodeKind::Constant) {
        if (!std::isfinite(node.real)) return std::nullopt;
        const double room = std::fabs(node.real) * 0x1p-23;  // it may be rounded to float
        return Range{node.real - room, node.real + room};
    }
    if (node.kind == NodeKind::Load) {
        const AbstractArray& array = *arrays_of_[node.position];
        Range range{kInfinity, -kInfinity};
        for (int64_t i = 0; i < array.size; ++i) {
            const Value v = array.at(i);
            if (!v.finite()) return std::nullopt;
            range.low = std::min({range.low, v.low, v.clow});
            range.high = std::max({range.high, v.high, v.chigh});
        }
        return range;
    }
    if (node.kind != NodeKind::Operation) return std::nullopt;
    const auto a = bounds_of(node.operands[0]);
    if (!a) return std::nullopt;
    if (node.op == SymOp::Neg) return Range{-a->high, -a->low};
    if (node.operands.size() != 2) return std::nullopt;
    const auto b = bounds_of(node.operands[1]);
    if (!b) return std::nullopt;
    switch (node.op) {
        case SymOp::Add:
            return Range{down(a->low + b->low), up(a->high + b->high)};
        case SymOp::Sub:
            return Range{down(a->low - b->high), up(a->high - b->low)};
        case SymOp::Max:
            return Range{std::max(a->low, b->low), std::max(a->high, b->high)};
        case SymOp::Min:
            return Range{std::min(a->low, b->low), std::min(a->high, b->high)};
        default:
            return std::nullopt;
    }
}

// The sums of the slopes along all paths; the slope of a maximum is the largest, bounded by the
// sum.
bool StretchFinder::slopes_of(NodeId id, Slopes& slopes) const {
    const Node& node = expression_.nodes[id];
    if (++visits_ > kMaxVisits) return false;
    if (node.kind == NodeKind::Constant || node.concrete) return true;
    if (node.kind == NodeKind::Load) {
        if (node.type != ir::ScalarType::Real) return false;
        slopes[node.position] += 1;
        return true;
    }
    if (node.kind != NodeKind::Operation || node.type != ir::ScalarType::Real) return false;
    if (node.sigmoid != kNoNode) return scaled(node.sigmoid, 0.25, slopes);
    switch (node.op) {
        case SymOp::Max:
        case SymOp::Min: {
            Slopes most;
            for (const NodeId operand : node.operands) {
                Slopes one;
                if (!slopes_of(operand, one)) return false;
                for (const auto& [access, slope] : one)
                    most[access] = std::max(most[access], slope);
            }
            // Several different tensors: each may be the larger one.
            for (const auto& [access, slope] : most) slopes[access] += slope;
            return true;
        }
        case SymOp::Add:
        case SymOp::Sub:
        case SymOp::Neg:
            return std::ranges::all_of(node.operands,
                                       [&](NodeId operand) { return scaled(operand, 1, slopes); });
        case SymOp::Mul:
        case SymOp::Div: {
            // The rules for products and quotients, with the largest factors.
            if (node.operands.size() != 2) return false;
            const auto a = bounds_of(node.operands[0]), b = bounds_of(node.operands[1]);
            if (!a || !b) return false;
            if (node.op == SymOp::Mul)
                return scaled(node.operands[0], size_of(*b), slopes) &&
                       scaled(node.operands[1], size_of(*a), slopes);
            const double least = b->low > 0 ? b->low : b->high < 0 ? -b->high : 0;
            if (least == 0) return false;
            return scaled(node.operands[0], above(1 / least), slopes) &&
                   scaled(node.operands[1], above(above(size_of(*a) / least) / least), slopes);
        }
        case SymOp::Function:
            if (node.name != "tanh" && node.name != "abs" && node.name != "sin" &&
                node.name != "cos" && node.name != "atan")
                return false;
            return scaled(node.operands[0], 1, slopes);
        default:
            return false;
    }
}

Evaluator::Observer StretchFinder::observer() {
    if (!known_) return {};
    return [this](int64_t to, const std::vector<int64_t>& offsets) { observe(to, offsets); };
}

void StretchFinder::observe(int64_t to, const std::vector<int64_t>& offsets) {
    if (!known_) return;
    if (product_) {
        const int64_t from = offsets[variable_], weight = offsets[weight_];
        known_ = to >= 0 && from >= 0 && weight >= 0 && entries_.size() < kMaxEntries;
        if (!known_) return;
        const double factor = arrays_of_[weight_]->at(weight).low;
        known_ = std::isfinite(factor);
        entries_.push_back({static_cast<int32_t>(to), static_cast<int32_t>(from), factor});
        return;
    }
    known_ = to >= 0;
    if (known_) ++writes_[static_cast<size_t>(to)];
    for (auto& [access, counts] : reads_) {
        known_ &= offsets[access] >= 0;
        if (known_) ++counts[static_cast<size_t>(offsets[access])];
    }
}

// Entries of the same place are added first: a kernel may read an element twice.
Stretch StretchFinder::matrix() const {
    std::vector<MatrixEntry> entries;
    entries.reserve(entries_.size());
    for (const Entry& e : entries_) entries.push_back({e.to, e.from, e.weight});
    std::ranges::sort(entries, [](const MatrixEntry& a, const MatrixEntry& b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    Stretch made;
    made.rows.assign(static_cast<size_t>(target_->size), 0);
    for (size_t i = 0; i < entries.size();) {
        double sum = 0, size = 0;
        size_t k = i;
        for (; k < entries.size() && entries[k].row == entries[i].row &&
               entries[k].column == entries[i].column;
             ++k) {
            sum += entries[k].value;
            size += std::fabs(entries[k].value);
        }
        const double most = std::fabs(sum) + kSlack * size;
        made.rows[static_cast<size_t>(entries[i].row)] += most * most;
        i = k;
    }
    for (double& row : made.rows) row = above(std::sqrt(above(row)));
    made.whole = spectral_bound(std::move(entries),
                                static_cast<size_t>(target_->size),
                                static_cast<size_t>(arrays_of_[variable_]->size));
    return made;
}

std::optional<std::map<ir::TensorId, Stretch>> StretchFinder::finish() {
    if (!known_) return std::nullopt;
    std::map<ir::TensorId, Stretch> made;
    if (product_) {
        made[expression_.accesses[variable_].tensor] = matrix();
        return made;
    }
    const auto most = [](const std::vector<int64_t>& counts) {
        return counts.empty() ? 0.0 : static_cast<double>(*std::ranges::max_element(counts));
    };
    for (const auto& [access, slope] : slopes_) {
        // A sum adds the elements of a row; a maximum and an assignment take one of them.
        const double row = expression_.op == ir::FormulaOp::Sum ? most(writes_) : 1;
        const double whole = above(slope * above(std::sqrt(most(reads_[access]) * row)));
        made[expression_.accesses[access].tensor].whole += whole;
    }
    return made;
}

}  // namespace lemma::certify
