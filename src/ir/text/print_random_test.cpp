// SPDX-License-Identifier: Apache-2.0
// Random formulas: the text reads back to the same text, and to expressions with the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "diag/render.h"
#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/text/text_words.h"
#include "ir/verify/verify.h"

namespace lemma::ir {
namespace {

class RandomFormula {
public:
    explicit RandomFormula(unsigned seed) : random_(seed) {
        SymbolPool& pool = program_.symbols;
        const SymId n = pool.symbol("n", ScalarType::Int, {0, 16});
        const SymId m = pool.symbol("m", ScalarType::Int, {1, 1000});
        const DType dtypes[] = {DType::F32, DType::I64, DType::Bool, DType::F32};
        for (const DType dtype : dtypes)
            tensors_.push_back(program_.tensors.add(
                {.name = "x", .dtype = dtype, .shape = {n, m}, .role = TensorRole::Input}));
        add(n), add(m);
        for (const int64_t value : {0, 1, 2, 3, -5}) add(pool.integer(value));
        for (const double value : {0.0, 0.5, -3.0}) add(pool.real(value));
        for (const SymId extent : {n, m, pool.integer(7)}) {
            const SymId index = pool.symbol("i", ScalarType::Int, index_range(pool, extent));
            formula_.bounds.push_back({index, extent});
            add(index);
        }
        for (int step = 0; step < 60; ++step) grow();
        finish();
    }
    Program take() { return std::move(program_); }

private:
    size_t below(size_t end) { return random_() % end; }
    void add(SymId id) { nodes_[static_cast<size_t>(program_.symbols.type(id))].push_back(id); }
    SymId any(ScalarType type) {
        auto& all = nodes_[static_cast<size_t>(type)];
        if (all.empty()) return program_.symbols.boolean(true);
        return all[all.size() - 1 - below(std::min<size_t>(all.size(), 12))];
    }
    IndexTerm index() {
        const SymId value = any(ScalarType::Int);
        if (below(3) == 0) return {value, Guard::Skip, {}, {}};
        if (below(3) == 0) return {value, Guard::Remap, any(ScalarType::Int), any(ScalarType::Int)};
        return {value, Guard::None, {}, {}};
    }

    void grow() {
        SymbolPool& pool = program_.symbols;
        if (below(8) == 0) {
            const TensorId tensor = tensors_[below(tensors_.size())];
            Access access{{}, tensor, {index(), index()}};
            access.symbol = pool.symbol("x", scalar_type_of(program_.tensors[tensor].dtype));
            formula_.accesses.push_back(access);
            return add(access.symbol);
        }
        constexpr SymOp kNumeric[] = {SymOp::Add,
                                      SymOp::Sub,
                                      SymOp::Mul,
                                      SymOp::Div,
                                      SymOp::Mod,
                                      SymOp::Min,
                                      SymOp::Max,
                                      SymOp::Less,
                                      SymOp::LessEqual,
                                      SymOp::Equal,
                                      SymOp::NotEqual,
                                      SymOp::CeilDiv};
        constexpr SymOp kLogic[] = {SymOp::And, SymOp::Or, SymOp::Xor, SymOp::Equal};
        const auto type = static_cast<ScalarType>(below(3));
        std::optional<SymId> result;
        switch (below(7)) {
            case 0:
                result = pool.select(any(ScalarType::Bool), any(type), any(type));
                break;
            case 1:
                result = pool.apply(below(2) == 0 ? SymOp::ToReal : SymOp::ToInt, any(type));
                break;
            case 2:
                result = pool.function(below(2) == 0 ? "abs" : "sign", any(type));
                break;
            case 3:
                result = pool.apply(type == ScalarType::Bool ? SymOp::Not : SymOp::Neg, any(type));
                break;
            default:
                result = type == ScalarType::Bool
                             ? pool.apply(kLogic[below(4)], any(type), any(type))
                             : pool.apply(kNumeric[below(12)], any(type), any(type));
        }
        if (result) add(*result);
    }

    void finish() {
        const TensorId y = program_.tensors.add({.name = "y", .shape = {any(ScalarType::Int)}});
        program_.tensors[y].shape = {program_.symbols.integer(3)};
        program_.tensors[y].dtype = DType::F32;
        formula_.writes.push_back({y, {index()}, any(ScalarType::Real)});
        formula_.condition = any(ScalarType::Bool);
        Operation op{.op = "f"};
        for (size_t i = 0; i < tensors_.size(); ++i)
            op.inputs.push_back({std::to_string(i), Operand::single(tensors_[i])});
        op.outputs = {{"y", Operand::single(y)}};
        op.formulas = {formula_};
        Graph graph{.name = "g", .inputs = op.inputs, .outputs = op.outputs};
        graph.operations = {program_.operations.add(std::move(op))};
        program_.main = program_.graphs.add(std::move(graph));
    }

    std::mt19937 random_;
    Program program_;
    Formula formula_;
    std::vector<TensorId> tensors_;
    std::vector<SymId> nodes_[4];
};

using Values = std::unordered_map<SymId, SymId, IdHash>;

// Numbers for the symbols of the formula, the same at each place.
Values sample(Program& program, const Formula& formula, unsigned seed) {
    std::mt19937 random(seed);
    SymbolPool& pool = program.symbols;
    Values values;
    const auto give = [&](SymId id) {
        const int number = static_cast<int>(random() % 9);
        switch (pool.type(id)) {
            case ScalarType::Int:
                values[id] = pool.integer(number);
                break;
            case ScalarType::Real:
                values[id] = pool.real(number * 0.25 - 1);
                break;
            default:
                values[id] = pool.boolean(number % 2 == 0);
        }
    };
    for (const SymId extent : program.tensors[make_id<TensorId>(0)].shape) give(extent);
    for (const Bound& bound : formula.bounds) give(bound.index);
    for (const Access& access : formula.accesses) give(access.symbol);
    return values;
}

std::vector<SymId> expressions(const Formula& formula) {
    std::vector<SymId> all;
    const auto add = [&](const std::vector<IndexTerm>& indices) {
        for (const IndexTerm& term : indices)
            for (const SymId part : {term.value, term.below, term.above})
                if (part.valid()) all.push_back(part);
    };
    for (const Bound& bound : formula.bounds) all.push_back(bound.extent);
    for (const Access& access : formula.accesses) add(access.indices);
    for (const Write& write : formula.writes) {
        all.push_back(write.value);
        add(write.indices);
    }
    if (formula.condition.valid()) all.push_back(formula.condition);
    return all;
}

std::string value_text(Program& program, SymId id, const Values& values) {
    const auto result = program.symbols.substitute(id, values);
    return result ? program.symbols.text(*result) : "none";
}

TEST(PrintRandom, ReadsBackToTheSameTextAndValues) {
    for (unsigned seed = 0; seed < 600; ++seed) {
        Program program = RandomFormula(seed).take();
        ASSERT_EQ(verify(program), std::vector<std::string>{}) << "seed " << seed;
        const std::string text = print(program);
        diag::SourceMap sources;
        Diagnostics diag;
        auto again = read_program(sources, sources.add("p", text), diag);
        ASSERT_TRUE(again) << "seed " << seed << diag::render(sources, diag, {});
        ASSERT_EQ(print(*again), text) << "seed " << seed;

        const Formula& before = program.operations[make_id<OpId>(0)].formulas[0];
        const Formula& after = again->operations[make_id<OpId>(0)].formulas[0];
        ASSERT_EQ(before.accesses.size(), after.accesses.size()) << "seed " << seed << "\n" << text;
        const auto x = expressions(before), y = expressions(after);
        ASSERT_EQ(x.size(), y.size()) << "seed " << seed;
        for (unsigned trial = 0; trial < 4; ++trial) {
            const Values v = sample(program, before, trial), w = sample(*again, after, trial);
            for (size_t i = 0; i < x.size(); ++i)
                ASSERT_EQ(value_text(program, x[i], v), value_text(*again, y[i], w))
                    << "seed " << seed << "\n"
                    << text;
        }
    }
}

}  // namespace
}  // namespace lemma::ir
