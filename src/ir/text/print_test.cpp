// SPDX-License-Identifier: Apache-2.0
#include "ir/text/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "diag/render.h"
#include "ir/text/read.h"

namespace lemma::ir {
namespace {

std::string read_and_print(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const auto program = read_program(sources, sources.add("p.ir", text), diag);
    return program ? print(*program) : diag::render(sources, diag, {.brief = true});
}

// One operation `f` with the tensors x, w: f32[n, 4], k: i64[n] and y: f32[n, 4]; the tests add its
// formulas.
struct Sample {
    Program program;
    SymId n = program.symbols.symbol("n", ScalarType::Int, {0, 16});
    TensorId x = tensor("x", DType::F32, 2, TensorRole::Input);
    TensorId w = tensor("w", DType::F32, 2, TensorRole::Input);
    TensorId k = tensor("k", DType::I64, 1, TensorRole::Input);
    TensorId y = tensor("y", DType::F32, 2, TensorRole::Intermediate);
    Formula formula;
    SymId i = index("i", n);
    SymId j = index("j", program.symbols.integer(4));

    TensorId tensor(std::string name, DType dtype, size_t rank, TensorRole role) {
        std::vector<SymId> shape = {n, program.symbols.integer(4)};
        shape.resize(rank);
        return program.tensors.add(
            {.name = std::move(name), .dtype = dtype, .shape = std::move(shape), .role = role});
    }
    SymId index(std::string name, SymId extent) {
        const int64_t high = std::max<int64_t>(program.symbols.range(extent).high, 1) - 1;
        const SymId id = program.symbols.symbol(std::move(name), ScalarType::Int, {0, high});
        formula.bounds.push_back({id, extent});
        return id;
    }
    SymId read(TensorId id, std::vector<IndexTerm> indices) {
        const bool whole = id == k;
        const SymId symbol = program.symbols.symbol(program.tensors[id].name,
                                                    whole ? ScalarType::Int : ScalarType::Real);
        formula.accesses.push_back({symbol, id, std::move(indices)});
        return symbol;
    }
    SymId op(SymOp code, SymId a, SymId b) { return *program.symbols.apply(code, a, b); }
    SymId integer(int64_t value) { return program.symbols.integer(value); }

    // The program with `y[i, j] = value`.
    std::string text(SymId value) {
        formula.writes.push_back({y, {{i}, {j}}, value});
        Operation operation{.op = "f", .label = "y"};
        operation.inputs = {
            {"x", Operand::single(x)}, {"w", Operand::single(w)}, {"k", Operand::single(k)}};
        operation.outputs = {{"y", Operand::single(y)}};
        operation.formulas = {formula};
        Graph graph{.name = "G", .inputs = operation.inputs, .outputs = operation.outputs};
        graph.operations.push_back(program.operations.add(std::move(operation)));
        program.main = program.graphs.add(std::move(graph));
        program.name = "G";
        std::string result = print(program);
        EXPECT_EQ(read_and_print(result), result);
        return result;
    }
    // The lines of the formula.
    std::string formula_text(SymId value) {
        const std::string all = text(value);
        const size_t begin = all.find("{\n        ") + 2;
        return all.substr(begin, all.find("    }\n") - begin);
    }
};

TEST(Print, WritesAProgram) {
    Sample s;
    const SymId a = s.read(s.x, {{s.i}, {s.j}});
    const SymId b = s.read(s.w, {{s.i}, {s.j}});
    EXPECT_EQ(s.text(s.op(SymOp::Mul, a, b)), R"(program G

symbol n: int in [0, 16]

input %x: f32[n, 4]
input %w: f32[n, 4]
input %k: i64[n]

graph G (x = %x, w = %w, k = %k) {
    y %y: f32[n, 4] = f "y" (x = %x, w = %w, k = %k) {
        %y[i, j] = %x[i, j] * %w[i, j]  for i < n, j < 4
    }
    yield y = %y
}
)");
}

TEST(Print, WritesGuardsAndRemaps) {
    Sample s;
    const SymId before = s.op(SymOp::Sub, s.i, s.integer(1));
    const SymId last = s.op(SymOp::Sub, s.n, s.integer(1));
    const SymId a = s.read(s.x, {{before, Guard::Skip}, {s.j}});
    const SymId b = s.read(s.w, {{before, Guard::Remap, s.integer(0), last}, {s.j}});
    EXPECT_EQ(s.formula_text(s.op(SymOp::Add, a, b)),
              "        %y[i, j] = %x[|i - 1|, j] + %w[|i - 1 <> 0 : n - 1|, j]"
              "  for i < n, j < 4\n");
}

TEST(Print, WritesConditionsAndOperators) {
    Sample s;
    s.formula.op = FormulaOp::Max;
    s.formula.condition = s.op(SymOp::Less, s.i, s.op(SymOp::Div, s.n, s.integer(2)));
    const SymId a = s.read(s.x, {{s.i}, {s.j}});
    const SymId power =
        s.op(SymOp::Pow, *s.program.symbols.apply(SymOp::Neg, a), s.program.symbols.real(2));
    EXPECT_EQ(s.formula_text(power),
              "        %y[i, j] max= (-%x[i, j])**2.0  for i < n, j < 4  if i < n/2\n");
}

// a - b, b - a, and sorted operands: the text does not depend on the numbers of nodes.
TEST(Print, OrdersOperandsByTheText) {
    Sample s;
    const SymId a = s.read(s.x, {{s.i}, {s.j}}), b = s.read(s.w, {{s.i}, {s.j}});
    const SymId late = *s.program.symbols.function("exp", a);
    const SymId first = s.op(SymOp::Mul, b, s.program.symbols.real(3));
    EXPECT_EQ(s.formula_text(s.op(SymOp::Add, first, late)),
              "        %y[i, j] = exp(%x[i, j]) + 3.0 * %w[i, j]  for i < n, j < 4\n");
}

TEST(Print, NamesLargeSharedParts) {
    Sample s;
    SymId value = s.read(s.x, {{s.i}, {s.j}});
    for (int step = 0; step < 40; ++step) {
        const SymId next = *s.program.symbols.function("tanh", value);
        value = s.op(SymOp::Add, s.op(SymOp::Mul, next, value), next);
    }
    const std::string text = s.formula_text(value);
    EXPECT_LT(text.size(), 8000u);
    EXPECT_NE(text.find("let t0 = "), std::string::npos);
}

TEST(Print, SplitsDeepExpressions) {
    Sample s;
    SymId value = s.read(s.x, {{s.i}, {s.j}});
    for (int step = 0; step < 1900; ++step) value = *s.program.symbols.function("sin", value);
    EXPECT_NE(s.formula_text(value).find("let t30 = "), std::string::npos);
}

// Accesses that are unused, out of order, or duplicates.
TEST(Print, KeepsTheOrderOfAccesses) {
    Sample s;
    const SymId a = s.read(s.x, {{s.i}, {s.j}});
    const SymId b = s.read(s.w, {{s.i}, {s.j}});
    s.read(s.k, {{s.i}});
    EXPECT_EQ(s.formula_text(s.op(SymOp::Div, b, a)),
              "        let t0 = %x[i, j]\n"
              "        let t1 = %w[i, j]\n"
              "        let t2 = %k[i]\n"
              "        %y[i, j] = t1 / t0  for i < n, j < 4\n");
    Sample twice;
    const SymId c = twice.read(twice.x, {{twice.i}, {twice.j}});
    const SymId d = twice.read(twice.x, {{twice.i}, {twice.j}});
    EXPECT_NE(twice.formula_text(twice.op(SymOp::Div, c, d)).find("= t0 / t1"), std::string::npos);
}

TEST(Print, ReadsElementsInIndicesOfTargets) {
    Sample s;
    const SymId value = s.read(s.x, {{s.i}, {s.j}});
    const SymId target = s.read(s.k, {{s.i}});
    s.formula.writes.push_back({s.y, {{target}, {s.j}}, value});
    EXPECT_EQ(s.formula_text(value),
              "        %y[%k[i], j], %y[i, j] = %x[i, j], %x[i, j]  for i < n, j < 4\n");
}

TEST(Print, DisambiguatesNames) {
    Sample s;
    const SymId other = s.program.symbols.symbol("n", ScalarType::Int, {1, 3});
    const SymId odd = s.program.symbols.symbol("~", ScalarType::Int);
    const SymId index = s.index("n", other);
    s.program.tensors[s.w].name = "x";
    s.program.tensors[s.k].name = "a \"b\"\n";
    s.program.tensors[s.k].shape = {odd};
    const SymId a = s.read(s.x, {{index}, {s.j}}), b = s.read(s.w, {{s.i}, {s.j}});
    const std::string text = s.text(s.op(SymOp::Add, a, b));
    EXPECT_NE(text.find("symbol n: int in [0, 16]\n"
                        "symbol n1 \"n\": int in [1, 3]\n"
                        "symbol d1 \"~\": int\n"),
              std::string::npos);
    EXPECT_NE(text.find("input %x~2: f32[n, 4]\ninput %\"a \\\"b\\\"\\n\": i64[d1]\n"),
              std::string::npos);
    EXPECT_NE(text.find("= %x[n2, j] + %x~2[i, j]  for i < n, j < 4, n2 < n1\n"),
              std::string::npos);
}

TEST(Print, WritesRangesThatDoNotFollow) {
    Sample s;
    const SymId a = s.program.symbols.symbol("k", ScalarType::Int, {0, 255});
    s.formula.accesses.push_back({a, s.k, {{s.i}}});
    const SymId b = s.program.symbols.symbol("m", ScalarType::Int, {2, 3});
    s.formula.bounds.push_back({b, s.integer(4)});
    const SymId value = *s.program.symbols.apply(SymOp::ToReal, s.op(SymOp::Add, a, b));
    EXPECT_EQ(s.formula_text(value),
              "        let t0 = %k[i] in [0, 255]\n"
              "        %y[i, j] = real(m + t0)  for i < n, j < 4, m < 4 in [2, 3]\n");
}

TEST(Print, WritesExtremeNumbers) {
    Sample s;
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const SymId least = s.integer(INT64_MIN);
    const SymId sum = s.op(SymOp::Add, s.op(SymOp::Mul, least, s.i), s.op(SymOp::Add, s.j, least));
    s.formula.condition = s.op(SymOp::LessEqual, sum, s.op(SymOp::Mul, s.integer(INT64_MAX), s.n));
    s.program.tensors.add({.name = "c",
                           .dtype = DType::F64,
                           .shape = {s.integer(6)},
                           .role = TensorRole::Constant,
                           .items = {-0.0, kInf, -kInf, std::nan(""), 5e-324, 0.1}});
    const std::string text = s.text(*s.program.symbols.apply(SymOp::ToReal, sum));
    EXPECT_NE(text.find("constant %c: f64[6] = [-0.0, inf, -inf, nan, 5e-324, 0.1]\n"),
              std::string::npos);
    EXPECT_NE(text.find("j + -9223372036854775808*i + -9223372036854775808"), std::string::npos);
}

TEST(Print, SharesLargeExtents) {
    Sample s;
    SymId extent = s.n;
    for (int step = 2; step < 30; ++step)
        extent = s.op(SymOp::Max,
                      s.op(SymOp::Div, s.op(SymOp::Mul, extent, extent), s.integer(step)),
                      s.op(SymOp::Sub, s.integer(step), extent));
    s.program.tensors[s.x].shape[0] = extent;
    s.program.tensors[s.w].shape[0] = extent;
    const SymId a = s.read(s.x, {{s.i}, {s.j}});
    const std::string text = s.text(a);
    EXPECT_NE(text.find("\nlet e0 = "), std::string::npos);
    EXPECT_LT(text.size(), 6000u);
}

}  // namespace
}  // namespace lemma::ir
