// SPDX-License-Identifier: Apache-2.0
// Outputs that are carried over to the next run, through the public library.
#include <gtest/gtest.h>

#include <lemma/lemma.hpp>

#include "api/models_test.h"

namespace lemma::api {

namespace {

// Appends a row to a list, and adds up a number; `at` picks a row of the longer list.
constexpr const char* kList = R"(
import layout; import math;
operator pick {
    @input { x: real[n, 2]; i: int[]; }
    @output { y: real[2]; }
    @lower { y[k,] = x[i[], k], k < 2; }
}
graph List {
    @input { row: real[1, 2]; at: int[]; list: real[n|100, 2]; sum: real[2]; }
    @output { picked: real[2]; longer: real[n + 1, 2]; total: real[2]; }
    @compose {
        longer = layout.concat{axis = 0}([list, row]);
        picked = pick(longer, at);
        one = layout.squeeze{axes = [0]}(row);
        total = math.add(sum, one);
    }
})";

class Carry : public testing::TestWithParam<EngineChoice> {
protected:
    LoadOptions options() const {
        LoadOptions options;
        options.engine = GetParam();
        return options;
    }
    // Runs with the row (i, -i) and picks the row `at`.
    Outcome run(Session& session, int64_t i, int64_t at) {
        const float row[] = {static_cast<float>(i), -static_cast<float>(i)};
        std::vector<TensorView> inputs = {
            TensorView::of(row, {1, 2}), TensorView::of(&at, {}), {}, {}};
        if (first) {
            inputs[2] = {DataType::F32, {0, 2}, nullptr, 0};
            inputs[3] = TensorView::of(zeros, {2});
        }
        outputs.clear();
        Outcome done = session.run(inputs, outputs);
        if (done.ok()) first = false;
        return done;
    }

    const float zeros[2] = {0, 0};
    bool first = true;
    std::vector<TensorView> outputs;
};
INSTANTIATE_TEST_SUITE_P(Engines,
                         Carry,
                         testing::Values(EngineChoice::Interpret, EngineChoice::Compile));

TEST_P(Carry, TheNextRunReadsTheOutput) {
    Loaded model(kList, options());
    Session& session = *model.operator->();
    ASSERT_TRUE(session.carry("longer", "list").ok());
    ASSERT_TRUE(session.carry("total", "sum").ok());
    for (int64_t i = 0; i < 80; ++i) {
        const Outcome done = run(session, i, i / 2);
        ASSERT_TRUE(done.ok()) << done.text();
        ASSERT_EQ(outputs.size(), 3U);
        EXPECT_EQ(outputs[0].elements<float>()[1], -static_cast<float>(i / 2));
        EXPECT_EQ(outputs[1].data, nullptr);
        EXPECT_EQ(outputs[2].data, nullptr);
    }
}

TEST_P(Carry, AFailedRunChangesNothing) {
    Loaded model(kList, options());
    Session& session = *model.operator->();
    ASSERT_TRUE(session.carry("longer", "list").ok());
    ASSERT_TRUE(session.carry("total", "sum").ok());
    EXPECT_FALSE(run(session, 8, 5).ok());  // the first run takes its inputs again
    ASSERT_TRUE(run(session, 0, 0).ok());
    ASSERT_TRUE(run(session, 1, 0).ok());
    EXPECT_FALSE(run(session, 9, 5).ok());  // there are three rows
    ASSERT_TRUE(run(session, 2, 2).ok());
    EXPECT_EQ(outputs[0].elements<float>()[0], 2.0F);
}

TEST_P(Carry, ResetStartsAgain) {
    Loaded model(kList, options());
    Session& session = *model.operator->();
    ASSERT_TRUE(session.carry("longer", "list").ok());
    ASSERT_TRUE(session.carry("total", "sum").ok());
    for (int64_t i = 0; i < 4; ++i) ASSERT_TRUE(run(session, i, 0).ok());
    ASSERT_TRUE(session.reset().ok());
    EXPECT_FALSE(run(session, 7, 0).ok());  // no data for the inputs
    first = true;
    ASSERT_TRUE(run(session, 7, 0).ok());
    EXPECT_EQ(outputs[0].elements<float>()[0], 7.0F);
}

TEST_P(Carry, RefusesWhatCannotBeCarried) {
    Loaded model(kList, options());
    Session& session = *model.operator->();
    EXPECT_TRUE(refused(session.carry("list", "list"), "there is no output `list`"));
    EXPECT_TRUE(refused(session.carry("total", "x"), "there is no input `x`"));
    EXPECT_TRUE(refused(session.carry("total", "list"), "types or ranks differ"));
    EXPECT_TRUE(refused(session.carry("total", "at"), "types or ranks differ"));
    ASSERT_TRUE(session.carry("total", "sum").ok());
    EXPECT_TRUE(refused(session.carry("total", "sum"), "is carried already"));
    ASSERT_TRUE(session.carry("longer", "list").ok());
    ASSERT_TRUE(run(session, 1, 0).ok());
    first = true;
    EXPECT_TRUE(refused(run(session, 1, 0), "the input `sum` is carried over"));
}

}  // namespace

}  // namespace lemma::api
