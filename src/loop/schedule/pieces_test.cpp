// SPDX-License-Identifier: Apache-2.0
#include "loop/schedule/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lemma::loop {
namespace {

// A stage that assigns `value` along one loop.
struct OneLoop {
    StagePool pool;
    VarId var;
    Stage stage;

    explicit OneLoop(int64_t extent) : var(pool.new_var(extent)) {
        stage.combine = ir::FormulaOp::Assign;
        stage.loops = {{var, extent}};
    }
    ExprId integer(int64_t value) { return pool.build.integer(value); }
    ExprId make(Op op, ExprId a, ExprId b) { return pool.build.make(op, {a, b}); }
    ExprId index() { return pool.build.index(var); }
    ExprId read(ExprId at) { return pool.build.read(1, Kind::F32, {at}); }
    std::vector<LoopPiece> pieces(ExprId value) {
        stage.writes = {{make_id<ir::TensorId>(2), {index()}, value}};
        return pieces_of(stage, pool, var);
    }
    bool has(ExprId id, Op op) const {
        const Expr& e = pool[id];
        return e.op == op || std::ranges::any_of(e.args, [&](ExprId arg) { return has(arg, op); });
    }
};

std::vector<int64_t> ends(const std::vector<LoopPiece>& pieces) {
    std::vector<int64_t> result;
    for (const LoopPiece& piece : pieces) {
        EXPECT_EQ(piece.begin, result.empty() ? 0 : result.back());
        result.push_back(piece.end);
    }
    return result;
}

// Two elements of zeros before 56 elements of a row, and one behind them.
TEST(Pieces, PaddedRow) {
    OneLoop row(59);
    const ExprId inside = row.make(Op::And,
                                   row.make(Op::LessEqual, row.integer(2), row.index()),
                                   row.make(Op::Less, row.index(), row.integer(58)));
    const ExprId element = row.read(row.make(Op::Sub, row.index(), row.integer(2)));
    const ExprId zero = row.pool.build.real(0, Kind::F32);
    const auto pieces = row.pieces(row.pool.build.select(inside, element, zero));
    EXPECT_EQ(ends(pieces), (std::vector<int64_t>{2, 58, 59}));
    EXPECT_EQ(longest(pieces), &pieces[1]);
    EXPECT_EQ(pieces[0].stage.writes[0].value, zero);
    EXPECT_EQ(pieces[2].stage.writes[0].value, zero);
    const Expr& read = row.pool[pieces[1].stage.writes[0].value];
    ASSERT_EQ(read.op, Op::Read);
    EXPECT_EQ(row.pool.range(read.args[0]).low, 0);
    EXPECT_EQ(row.pool.range(read.args[0]).high, 55);
    EXPECT_EQ(pieces[1].stage.loops[0].extent, 56);
    // The place in the result stays the same.
    const auto at = row.pool.affine(pieces[1].stage.writes[0].index[0]);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->offset, 2);
}

// Borders are repeated.
TEST(Pieces, ClampedIndex) {
    OneLoop row(12);
    const ExprId at = row.make(Op::Sub, row.index(), row.integer(3));
    const ExprId high = row.make(Op::Min, at, row.integer(7));
    const auto pieces = row.pieces(row.read(row.make(Op::Max, high, row.integer(0))));
    ASSERT_FALSE(pieces.empty());
    EXPECT_EQ(pieces.back().end, 12);
    for (const LoopPiece& piece : pieces) {
        EXPECT_FALSE(row.has(piece.stage.writes[0].value, Op::Min));
        EXPECT_FALSE(row.has(piece.stage.writes[0].value, Op::Max));
    }
}

// Every step is in the piece whose stage has its value, whatever the factor and the sign.
TEST(Pieces, EachStepKeepsItsCondition) {
    for (const int64_t factor : {-3, -2, -1, 1, 2, 3}) {
        for (int64_t limit = -40; limit <= 40; ++limit) {
            for (const Op op : {Op::Less, Op::LessEqual, Op::Equal}) {
                OneLoop row(11);
                const ExprId scaled = row.make(Op::Mul, row.index(), row.integer(factor));
                const ExprId condition = row.make(op, scaled, row.integer(limit));
                const ExprId one = row.pool.build.real(1, Kind::F32);
                const ExprId zero = row.pool.build.real(0, Kind::F32);
                const auto pieces = row.pieces(row.pool.build.select(condition, one, zero));
                for (const LoopPiece& piece : pieces) {
                    const ExprId value = piece.stage.writes[0].value;
                    for (int64_t step = piece.begin; step < piece.end; ++step) {
                        const int64_t left = factor * step;
                        const bool holds = op == Op::Less        ? left < limit
                                           : op == Op::LessEqual ? left <= limit
                                                                 : left == limit;
                        EXPECT_EQ(value, holds ? one : zero) << factor << " " << limit;
                    }
                }
            }
        }
    }
}

TEST(Pieces, NotWithoutConditions) {
    OneLoop row(40);
    EXPECT_TRUE(row.pieces(row.read(row.index())).empty());
    // Too many would be slower than the comparisons.
    ExprId value = row.pool.build.real(0, Kind::F32);
    for (int64_t i = 1; i < 12; ++i) {
        const ExprId condition = row.make(Op::Less, row.index(), row.integer(3 * i));
        value = row.pool.build.select(condition, value, row.pool.build.real(1.0 * i, Kind::F32));
    }
    EXPECT_TRUE(row.pieces(value).empty());
}

}  // namespace
}  // namespace lemma::loop
