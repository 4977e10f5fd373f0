// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <lemma/lemma.hpp>
#include <thread>

#include "api/models_test.h"

namespace lemma::api {

namespace {

const LoadOptions kRandomWeights = [] {
    LoadOptions options;
    options.random_weights = 1;
    return options;
}();

// ---- Running ------------------------------------------------------------------------------------

TEST(Model, RefusesInputsThatDoNotFit) {
    Loaded model(kScale);
    EXPECT_TRUE(refused(model->run({}), "no data for the input `x`"));
    EXPECT_TRUE(
        refused(model->run({{"z", kSixNumbers}}), "there is no input `z`; the inputs are `x`"));
    EXPECT_TRUE(
        refused(model->run({{"x", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}), "axis 0"));
    EXPECT_TRUE(refused(model->run({{"x", Tensor::scalar<float>(1)}}), "expected rank 2"));
    EXPECT_TRUE(refused(model->run({{"x", Tensor::of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6})}}),
                        "expected real"));
    EXPECT_TRUE(model->run({{"x", kSixNumbers}}).ok());
}

TEST(Model, TakesWeightsFromAFileOfTheirOwn) {
    const TempFolder folder("weights");
    const std::string path = folder.path() + "/w.safetensors";
    const std::string header =
        R"({"total": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})";
    const uint64_t length = header.size();
    const float data[] = {0, 5};
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(&length), sizeof(length))
        .write(header.data(), static_cast<std::streamsize>(header.size()))
        .write(reinterpret_cast<const char*>(data), sizeof(data));
    LoadOptions options;
    options.weights = path;
    Loaded model(kSum, options);
    const RunResult result = model->run({{"x", Tensor::of<float>({2}, {1, 2})}});
    ASSERT_TRUE(result.ok()) << result.text();
    EXPECT_EQ(result.outputs.at("y").values<float>(), (std::vector<float>{1, 7}));
    options.weights += ".missing";
    EXPECT_FALSE(Model::load(model.folder(), options).ok());
}

// After the first run, runs go from bytes to bytes; unsuitable inputs are still refused.
TEST(Model, CompiledRunsAgreeWithTheInterpreter) {
    constexpr const char* kConv = R"(
import nn;
import math;
graph Conv {
    @input { x: real[1, 3, 20, n|40]; k: int[2]; }
    @output { y: real[1, 16, 20, n]; j: int[2]; }
    @variable { w: real[16, 3, 3, 3]; }
    @compose { y = nn.conv{padding = [1, 1, 1, 1]}(x, w); j = math.add(k, 1); }
})";
    LoadOptions interpret = kRandomWeights;
    interpret.engine = EngineChoice::Interpret;
    LoadOptions compile = kRandomWeights;
    compile.engine = EngineChoice::Compile;
    Loaded slow(kConv, interpret);
    Loaded fast(kConv, compile, {2, 0});
    const Tensor k = Tensor::of<int64_t>({2}, {4, -7});
    for (const int64_t width : {20, 20, 31, 20}) {
        std::vector<float> values(static_cast<size_t>(3 * 20 * width));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 5.0F;
        const Tensor x = Tensor::of<float>({1, 3, 20, width}, values);
        for (int time = 0; time < 2; ++time) {
            const RunResult want = slow->run({{"x", x}, {"k", k}});
            const RunResult got = fast->run({{"x", x}, {"k", k}});
            ASSERT_TRUE(want.ok() && got.ok()) << want.text() << got.text();
            EXPECT_EQ(got.outputs.at("j").bytes, want.outputs.at("j").bytes);
            ASSERT_EQ(got.outputs.at("y").shape, want.outputs.at("y").shape);
            const auto a = got.outputs.at("y").values<float>();
            const auto b = want.outputs.at("y").values<float>();
            for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3);
        }
        EXPECT_TRUE(refused(fast->run({{"x", x}}), "no data for the input `k`"));
        EXPECT_TRUE(refused(fast->run({{"x", x}, {"k", Tensor::scalar<int64_t>(1)}}), "rank"));
    }
}

TEST(Model, RefusesTensorsThatContradictThemselves) {
    Loaded model(kScale);
    Tensor x = kSixNumbers;
    x.bytes.pop_back();
    EXPECT_TRUE(refused(model->run({{"x", x}}), "`x` is given 23 bytes, too few for f32[2, 3]"));
    x.bytes.resize(25);
    EXPECT_TRUE(refused(model->run({{"x", x}}), "too many"));
    x.shape = {int64_t{1} << 40, int64_t{1} << 22};
    EXPECT_TRUE(refused(model->run({{"x", x}}), "too few"));
    x.shape = {-2, -3};
    EXPECT_TRUE(refused(model->run({{"x", x}}), "[-2, -3]"));
    x.type = static_cast<DataType>(0);
    EXPECT_TRUE(refused(model->run({{"x", x}}), "type 0"));
}

TEST(Model, FailureInsideOfTheModelHasAPlace) {
    Loaded model(kStops);
    const Tensor x = Tensor::of<float>({3}, {5, 6, 7});
    for (int time = 0; time < 2; ++time) {
        const RunResult wrong = model->run({{"x", x}, {"i", Tensor::scalar<int64_t>(3)}});
        EXPECT_EQ(wrong.status, Status::Wrong);
        ASSERT_EQ(wrong.problems.size(), 1u);
        EXPECT_EQ(wrong.problems[0].kind, "run-failed");
        EXPECT_EQ(wrong.problems[0].line, 11);
        EXPECT_TRUE(wrong.outputs.empty());
    }
    const RunResult good = model->run({{"x", x}, {"i", Tensor::scalar<int64_t>(2)}});
    ASSERT_TRUE(good.ok()) << good.text();
    EXPECT_TRUE(good.problems.empty());
    EXPECT_EQ(good.outputs.at("y").values<float>(), std::vector<float>{7});
}

TEST(Model, ExtentsCanBeChosenByTheRun) {
    Loaded model(kDynamic);
    EXPECT_EQ(model.model().inputs()[0].shape, (Shape{-1, 2}));
    EXPECT_EQ(model.model().inputs()[0].bounds, (Shape{4, 2}));
    EXPECT_EQ(model.model().inputs()[1].bounds, Shape{8});
    const Tensor i = Tensor::of<int64_t>({2}, {7, 8});
    for (int64_t n = 1; n <= 4; ++n) {
        const Tensor x = Tensor::of({n, 2}, std::vector<float>(static_cast<size_t>(2 * n), 1.5f));
        const RunResult result = model->run({{"x", x}, {"i", i}});
        ASSERT_TRUE(result.ok()) << result.text();
        EXPECT_EQ(result.outputs.at("y").shape, (Shape{n, 2}));
        EXPECT_EQ(result.outputs.at("j").values<int64_t>(), (std::vector<int64_t>{8, 9}));
    }
    const Tensor large = Tensor::of({5, 2}, std::vector<float>(10));
    EXPECT_TRUE(refused(model->run({{"x", large}, {"i", i}}), "at most 4"));
}

TEST(Model, PacksGoItemByItem) {
    Loaded model(kPacks);
    ASSERT_EQ(model.model().inputs().size(), 5u);
    EXPECT_EQ(model.model().inputs()[1].name, "xs.1");
    EXPECT_FALSE(model.model().inputs()[1].optional);
    EXPECT_EQ(model.model().inputs()[4].name, "ys.2");
    EXPECT_TRUE(model.model().inputs()[4].optional);
    Tensors inputs = {{"xs.0", Tensor::of<float>({2}, {1, 2})}};
    EXPECT_FALSE(model->run(inputs).ok());
    inputs["xs.1"] = Tensor::of<float>({2}, {3, 4});
    const RunResult none = model->run(inputs);
    ASSERT_TRUE(none.ok()) << none.text();
    EXPECT_EQ(none.outputs.at("sum").values<float>(), (std::vector<float>{4, 6}));
    EXPECT_EQ(none.outputs.count("vs.0"), 0u);
    inputs["ys.1"] = Tensor::of<float>({2}, {5, 6});
    EXPECT_TRUE(refused(model->run(inputs), "`ys.0` is missing"));
    inputs["ys.0"] = inputs["xs.0"];
    const RunResult two = model->run(inputs);
    ASSERT_TRUE(two.ok()) << two.text();
    EXPECT_EQ(two.outputs.size(), 5u);
    EXPECT_EQ(two.outputs.at("vs.1").values<float>(), (std::vector<float>{5, 6}));
}

// ---- State --------------------------------------------------------------------------------------

TEST(Model, PacksMayHaveFewerItemsThanTheirBound) {
    constexpr const char* kTotal = R"(
import layout; import math;
graph Total {
    @input { xs: real[2]..(k|3); }
    @output { sum: real[2]; all: real[2 * k]; }
    @compose { sum = math.sum_n(xs); all = layout.concat{axis = 0}(xs); }
})";
    for (const EngineChoice engine : {EngineChoice::Interpret, EngineChoice::Compile}) {
        LoadOptions options;
        options.engine = engine;
        Loaded model(kTotal, options);
        for (const size_t count : {2u, 3u, 1u, 0u, 2u}) {
            Tensors inputs;
            std::vector<float> sum = {0, 0}, all;
            for (size_t i = 0; i < count; ++i) {
                const auto number = static_cast<float>(i + 1);
                inputs["xs." + std::to_string(i)] = Tensor::of<float>({2}, {number, 10 * number});
                all.insert(all.end(), {number, 10 * number});
                sum = {sum[0] + number, sum[1] + 10 * number};
            }
            const RunResult result = model->run(inputs);
            ASSERT_TRUE(result.ok()) << result.text();
            EXPECT_EQ(result.outputs.at("sum").values<float>(), sum) << count;
            EXPECT_EQ(result.outputs.at("all").values<float>(), all) << count;
        }
        EXPECT_TRUE(refused(model->run({{"xs.1", Tensor::of<float>({2}, {1, 2})}}),
                            "the input `xs.0` is missing"));
    }
}

TEST(Model, KeepsItsStateFromRunToRun) {
    Loaded model(kSum, kRandomWeights);
    ASSERT_EQ(model.model().variables().size(), 1u);
    EXPECT_EQ(model.model().variables()[0].name, "total");
    EXPECT_TRUE(model.model().variables()[0].updated);
    ASSERT_TRUE(model->set_variable("total", Tensor::of<float>({2}, {10, 20})).ok());
    const Tensor x = Tensor::of<float>({2}, {1, 2});
    ASSERT_TRUE(model->run({{"x", x}}).ok());
    EXPECT_FALSE(model->run({{"x", Tensor::scalar<float>(0)}}).ok());  // changes nothing
    const RunResult result = model->run({{"x", x}});
    EXPECT_EQ(result.outputs.at("y").values<float>(), (std::vector<float>{12, 24}));
    EXPECT_EQ(model->variable("total")->values<float>(), (std::vector<float>{12, 24}));
    const Tensor loaded = *model.model().session().session->variable("total");
    ASSERT_TRUE(model->reset().ok());
    EXPECT_EQ(model->variable("total")->bytes, loaded.bytes);
}

// Each set of extents has memory of its own, also for variables.
TEST(Model, StateGoesFromExtentToExtent) {
    constexpr const char* kCount = R"(
import math;
graph Count {
    @input { x: real[n|4]; }
    @output { y: real[n]; runs: real[1]; }
    @variable { count: real[1]; }
    @compose { y = math.neg(x); runs = math.add(count, 1.0); }
    @update { count = runs; }
})";
    for (const EngineChoice engine : {EngineChoice::Interpret, EngineChoice::Compile}) {
        LoadOptions options = kRandomWeights;
        options.engine = engine;
        Loaded model(kCount, options);
        ASSERT_TRUE(model->set_variable("count", Tensor::of<float>({1}, {0})).ok());
        float runs = 0;
        for (const int64_t n : {1, 2, 1, 1, 3, 2}) {
            const Tensor x = Tensor::of({n}, std::vector<float>(static_cast<size_t>(n), 1.0F));
            const RunResult result = model->run({{"x", x}});
            ASSERT_TRUE(result.ok()) << result.text();
            EXPECT_EQ(result.outputs.at("runs").values<float>(), std::vector{++runs});
        }
    }
}

TEST(Model, RefusesValuesThatDoNotFitTheVariable) {
    Loaded model(kSum, kRandomWeights);
    EXPECT_TRUE(
        refused(model->set_variable("sum", Tensor::of<float>({2}, {1, 2})), "no variable `sum`"));
    EXPECT_TRUE(
        refused(model->set_variable("total", Tensor::of<float>({3}, {1, 2, 3})), "shape [3]"));
    EXPECT_TRUE(refused(model->set_variable("total", Tensor::of<float>({2}, {1})), "too few"));
    EXPECT_FALSE(model->variable("sum"));
}

TEST(Model, SavedVariablesAreReadAgain) {
    Loaded model(kSum, kRandomWeights);
    ASSERT_TRUE(model->set_variable("total", Tensor::of<float>({2}, {3, 4})).ok());
    const Outcome saved = model->save_variables(model.folder());
    ASSERT_TRUE(saved.ok()) << saved.text();
    const LoadResult again = Model::load(model.folder());
    ASSERT_TRUE(again.ok()) << again.text();
    const SessionResult session = again.model->session();
    EXPECT_EQ(session.session->variable("total")->values<float>(), (std::vector<float>{3, 4}));
    EXPECT_TRUE(refused(model->save_variables("/dev/null/folder"), "/dev/null/folder"));
}

TEST(Model, SessionsOutliveTheirModel) {
    std::optional<Session> session;
    {
        Loaded loaded(kScale);
        session = std::move(loaded.model().session().session);
    }
    EXPECT_TRUE(session->run({{"x", kSixNumbers}}).ok());
    Session moved = std::move(*session);
    EXPECT_EQ(moved.model().inputs()[0].name, "x");
    EXPECT_TRUE(moved.run({{"x", kSixNumbers}}).ok());
}

TEST(Model, SessionsAreIndependentInThreads) {
    const TempFolder folder("threads");
    const LoadResult loaded = Model::load(folder.write(kSum), kRandomWeights);
    ASSERT_TRUE(loaded.ok()) << loaded.text();
    std::vector<float> totals[2];
    const auto work = [&](size_t which) {
        SessionResult made = loaded.model->session();
        if (!made.ok()) return;
        Session& session = *made.session;
        session.set_variable("total", Tensor::of<float>({2}, {0, 0}));
        const Tensor x = Tensor::of<float>({2}, {static_cast<float>(which + 1), 1});
        for (int time = 0; time < 50; ++time) session.run({{"x", x}});
        totals[which] = session.variable("total")->values<float>();
    };
    std::thread first(work, 0);
    std::thread second(work, 1);
    first.join();
    second.join();
    EXPECT_EQ(totals[0], (std::vector<float>{50, 50}));
    EXPECT_EQ(totals[1], (std::vector<float>{100, 50}));
}

}  // namespace

}  // namespace lemma::api
