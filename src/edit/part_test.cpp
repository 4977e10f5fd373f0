// SPDX-License-Identifier: Apache-2.0
#include "edit/part.h"

#include <gtest/gtest.h>

#include "edit/fold.h"
#include "edit/linear.h"
#include "ir/text/print.h"
#include "ir/text/read.h"
#include "ir/verify/verify.h"

namespace lemma::edit {
namespace {

ir::Program program_of(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    auto program = ir::read_program(sources, sources.add("p.ir", text), diag);
    EXPECT_TRUE(program.has_value());
    return program ? std::move(*program) : ir::Program();
}

// An operation with two results, a compound, and an update.
constexpr const char* kModel = R"(program p
symbol m: int in [0, 8]
input %x: f32[2*m + 1]
input %z: f32[2*m + 1]
variable %w: f32[4]
variable %unread: f32[4]
graph g (x = %x, z = %z) {
    y %y: f32[2*m + 1] = outer "outer" (x = %x, z = %z) {
        a %a: f32[2*m + 1] = add "outer.a" (x = %x, z = %z) {
            %a[i] = %x[i] + %z[i]  for i < 2*m + 1
        }
        y %y = twice "outer.y" (a = %a) {
            %y[i] = %a[i] + %a[i]  for i < 2*m + 1
        }
    }
    s %s: f32[4] = sum "sum" (w = %w) {
        %s[i] = %w[i] + 1.0  for i < 4
    }
    c %c: f32[2*m + 1] = copy "copy" (y = %y) {
        %c[i] = %y[i]  for i < 2*m + 1
    }
    e %e: f32[2*m + 1] = exp "exp" (c = %c) {
        %e[i] = exp(%c[i])  for i < 2*m + 1
    }
    yield e = %e, s = %s
}
update %w = %s
)";

ir::TensorId tensor(const ir::Program& program, const std::string& name) {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
        const auto id = make_id<ir::TensorId>(i);
        if (program.tensors[id].name == name) return id;
    }
    ADD_FAILURE() << name;
    return {};
}

NamedTensor named(const ir::Program& program, const std::string& name) {
    return {name, tensor(program, name)};
}

std::vector<std::string> labels(const ir::Program& program) {
    std::vector<std::string> found;
    for (const ir::OpId id : program.graphs[program.main].operations)
        found.push_back(program.operations[id].label);
    return found;
}

using Words = std::vector<std::string>;

TEST(Part, KeepsCompoundsWhole) {
    const ir::Program program = program_of(kModel);
    const auto part = cut_part(
        program, {.from = {named(program, "x"), named(program, "z")}, .to = {named(program, "c")}});
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_EQ(labels(part->program), (Words{"outer", "copy"}));
    EXPECT_TRUE(ir::verify(part->program).empty());
}

TEST(Part, OpensTheCompoundThatIsCutThrough) {
    const ir::Program program = program_of(kModel);
    const auto part =
        cut_part(program, {.from = {named(program, "a")}, .to = {named(program, "y")}});
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_EQ(labels(part->program), Words{"outer.y"});
}

TEST(Part, NamesTheOperationThatNeedsAMissingInput) {
    const ir::Program program = program_of(kModel);
    Cut cut{.from = {named(program, "x")}, .to = {named(program, "y")}};
    const auto part = cut_part(program, cut);
    ASSERT_FALSE(part.has_value());
    EXPECT_NE(part.error().message.find("`outer`"), std::string::npos);
    EXPECT_NE(part.error().message.find("`z`"), std::string::npos);
    cut.add_inputs = true;
    const auto whole = cut_part(program, cut);
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    EXPECT_EQ(whole->added, Words{"z"});
}

TEST(Part, KeepsTheUpdateOfAVariableThatItReads) {
    const ir::Program program = program_of(kModel);
    const auto with = cut_part(program, {.to = {named(program, "s")}});
    ASSERT_TRUE(with.has_value()) << with.error().message;
    EXPECT_EQ(with->program.updates.size(), 1U);
    const auto without =
        cut_part(program, {.from = {named(program, "y")}, .to = {named(program, "e")}});
    ASSERT_TRUE(without.has_value()) << without.error().message;
    EXPECT_TRUE(without->program.updates.empty());
    EXPECT_EQ(without->program.tensors.size(), 3U);  // neither variable
}

TEST(Part, GivesOpenExtentsOfNewInputsNames) {
    const ir::Program program = program_of(kModel);
    const auto part =
        cut_part(program, {.from = {named(program, "c")}, .to = {named(program, "e")}});
    ASSERT_TRUE(part.has_value()) << part.error().message;
    const ir::Program& made = part->program;
    const ir::SymId extent = made.tensors[tensor(made, "e")].shape[0];
    EXPECT_EQ(made.symbols.node(extent).kind, ir::SymKind::Symbol);
}

TEST(Part, ReplacesExtentsByNumbers) {
    const ir::Program program = program_of(kModel);
    const ir::SymId m =
        program.symbols.symbols_of(program.tensors[tensor(program, "x")].shape[0])[0];
    const Changes changes{.stored = {}, .same = {}, .extents = {{m, 3}}};
    const auto part = cut_part(program, whole_model(program), changes);
    ASSERT_TRUE(part.has_value()) << part.error().message;
    const ir::Program& made = part->program;
    EXPECT_EQ(made.symbols.as_int(made.tensors[tensor(made, "e")].shape[0]), 7);
}

TEST(Part, PassesByWhatOnlyCopies) {
    const ir::Program program = program_of(kModel);
    Changes changes;
    changes.same = find_identities(program);
    EXPECT_EQ(changes.same.size(), 1U);
    const auto part = cut_part(program, whole_model(program), changes);
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_EQ(labels(part->program), (Words{"outer", "sum", "exp"}));
}

TEST(Linear, SolvesForTheOneUnknown) {
    ir::SymbolPool pool;
    const ir::SymId n = pool.symbol("n", ir::ScalarType::Int, {0, 100});
    const ir::SymId doubled = *pool.apply(ir::SymOp::Mul, n, pool.integer(2));
    const ir::SymId extent = *pool.apply(ir::SymOp::Add, doubled, pool.integer(3));
    const auto form = linear_form(pool, extent);
    ASSERT_TRUE(form.has_value());
    EXPECT_EQ(form->atom, n);
    EXPECT_EQ(pool.as_int(*solve(pool, *form, pool.integer(13))), 5);
    EXPECT_FALSE(solve(pool, *form, pool.integer(12)).has_value());  // half a number
    EXPECT_FALSE(solve(pool, *form, pool.integer(1)).has_value());   // less than zero
    const ir::SymId other = pool.symbol("k", ir::ScalarType::Int, {0, 100});
    EXPECT_FALSE(linear_form(pool, *pool.apply(ir::SymOp::Add, n, other)).has_value());
}

}  // namespace
}  // namespace lemma::edit
