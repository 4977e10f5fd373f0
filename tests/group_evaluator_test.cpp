// SPDX-License-Identifier: Apache-2.0
// The evaluator of kernels for devices finds seeded faults: missing barriers, groups that depend on
// one another, accesses out of bounds. Kernels of random sums pass, in any order of their groups.
#include <gtest/gtest.h>

#include "interpret/random.h"
#include "loop/ir/groups.h"
#include "loop/plan/plan.h"
#include "support/engine_models.h"
#include "support/loop_evaluator.h"

namespace lemma {
namespace {

using loop::Address;
using loop::Op;
using tensor::DType;
using tensor::Tensor;

// The i-th barrier of the statements, or of those inside of them, is gone.
bool drop_barrier(loop::Block& block, int& which) {
    for (size_t i = 0; i < block.size(); ++i) {
        if (std::holds_alternative<loop::Barrier>(block[i].node) && which-- == 0) {
            block.erase(block.begin() + static_cast<ptrdiff_t>(i));
            return true;
        }
        if (auto* const inside = std::get_if<loop::For>(&block[i].node)) {
            if (drop_barrier(inside->body, which)) return true;
        }
        if (auto* const inside = std::get_if<loop::If>(&block[i].node)) {
            if (drop_barrier(inside->body, which)) return true;
        }
    }
    return false;
}

// The kernel of the sums of rows, for a device.
loop::Function sums(int64_t rows, int64_t columns) {
    const auto state = testing_support::load_text(
        "import math;\ngraph G { @input { x: real[" + std::to_string(rows) + ", " +
        std::to_string(columns) + "]; } @output { y: real[" + std::to_string(rows) +
        "]; } @compose { y = math.sum_reduce{axes=[1], squeeze=true}(x); } }");
    loop::PlanOptions options;
    options.verify = true;
    options.target.device = true;
    loop::Plan plan = loop::make_plan(state->program(), {}, options);
    for (loop::PlanStep& step : plan.steps) {
        if (step.kernel()) return std::move(step.kernel()->function);
    }
    ADD_FAILURE() << "no kernel";
    return {};
}

std::vector<Tensor> buffers_of(const loop::Function& f, int64_t rows, int64_t columns) {
    std::vector<Tensor> buffers;
    for (size_t i = 0; i < f.argument_count(); ++i) {
        const int64_t elements = f.buffers[i].written ? rows : rows * columns;
        Tensor buffer = Tensor::zeros(f.buffers[i].dtype, {elements}).value();
        for (int64_t k = 0; k < elements && !f.buffers[i].written; ++k) {
            buffer.set_real(k, static_cast<double>(k % 7 - 3));  // sums are exact
        }
        buffers.push_back(std::move(buffer));
    }
    return buffers;
}

TEST(GroupEvaluator, SumsAreRightInAnyOrder) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
        const auto rows = static_cast<int64_t>(1 + interpret::random_bits(seed, 0) % 5);
        const auto most = seed % 2 == 0 ? 900 : 3000;
        const auto columns = static_cast<int64_t>(1 + interpret::random_bits(seed, 1) % most);
        const loop::Function f = sums(rows, columns);
        std::vector<Tensor> buffers = buffers_of(f, rows, columns);
        const auto done = testing::evaluate_groups(f, {0, f.items}, seed, buffers);
        ASSERT_TRUE(done) << done.error().message << loop::print(f);
        for (size_t i = 0; i < buffers.size(); ++i) {
            if (!f.buffers[i].written) continue;
            for (int64_t row = 0; row < rows; ++row) {
                double want = 0;
                for (int64_t k = row * columns; k < (row + 1) * columns; ++k) {
                    want += static_cast<double>(k % 7 - 3);
                }
                EXPECT_EQ(buffers[i].real(row), want) << rows << " " << columns;
            }
        }
    }
}

// Without any one of the barriers, items meet.
TEST(GroupEvaluator, FindsEachMissingBarrier) {
    const loop::Function whole = sums(3, 1500);
    ASSERT_GT(whole.group, 1);
    int found = 0;
    for (int which = 0;; ++which) {
        loop::Function f = whole;
        int at = which;
        if (!drop_barrier(f.body, at)) break;
        std::vector<Tensor> buffers = buffers_of(f, 3, 1500);
        const auto done = testing::evaluate_groups(f, {0, f.items}, 1, buffers);
        ASSERT_FALSE(done) << "barrier " << which;
        EXPECT_TRUE(done.error().message.contains("at the same time")) << done.error().message;
        ++found;
    }
    EXPECT_EQ(found, 1);  // behind the parts of the warps
}

// ---- Faults -------------------------------------------------------------------------------------

// y[item / 2] = item: two items of different groups write an element.
TEST(GroupEvaluator, FindsGroupsThatMeet) {
    loop::Function f;
    loop::Builder build(f);
    const auto to = build.buffer("to", DType::I64, true);
    f.item = build.var("item");
    f.items = 4;
    f.group = 1;
    Address half;
    half.dynamic = build.make(Op::Div, {build.index(f.item), build.integer(2)});
    f.body.push_back({loop::StoreStmt{to, half, build.index(f.item), {}}});
    std::vector<Tensor> buffers = {Tensor::zeros(DType::I64, {2}).value()};
    const auto done = testing::evaluate_groups(f, {0, 4}, 0, buffers);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message,
              "item 0 of group 1 writes element 0 of buffer 0, which item 0 of group 0 touches at "
              "the same time");
}

TEST(GroupEvaluator, FindsAccessesOutOfBounds) {
    loop::Function f;
    loop::Builder build(f);
    const auto to = build.buffer("to", DType::I64, true);
    f.item = build.var("item");
    f.items = 3;
    f.group = 2;
    Address at;
    at.add(f.item, 1);
    f.body.push_back({loop::StoreStmt{to, at, build.index(f.item), {}}});
    std::vector<Tensor> buffers = {Tensor::zeros(DType::I64, {2}).value()};
    const auto done = testing::evaluate_groups(f, {0, 3}, 0, buffers);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "element 2 of 2 in buffer 0");
}

// y[item] = x[item ^ 5], by an exchange.
TEST(GroupEvaluator, ExchangesValuesInWarps) {
    loop::Function f;
    loop::Builder build(f);
    const auto to = build.buffer("to", DType::I64, true);
    f.item = build.var("item");
    f.items = 96;
    f.group = 64;
    const loop::LocalId other = build.local({loop::Kind::Int, 1});
    f.body.push_back({loop::Exchange{other, build.index(f.item), 5}});
    Address at;
    at.add(f.item, 1);
    f.body.push_back({loop::StoreStmt{to, at, build.get(other), {}}});
    EXPECT_EQ(loop::verify(f), "");
    std::vector<Tensor> buffers = {Tensor::zeros(DType::I64, {96}).value()};
    ASSERT_TRUE(testing::evaluate_groups(f, {0, 96}, 3, buffers));
    for (int64_t i = 0; i < 96; ++i) EXPECT_EQ(buffers[0].integer(i), i ^ 5);
    // A warp must be whole.
    f.items = 80;
    std::get<loop::Exchange>(f.body[0].node).distance = 16;
    EXPECT_EQ(loop::verify(f), "a warp without all of its items");
    const auto done = testing::evaluate_groups(f, {0, 80}, 3, buffers);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "an exchange with an item that is not there");
}

// A barrier in a branch that half of the items take.
TEST(GroupEvaluator, FindsBarriersThatSomeItemsMiss) {
    loop::Function f;
    loop::Builder build(f);
    build.buffer("to", DType::I64, true);
    f.item = build.var("item");
    f.items = 4;
    f.group = 4;
    loop::If some{build.make(Op::Less, {build.index(f.item), build.integer(2)}), {}};
    some.body.push_back({loop::Barrier{}});
    f.body.push_back({std::move(some)});
    std::vector<Tensor> buffers = {Tensor::zeros(DType::I64, {2}).value()};
    const auto done = testing::evaluate_groups(f, {0, 4}, 0, buffers);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, "a barrier that some items do not reach");
}

}  // namespace
}  // namespace lemma
