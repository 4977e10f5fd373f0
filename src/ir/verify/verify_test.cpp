// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diag/render.h"
#include "ir/text/read.h"

namespace lemma::ir {
namespace {

const char* const kGood = R"(program p
symbol n: int in [0, 8]
symbol m: int in [0, 2]
symbol d: int in [0, 8]
input %x: f32[n, 4]
input %k: i64[n]
variable %w: f32[4]
constant %c: i64[] = 2
constant %z: f32[] = 0.0
constant %v: f32[2] = [1.0, 2.0]
require n > 0, "some"
graph g (x = %x, k = %k) {
    y %y: f32[n, 4] = f (x = %x, w = %w) {
        %y[i, j] = %w[j]  for i < n, j < 4
        %y[i, j] += %x[%k[i], j]  for i < n, j < 4  if i < j
    }
    s %s: f32[d] = g (x = %y) {
        %s[d] = %y[i, 0]  for i < n  if %y[i, 0] > 0.0  append d
    }
    y %b: f32[n, 4] = outer (x = %y) {
        y %a: f32[n, 4] = intrinsic (x = %y)
        y %b = intrinsic (x = %a)
    }
    y %y = pass (x = %y) compound
    0 %r: f32[] = if () {
        condition {
            c %t: bool[] = test (x = %y)
            yield 0 = %t
        }
        then {
            c %u: f32[] = g (x = %b)
            yield 0 = %u
        }
        else {
            yield 0 = %z
        }
    }
    v %v4: f32[4] = next (w = %w)
    p [%p.0: f32[], %p.1: f32[]] = h ()
    0 %l: f32[], 1 [%q.0: f32[], %q.1: f32[]; m] = loop (count = %c, a = %z, x = [%p.0, %p.1]) over (carry [%la: f32[]], scan [%lx: f32[]], index %li: i64[], count 2, times %c) {
        while {
            c %lt: bool[] = test (x = %la)
            yield 0 = %lt
        }
        body {
            c %lb: f32[] = g (x = %la, y = %lx, i = %li)
            yield 0 = %lb, 1 = %lx
        }
    }
    yield y = %y, q = [%q.0, %q.1; m]
}
update %w = %v4
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

Program read(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = read_program(sources, sources.add("p", text), diag);
    EXPECT_TRUE(program) << diag::render(sources, diag, {});
    return program ? std::move(*program) : Program{};
}

Program good() { return read(kGood); }

// The problems of the valid program after one replacement in its text.
std::vector<std::string> broken(const std::string& what, const std::string& with) {
    return verify(read(replaced(kGood, what, with)));
}

::testing::AssertionResult has(const std::vector<std::string>& problems, std::string_view text) {
    std::string all;
    for (const std::string& problem : problems) {
        if (problem.find(text) != std::string::npos) return ::testing::AssertionSuccess();
        all += "\n  " + problem;
    }
    return ::testing::AssertionFailure() << "no `" << text << "` in" << all;
}

Operation& operation(Program& program, std::string_view name) {
    return *std::ranges::find(program.operations, name, &Operation::op);
}

Tensor& tensor(Program& program, std::string_view name) {
    return *std::ranges::find(program.tensors, name, &Tensor::name);
}

TensorId tensor_id(Program& program, std::string_view name) {
    return make_id<TensorId>(
        static_cast<size_t>(&tensor(program, name) - &*program.tensors.begin()));
}

TEST(Verify, AcceptsAGoodProgram) { EXPECT_EQ(verify(good()), std::vector<std::string>{}); }

TEST(Verify, FindsMissingIds) {
    Program p = good();
    operation(p, "f").inputs[0].operand.items[0] = TensorId{};
    EXPECT_TRUE(has(verify(p), "`f`: no such tensor"));
    p = good();
    operation(p, "f").formulas[0].writes[0].value = make_id<SymId>(p.symbols.size());
    EXPECT_TRUE(has(verify(p), "`f`: no such expression"));
    p = good();
    operation(p, "outer").parts[0] = make_id<OpId>(999);
    EXPECT_TRUE(has(verify(p), "`outer`: no such operation"));
    p = good();
    std::get<Branch>(operation(p, "if").control).alternative = GraphId{};
    EXPECT_TRUE(has(verify(p), "`if`: no such graph"));
    p = good();
    p.main = GraphId{};
    EXPECT_TRUE(has(verify(p), "no such graph"));
    p = good();
    tensor(p, "y").shape[0] = SymId{};
    EXPECT_TRUE(has(verify(p), "tensor `y`: no such expression"));
    p = good();
    operation(p, "f").formulas[0].accesses[0].indices[0].guard = Guard::Remap;
    EXPECT_TRUE(has(verify(p), "`f`: no such expression"));
    EXPECT_TRUE(has(verify(Program{}), "no such graph"));
}

TEST(Verify, FindsOperationsAndGraphsThatAreNotListedOnce) {
    Program p = good();
    auto& list = p.graphs[p.main].operations;
    list.push_back(list[0]);
    EXPECT_TRUE(has(verify(p), "`f`: is listed 2 times"));
    p = good();
    p.graphs[p.main].operations.erase(p.graphs[p.main].operations.begin());
    EXPECT_TRUE(has(verify(p), "`f`: is listed 0 times"));
    p = good();
    auto& outer = operation(p, "outer");
    outer.parts.push_back(make_id<OpId>(static_cast<size_t>(&outer - &*p.operations.begin())));
    EXPECT_TRUE(has(verify(p), "`outer`: is listed 2 times"));
    p = good();
    auto& branch = std::get<Branch>(operation(p, "if").control);
    branch.alternative = branch.arms[0].consequent;
    EXPECT_TRUE(has(verify(p), "graph `then`: is used 2 times"));
    EXPECT_TRUE(has(verify(p), "graph `else`: is used 0 times"));
}

TEST(Verify, FindsTensorsWithoutOneProducer) {
    EXPECT_TRUE(has(broken("v %v4: f32[4] = next", "v %v4: f32[4], y %y = next"),
                    "`next`: makes `y` a second time"));
    EXPECT_TRUE(has(broken("v %v4: f32[4] = next", "v %v4: f32[4], y %w = next"),
                    "`next`: makes `w`, which is an input, a constant or a variable"));
    EXPECT_TRUE(has(broken("require", "tensor %none: f32[]\nrequire"), "nothing makes `none`"));
    EXPECT_TRUE(has(broken("require", "input %none: f32[]\nrequire"),
                    "`none` is an input by its role, but not of the graph"));
    EXPECT_TRUE(
        has(broken("k = %k) {", "k = %w) {"), "`w` is an input of the graph, but not by its role"));
}

TEST(Verify, FindsTensorsReadTooEarlyOrOutsideOfTheirGraph) {
    EXPECT_TRUE(has(broken("yield y = %y, q", "yield y = %u, q"),
                    "the output of graph `g` reads `u`, which is not made before"));
    EXPECT_TRUE(has(broken("update %w = %v4", "update %w = %u"), "an update reads `u`"));
    Program p = good();
    auto& list = p.graphs[p.main].operations;
    std::swap(list[0], list[1]);
    EXPECT_TRUE(has(verify(p), "`g`: `x` reads `y`, which is not made before"));
    p = good();
    operation(p, "f").formulas[1].accesses[1].tensor = tensor_id(p, "b");
    EXPECT_TRUE(has(verify(p), "`f`: a formula reads `b`, which is not made before"));
}

TEST(Verify, FindsBadShapes) {
    Program p = good();
    tensor(p, "y").shape[1] = p.symbols.real(4);
    EXPECT_TRUE(has(verify(p), "`f`: an extent is real, expected int"));
    EXPECT_TRUE(has(broken("%r: f32[]", "%r: f32[-3]"), "an extent is -3, which is negative"));
}

TEST(Verify, FindsSymbolsThatNothingTells) {
    const std::string text = replaced(kGood, "symbol d:", "symbol o: int\nsymbol d:");
    EXPECT_TRUE(has(verify(read(replaced(text, "%r: f32[]", "%r: f32[2*o]"))),
                    "`if`: an extent reads the symbol `o`, which nothing here tells"));
    EXPECT_TRUE(has(verify(read(replaced(text, "= %w[j]", "= real(o)"))),
                    "`f`: a value reads the symbol `o`"));
    EXPECT_TRUE(has(verify(read(replaced(text, "i < n, j < 4", "i < n + o, j < 4"))),
                    "`f`: a bound reads the symbol `o`"));
    EXPECT_TRUE(
        has(verify(read(replaced(text, "n > 0", "o > 0"))), "an assertion reads the symbol"));
    EXPECT_TRUE(
        has(verify(read(replaced(text, "count 2", "count o"))), "the count reads the symbol"));
    EXPECT_TRUE(has(broken("i < n, j < 4", "i < n, j < i"), "a bound reads the symbol `i`"));
    EXPECT_TRUE(has(broken("i < n, j < 4", "i < %k[0], j < 4"), "a bound reads the symbol `k`"));
}

// Each iteration or arm has a different extent.
TEST(Verify, FindsSymbolsThatLeaveTheirGraph) {
    const std::string text = replaced(kGood, "symbol d:", "symbol o: int in [0, 3]\nsymbol d:");
    const std::string scan = replaced(text,
                                      "yield 0 = %lb, 1 = %lx",
                                      "o %lo: f32[o] = nonzero (x = %la)\nyield 0 = %lb, 1 = %lo");
    EXPECT_TRUE(has(
        verify(read(replaced(scan, "[%q.0: f32[], %q.1: f32[]", "[%q.0: f32[o], %q.1: f32[o]"))),
        "`loop`: tells the symbol `o`, which belongs to a sub-graph"));
    const std::string arm = replaced(text, "c %u: f32[] = g (x = %b)", "c %u: f32[o] = g (x = %b)");
    EXPECT_TRUE(
        has(verify(read(replaced(arm, "n > 0", "o > 0"))), "an assertion reads the symbol `o`"));
}

TEST(Verify, FindsBadConstantsAndVariables) {
    EXPECT_TRUE(has(broken("[1.0, 2.0]", "[1.0, 2.0, 3.0]"), "`v`: has 3 items for 2 elements"));
    EXPECT_TRUE(has(broken("= 0.0", "= 0"), "`z`: has an item that is int, expected real"));
    EXPECT_TRUE(has(broken("variable %w: f32[4]", "variable %w: f32[4] = 1.0"),
                    "`w`: has items, but is no constant"));
    EXPECT_TRUE(has(broken("variable %w:", "variable %w~2: f32[]\nvariable %w:"),
                    "`w`: another variable has the same name"));
    EXPECT_TRUE(
        has(broken("update %w =", "update %z ="), "the update of `z`, which is no variable"));
    EXPECT_TRUE(
        has(broken("update %w = %v4", "update %w = %v4\nupdate %w = %v4"), "two updates of `w`"));
    EXPECT_TRUE(has(broken("update %w = %v4", "update %w = %y"), "has another dtype or rank"));
}

TEST(Verify, FindsBadPorts) {
    EXPECT_TRUE(has(broken("(x = %x, w = %w)", "(x = %x, x = %w)"), "two ports are named `x`"));
    EXPECT_TRUE(
        has(broken("[%q.0, %q.1; m]", "[%q.0; m]"), "has 1 tensors for a length of up to 2"));
    Program p = good();
    operation(p, "f").inputs[0].operand.items.push_back(tensor_id(p, "w"));
    EXPECT_TRUE(has(verify(p), "has several tensors, but is no pack"));
    p = good();
    operation(p, "f").inputs[0].operand.length = p.symbols.integer(1);
    EXPECT_TRUE(has(verify(p), "has a length, but is no pack"));
}

TEST(Verify, FindsBadFormulas) {
    EXPECT_TRUE(
        has(broken("%y[i, j] = %w[j]", "%y[i] = %w[j]"), "1 indices for `y`, which has rank 2"));
    EXPECT_TRUE(has(broken("= %w[j]", "= %w[i, j]"), "2 indices for `w`, which has rank 1"));
    EXPECT_TRUE(has(broken("= %w[j]", "= j"), "a formula writes int into `y`, which is f32"));
    EXPECT_TRUE(has(broken("%y[i, j] +=", "%y[i, j] &="), "`&=` of real values"));
    EXPECT_TRUE(has(broken("%s[d] = %y[i, 0]", "%y[d, 0] = %y[i, 0]"),
                    "a formula writes `y`, which is no output"));
    EXPECT_TRUE(
        has(broken("%s[d] = %y[i, 0]", "%y[d, 0] = %y[i, 0]"), "no formula writes its output `s`"));
    EXPECT_TRUE(has(broken("append d", "append n"), "the counter of a formula is no index"));
    Program p = good();
    operation(p, "f").formulas[1].condition = p.symbols.integer(1);
    EXPECT_TRUE(has(verify(p), "`f`: a condition is no bool"));
    p = good();
    operation(p, "f").formulas[0].writes.clear();
    EXPECT_TRUE(has(verify(p), "`f`: a formula without writes"));
    p = good();
    operation(p, "f").formulas[0].writes[0].indices[0].value = p.symbols.real(1);
    EXPECT_TRUE(has(verify(p), "`f`: an index of `y` is no int"));
    p = good();
    operation(p, "f").formulas[0].writes[0].indices[0].below = p.symbols.integer(1);
    EXPECT_TRUE(has(verify(p), "`f`: an index of `y` has places to go, but no guard"));
}

TEST(Verify, FindsBadIndicesAndAccesses) {
    Program p = good();
    auto* formula = &operation(p, "f").formulas[0];
    formula->bounds[1].index = formula->bounds[0].index;
    EXPECT_TRUE(has(verify(p), "the index `i` has two bounds"));
    p = good();
    formula = &operation(p, "f").formulas[0];
    formula->bounds[0].index = p.symbols.integer(3);
    EXPECT_TRUE(has(verify(p), "an index is no int symbol"));
    p = good();
    formula = &operation(p, "f").formulas[0];
    formula->bounds[0].index = formula->bounds[0].extent;
    EXPECT_TRUE(has(verify(p), "the index `n` is an extent"));
    p = good();
    formula = &operation(p, "f").formulas[0];
    formula->bounds[0].extent = p.symbols.boolean(true);
    EXPECT_TRUE(has(verify(p), "the bound of `i` is no int"));
    p = good();
    formula = &operation(p, "f").formulas[1];
    std::swap(formula->accesses[0], formula->accesses[1]);
    EXPECT_TRUE(has(verify(p), "an index reads the symbol `k`"));
    p = good();
    formula = &operation(p, "f").formulas[1];
    formula->accesses[0].symbol = formula->accesses[1].symbol;
    EXPECT_TRUE(has(verify(p), "an element of `k` is no symbol of its type"));
    EXPECT_TRUE(has(verify(p), "the symbol of an element of `x` is something else too"));
    p = good();
    operation(p, "g").formulas[0].counter = p.symbols.integer(3);
    EXPECT_TRUE(has(verify(p), "the counter of a formula is no extent"));
}

TEST(Verify, FindsBadCompounds) {
    EXPECT_TRUE(has(broken("y %b = intrinsic (x = %a)", "y %b2: f32[n, 4] = intrinsic (x = %a)"),
                    "`outer`: no part makes its output `b`"));
    Program p = good();
    operation(p, "outer").formulas = operation(p, "f").formulas;
    EXPECT_TRUE(has(verify(p), "`outer`: is compound, but has formulas"));
}

TEST(Verify, FindsBadKinds) {
    // A compound that only passes tensors on is not an intrinsic, which would make them.
    EXPECT_TRUE(has(broken("(x = %y) compound", "(x = %y)"), "`pass`: makes `y` a second time"));
    EXPECT_TRUE(
        has(broken("(x = %a)", "(x = %a) compound"), "`intrinsic`: no part makes its output `b`"));
    EXPECT_TRUE(
        has(broken("w = %w) {", "w = %w) intrinsic {"), "`f`: is intrinsic, but has formulas"));
    EXPECT_TRUE(has(broken("outer (x = %y)", "outer (x = %y) primitive"),
                    "`outer`: is primitive, but has parts"));
    EXPECT_TRUE(
        has(broken("if ()", "if () intrinsic"), "`if`: is intrinsic, but has a branch or a loop"));
    EXPECT_TRUE(
        has(broken("= h ()", "= h () control"), "`h`: is control, without a branch or a loop"));
}

TEST(Verify, FindsBadBranches) {
    EXPECT_TRUE(
        has(broken("yield 0 = %t", "yield 0 = %z"), "the condition `z` is not a single bool"));
    EXPECT_TRUE(has(broken("yield 0 = %t", "yield 0 = %t, 1 = %t"),
                    "a condition gives 2 tensors, expected one"));
    EXPECT_TRUE(has(broken("%t: bool[]", "%t: bool[2]"), "the condition `t` is not a single bool"));
    EXPECT_TRUE(
        has(broken("yield 0 = %u", "yield 0 = %u, 1 = %u"), "an arm gives 2 results, expected 1"));
    EXPECT_TRUE(has(broken("yield 0 = %u", "yield 0 = [%u]"), "an arm: another number of tensors"));
    EXPECT_TRUE(
        has(broken("yield 0 = %z", "yield 0 = %v"), "an arm: `v` and `r` differ in dtype or rank"));
    EXPECT_TRUE(has(broken("= if ()", "= if (x = %x)"), "a branch with inputs"));
    Program p = good();
    std::get<Branch>(operation(p, "if").control).arms.clear();
    EXPECT_TRUE(has(verify(p), "graph `then`: is used 0 times"));
}

TEST(Verify, FindsBadLoops) {
    EXPECT_TRUE(has(broken("count = %c, a = %z", "a = %z"), "2 inputs, expected 3"));
    EXPECT_TRUE(has(broken("yield 0 = %lb, 1 = %lx", "yield 0 = %lb"), "but the body gives 1"));
    EXPECT_TRUE(has(broken("a = %z, x", "a = %c, x"), "an initial value: `c` and `la` differ"));
    EXPECT_TRUE(
        has(broken("yield 0 = %lb", "yield 0 = %li"), "a carried value: `li` and `la` differ"));
    EXPECT_TRUE(
        has(broken("x = [%p.0, %p.1])", "x = %p.0)"), "a scan over something that is no pack"));
    EXPECT_TRUE(has(broken("x = [%p.0, %p.1])", "x = [%x, %x])"), "a scan: `x` and `lx` differ"));
    EXPECT_TRUE(
        has(broken("1 = %lx", "1 = [%lx]"), "a scan output that is no pack, or collects packs"));
    EXPECT_TRUE(has(broken("1 = %lx", "1 = %li"), "a scan output: `q.0` and `li` differ"));
    EXPECT_TRUE(
        has(broken("index %li: i64[]", "index %li: f32[]"), "the index `li` is not a single int"));
    EXPECT_TRUE(has(broken("times %c", "times %z"), "the count `z` is not a single int"));
    EXPECT_TRUE(has(broken("count = %c", "count = %k"), "the count `c` is not the first input"));
    EXPECT_TRUE(
        has(broken("yield 0 = %lt", "yield 0 = %la"), "the condition `la` is not a single bool"));
    EXPECT_TRUE(has(broken("count 2", "count -2"), "the count is -2, which is negative"));
    Program p = read("program p\ngraph g {\nloop () {\nbody {\n}\n}\n}\n");
    EXPECT_TRUE(has(verify(p), "`loop`: a loop without end"));
}

TEST(Verify, StopsAfterManyProblems) {
    std::string text = "program p\n";
    for (int i = 0; i < 1000; ++i) text += "tensor %t" + std::to_string(i) + ": f32[]\n";
    EXPECT_EQ(verify(read(text + "graph g {\n}\n")).size(), 100u);
}

}  // namespace
}  // namespace lemma::ir
