// SPDX-License-Identifier: Apache-2.0
// Random expressions over three symbols. The pool's expression with constants for the symbols must
// have the value that plain arithmetic gives for the original expression.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/checked.h"
#include "ir/symbols/symbolic.h"

namespace lemma::ir {
namespace {

using Value = std::optional<int64_t>;  // bools are 0 and 1; empty: no value

struct Tree {
    SymOp op{};
    int leaf = -1;  // 0..2: a symbol
    std::optional<int64_t> constant;
    std::string function;
    std::vector<Tree> operands;
};

struct Sample {
    int64_t values[3];
};

Value arithmetic(SymOp op, int64_t a, int64_t b) {
    switch (op) {
        case SymOp::Add:
            return checked_add(a, b);
        case SymOp::Sub:
            return checked_sub(a, b);
        case SymOp::Mul:
            return checked_mul(a, b);
        case SymOp::Div:
            return floor_div(a, b);
        case SymOp::CeilDiv:
            return ceil_div(a, b);
        case SymOp::Mod:
            return floor_mod(a, b);
        case SymOp::Pow:
            return checked_pow(a, b);
        case SymOp::Min:
            return std::min(a, b);
        case SymOp::Max:
            return std::max(a, b);
        case SymOp::Less:
            return a < b;
        case SymOp::LessEqual:
            return a <= b;
        case SymOp::Equal:
            return a == b;
        case SymOp::NotEqual:
        case SymOp::Xor:
            return a != b;
        case SymOp::And:
            return a && b;
        default:
            return a || b;
    }
}

Value run(const Tree& tree, const Sample& sample) {
    if (tree.leaf >= 0) return sample.values[tree.leaf];
    if (tree.constant) return tree.constant;
    const Value a = run(tree.operands[0], sample);
    if (!a) return std::nullopt;
    if (tree.op == SymOp::Select) return run(tree.operands[*a ? 1 : 2], sample);
    if (tree.op == SymOp::Neg) return checked_sub(0, *a);
    if (tree.op == SymOp::Not) return !*a;
    if (tree.op == SymOp::ToInt) return a;
    if (tree.op == SymOp::ToBool) return *a != 0;
    if (tree.op == SymOp::Function)
        return tree.function == "abs" ? std::abs(*a) : (*a > 0) - (*a < 0);
    const Value b = run(tree.operands[1], sample);
    return b ? arithmetic(tree.op, *a, *b) : std::nullopt;
}

std::optional<SymId> build(const Tree& tree, SymbolPool& pool, const std::vector<SymId>& symbols) {
    if (tree.leaf >= 0) return symbols[static_cast<size_t>(tree.leaf)];
    if (tree.constant) return pool.integer(*tree.constant);
    std::vector<SymId> operands;
    for (const Tree& operand : tree.operands) {
        const auto id = build(operand, pool, symbols);
        if (!id) return std::nullopt;
        operands.push_back(*id);
    }
    if (tree.op == SymOp::Function) return pool.function(tree.function, operands[0]);
    return pool.apply(tree.op, operands);
}

class Generator {
public:
    explicit Generator(uint32_t seed) : random_(seed) {}

    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }

    Tree number(int depth) {
        if (depth == 0 || pick(0, 7) == 0) {
            if (pick(0, 2) == 0) return {.constant = pick(-9, 9)};
            return {.leaf = static_cast<int>(pick(0, 2))};
        }
        static constexpr SymOp kOps[] = {SymOp::Add,
                                         SymOp::Add,
                                         SymOp::Sub,
                                         SymOp::Mul,
                                         SymOp::Mul,
                                         SymOp::Div,
                                         SymOp::Div,
                                         SymOp::CeilDiv,
                                         SymOp::Mod,
                                         SymOp::Min,
                                         SymOp::Max,
                                         SymOp::Neg,
                                         SymOp::Pow,
                                         SymOp::Select,
                                         SymOp::ToInt,
                                         SymOp::Function};
        Tree tree{.op = kOps[pick(0, std::size(kOps) - 1)]};
        switch (tree.op) {
            case SymOp::Select:
                tree.operands = {truth(depth - 1), number(depth - 1), number(depth - 1)};
                break;
            case SymOp::ToInt:
                tree.operands = {truth(depth - 1)};
                break;
            case SymOp::Neg:
                tree.operands = {number(depth - 1)};
                break;
            case SymOp::Function:
                tree.function = pick(0, 1) ? "abs" : "sign";
                tree.operands = {number(depth - 1)};
                break;
            case SymOp::Pow:
                tree.operands = {number(depth - 1), {.constant = pick(0, 3)}};
                break;
            case SymOp::Div:
            case SymOp::CeilDiv:
            case SymOp::Mod:
                tree.operands = {number(depth - 1), {.constant = pick(-9, 9)}};
                if (pick(0, 2) == 0) tree.operands[1] = number(depth - 1);
                break;
            default:
                tree.operands = {number(depth - 1), number(depth - 1)};
        }
        return tree;
    }

    Tree truth(int depth) {
        static constexpr SymOp kOps[] = {SymOp::Less,
                                         SymOp::LessEqual,
                                         SymOp::Equal,
                                         SymOp::NotEqual,
                                         SymOp::And,
                                         SymOp::Or,
                                         SymOp::Xor,
                                         SymOp::Not,
                                         SymOp::ToBool,
                                         SymOp::Select};
        const int64_t last = depth > 0 ? std::ssize(kOps) - 1 : 3;
        const int inner = std::max(0, depth - 1);
        Tree tree{.op = kOps[pick(0, last)]};
        switch (tree.op) {
            case SymOp::And:
            case SymOp::Or:
            case SymOp::Xor:
                tree.operands = {truth(inner), truth(inner)};
                break;
            case SymOp::Not:
                tree.operands = {truth(inner)};
                break;
            case SymOp::ToBool:
                tree.operands = {number(inner)};
                break;
            case SymOp::Select:
                tree.operands = {truth(inner), truth(inner), truth(inner)};
                break;
            default:
                tree.operands = {number(inner), number(inner)};
        }
        return tree;
    }

private:
    std::mt19937 random_;
};

class SymbolicRandom : public testing::TestWithParam<uint32_t> {
protected:
    static constexpr Interval kRanges[] = {{INT64_MIN, INT64_MAX}, {0, 20}, {1, 12}};

    SymbolicRandom() {
        static constexpr const char* kNames[] = {"x", "n", "m"};
        for (int i = 0; i < 3; ++i)
            symbols.push_back(pool.symbol(kNames[i], ScalarType::Int, kRanges[i]));
        for (int i = 0; i < 24; ++i)
            samples.push_back({{make.pick(-15, 15), make.pick(0, 20), make.pick(1, 12)}});
    }

    Value value_of(SymId id) const {
        if (const auto flag = pool.as_bool(id)) return *flag;
        return pool.as_int(id);
    }

    // Substitutes one constant after the other, which also tests half-substituted forms.
    std::optional<SymId> step_by_step(SymId id, const Sample& sample) {
        std::optional<SymId> result = id;
        for (size_t i = 0; i < 3 && result; ++i)
            result = pool.substitute(*result, {{symbols[i], pool.integer(sample.values[i])}});
        return result;
    }

    std::optional<SymId> at_once(SymId id, const Sample& sample) {
        std::unordered_map<SymId, SymId, IdHash> with;
        for (size_t i = 0; i < 3; ++i) with[symbols[i]] = pool.integer(sample.values[i]);
        return pool.substitute(id, with);
    }

    Generator make{GetParam()};
    SymbolPool pool;
    std::vector<SymId> symbols;
    std::vector<Sample> samples;
};

TEST_P(SymbolicRandom, AgreesWithPlainArithmetic) {
    SCOPED_TRACE(testing::Message() << "seed " << GetParam());
    std::map<SymId, std::vector<Value>> seen;
    int compared = 0;
    for (int round = 0; round < 200; ++round) {
        const bool wants_number = make.pick(0, 1) == 0;
        const int depth = static_cast<int>(make.pick(1, 4));
        const Tree tree = wants_number ? make.number(depth) : make.truth(depth);
        const auto id = build(tree, pool, symbols);
        std::vector<Value> values;
        for (const Sample& sample : samples) {
            const Value expected = run(tree, sample);
            values.push_back(expected);
            if (!expected || !id) continue;
            ++compared;
            const auto whole = at_once(*id, sample);
            ASSERT_TRUE(whole) << pool.text(*id) << " has no value";
            ASSERT_EQ(value_of(*whole), expected) << pool.text(*id);
            const auto stepped = step_by_step(*id, sample);
            // Empty if a branch has no value and its condition is still unknown.
            if (stepped) {
                ASSERT_EQ(value_of(*stepped), expected) << pool.text(*id);
            }
            ASSERT_GE(*expected, pool.range(*id).low) << pool.text(*id);
            ASSERT_LE(*expected, pool.range(*id).high) << pool.text(*id);
        }
        if (!id) continue;
        const auto [other, fresh] = seen.emplace(*id, values);
        for (size_t i = 0; !fresh && i < values.size(); ++i) {
            if (values[i] && other->second[i]) {
                ASSERT_EQ(values[i], other->second[i]) << pool.text(*id);
            }
        }
    }
    EXPECT_GT(compared, 500);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SymbolicRandom, testing::Range(1u, 13u));

}  // namespace
}  // namespace lemma::ir
