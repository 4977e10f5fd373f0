// SPDX-License-Identifier: Apache-2.0
#include "loop/passes/quantised/factor.h"

#include <cmath>

namespace lemma::loop {

namespace {

constexpr int kMostDepth = 12;  // of operations between the bytes and the product

bool is_byte(tensor::DType dtype) {
    return dtype == tensor::DType::I8 || dtype == tensor::DType::U8;
}

}  // namespace

FactorFinder::FactorFinder(StageGraph& graph)
    : graph_(graph), pool_(graph.pool), build_(graph.pool.build) {
    for (const FusionGroup& group : graph.groups) {
        if (!group.compiled() || group.stages.size() != 1 || group.writes.size() != 1) continue;
        const Stage& stage = group.stages[0];
        const bool good = is_map(stage, graph) && in_range(graph, stage.writes[0].value);
        if (good) maps_[group.writes[0]] = &stage;
    }
}

std::optional<QuantisedFactor> FactorFinder::find(ExprId value, const std::vector<VarId>& summed) {
    summed_ = &summed;
    return find_in(value, 0);
}

std::optional<FactorFinder::Product> FactorFinder::find_product(ExprId value,
                                                                const std::vector<VarId>& summed) {
    summed_ = &summed;
    const Expr e = pool_[value];
    if (e.op == Op::Add && e.type.kind == Kind::Int) return multiplied_out(value);
    if (e.op != Op::Mul) return std::nullopt;
    const auto a = find_in(e.args[0], 0);
    const auto b = a ? find_in(e.args[1], 0) : std::nullopt;
    return b ? std::optional(Product{*a, *b}) : std::nullopt;
}

// Splits a product into bytes that change with the sum, and the product of all else.
bool FactorFinder::add_term(ExprId term, std::vector<ExprId>& elements, ExprId& factor) {
    std::vector<ExprId> work = {term};
    factor = build_.integer(1);
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        const Expr e = pool_[at];
        if (e.op == Op::Mul) {
            work.insert(work.end(), e.args.begin(), e.args.end());
        } else if (is_free(at)) {
            factor = build_.make(Op::Mul, {factor, at});
        } else if (e.op == Op::Read && is_byte(graph_.dtypes.at(tensor_of(e)))) {
            elements.push_back(at);
        } else {
            return false;
        }
    }
    return true;
}

// x * w - zx * w - zw * x + zx * zw, of ints. One of the zero points is 0, or both are literals.
std::optional<FactorFinder::Product> FactorFinder::multiplied_out(ExprId value) {
    std::vector<ExprId> terms, work = {value};
    while (!work.empty()) {
        const ExprId at = work.back();
        work.pop_back();
        const Expr& e = pool_[at];
        if (e.op == Op::Add) {
            work.insert(work.end(), e.args.begin(), e.args.end());
        } else {
            terms.push_back(at);
        }
        if (terms.size() > 4) return std::nullopt;
    }
    std::vector<ExprId> both;
    std::vector<std::pair<ExprId, ExprId>> single;  // an element, or none, and its factor
    for (const ExprId term : terms) {
        std::vector<ExprId> elements;
        ExprId factor;
        if (!add_term(term, elements, factor) || elements.size() > 2) return std::nullopt;
        if (elements.size() < 2) {
            single.emplace_back(elements.empty() ? ExprId() : elements[0], factor);
            continue;
        }
        if (!both.empty() || !build_.is_integer(factor, 1)) return std::nullopt;
        both = elements;
    }
    if (both.empty() || both[0] == both[1]) return std::nullopt;
    const ExprId zero = build_.integer(0);
    ExprId of_first = zero, of_second = zero, rest = zero;
    for (const auto& [element, factor] : single) {
        ExprId& to = !element.valid() ? rest : element == both[0] ? of_first : of_second;
        if ((element.valid() && element != both[0] && element != both[1]) || to != zero) {
            return std::nullopt;
        }
        to = factor;
    }
    const ExprId first = negated(of_second);
    const ExprId second = negated(of_first);
    if (!first.valid() || !second.valid()) return std::nullopt;
    const Expr product = pool_[build_.make(Op::Mul, {first, second})];
    const bool none = first == zero || second == zero;
    if (!none && product.op != Op::Constant) return std::nullopt;
    if (!build_.is_integer(rest, none ? 0 : product.integer)) return std::nullopt;
    Product result;
    result.a.read = both[0];
    result.b.read = both[1];
    if (first != zero) result.a.zero = first;
    if (second != zero) result.b.zero = second;
    return result;
}

std::optional<QuantisedFactor> FactorFinder::find_in(ExprId value, int depth) {
    if (depth > kMostDepth) return std::nullopt;
    const Expr e = pool_[value];  // the pool may grow
    switch (e.op) {
        case Op::Read:
            if (is_byte(graph_.dtypes.at(tensor_of(e)))) return QuantisedFactor{value, {}, {}};
            return of_read(e, depth);
        case Op::Cast: {
            const bool exact = e.type.kind == Kind::F32 && pool_[e.args[0]].type.kind == Kind::Int;
            return exact ? find_in(e.args[0], depth + 1) : std::nullopt;
        }
        case Op::Mul:
            return of_product(e, depth);
        case Op::Sub:
            return of_difference(e.args[0], as_int(e.args[1]), depth);
        case Op::Add:
            for (const size_t side : {size_t{0}, size_t{1}}) {
                const ExprId zero = negated(e.args[1 - side]);
                if (!zero.valid()) continue;
                if (const auto found = of_difference(e.args[side], zero, depth)) return found;
            }
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

// The map that makes the tensor, at the index.
std::optional<QuantisedFactor> FactorFinder::of_read(const Expr& e, int depth) {
    const auto map = maps_.find(tensor_of(e));
    const Kind kind = e.type.kind;
    if (map == maps_.end() || (kind != Kind::F32 && kind != Kind::Int)) return std::nullopt;
    // A narrower type would round or wrap around.
    const tensor::DType dtype = graph_.dtypes.at(tensor_of(e));
    const bool wide =
        dtype == tensor::DType::F32 || dtype == tensor::DType::I32 || dtype == tensor::DType::I64;
    const StageWrite& write = map->second->writes[0];
    if (!wide || pool_[write.value].type.kind != kind) return std::nullopt;
    std::unordered_map<VarId, ExprId, IdHash> with;
    for (size_t axis = 0; axis < e.args.size(); ++axis) {
        const Expr& index = pool_[write.index[axis]];
        if (index.op != Op::Var) continue;
        with[make_id<VarId>(static_cast<size_t>(index.integer))] = e.args[axis];
    }
    return find_in(pool_.substitute(write.value, with), depth + 1);
}

std::optional<QuantisedFactor> FactorFinder::of_product(const Expr& e, int depth) {
    if (e.type.kind != Kind::F32) return std::nullopt;
    for (const size_t side : {size_t{0}, size_t{1}}) {
        const ExprId scale = e.args[1 - side];
        if (!is_free(scale)) continue;
        auto found = find_in(e.args[side], depth + 1);
        if (!found) continue;
        found->scale = found->scale.valid() ? build_.make(Op::Mul, {found->scale, scale}) : scale;
        return found;
    }
    return std::nullopt;
}

std::optional<QuantisedFactor> FactorFinder::of_difference(ExprId from, ExprId zero, int depth) {
    if (!zero.valid() || !is_free(zero)) return std::nullopt;
    auto found = find_in(from, depth + 1);
    if (!found || found->zero.valid() || found->scale.valid()) return std::nullopt;
    if (!build_.is_integer(zero, 0)) found->zero = zero;
    return found;
}

// The value as an int, if it is one; it must be a byte, so that sums stay small.
ExprId FactorFinder::as_int(ExprId value) {
    const Expr e = pool_[value];
    if (e.op == Op::Cast && e.type.kind == Kind::F32) return as_int(e.args[0]);
    if (e.op == Op::Read && is_byte(graph_.dtypes.at(tensor_of(e)))) return value;
    if (e.op != Op::Constant) return {};
    const double number = e.type.real() ? e.real : static_cast<double>(e.integer);
    const bool byte = std::floor(number) == number && number >= -128 && number <= 255;
    return byte ? build_.integer(static_cast<int64_t>(number)) : ExprId();
}

// x, if the value is an int -x.
ExprId FactorFinder::negated(ExprId value) {
    const Expr e = pool_[value];
    if (e.type.kind != Kind::Int) return {};
    if (e.op == Op::Constant && e.integer >= -255 && e.integer <= 128) {
        return build_.integer(-e.integer);
    }
    if (e.op == Op::Neg) return as_int(e.args[0]);
    if (e.op != Op::Mul) return {};
    for (const size_t side : {size_t{0}, size_t{1}}) {
        if (build_.is_integer(e.args[side], -1)) return as_int(e.args[1 - side]);
    }
    return {};
}

}  // namespace lemma::loop
