// SPDX-License-Identifier: Apache-2.0
// Runs from the caller's bytes to the caller's bytes, of models with steps that the interpreter
// runs and with extents that depend on data. All results are those of the interpreter.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "interpret/random.h"
#include "support/engine_models.h"

namespace lemma {
namespace {

using engine::Engine;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;

constexpr int64_t kElements = 40;

// A model with an input x of 40 numbers, and its runs one after the other.
class DirectRuns {
public:
    explicit DirectRuns(const char* text) : state_(load_text(text)), oracle_(load_text(text)) {
        if (!state_ || !oracle_) return;
        auto made = Engine::create(*state_, {.verify = true, .threads = 2});
        EXPECT_TRUE(made);
        if (made) engine_ = std::move(*made);
    }

    // Whether the run was direct. The first one never is.
    bool run(int number) {
        if (!engine_) return false;
        std::vector<float> x;
        Array input = *Array::zeros(tensor::DType::F32, {kElements});
        for (int64_t i = 0; i < kElements; ++i) {
            const auto seed = static_cast<uint64_t>(100 * number + i);
            x.push_back(static_cast<float>(interpret::random_unit(7, seed) - 0.5));
            input.reals[static_cast<size_t>(i)] = x.back();
        }
        const NamedArrays inputs = {{"x", {input}}};
        const auto want = interpret::Interpreter(*oracle_).run(inputs);
        const int64_t shape[] = {kElements};
        std::vector<std::vector<float>> outputs;
        const auto direct =
            engine_->run_directly(std::vector<Engine::Bytes>{{tensor::DType::F32, shape, x.data()}},
                                  [&](const Engine::Output& made) {
                                      const auto* const from = static_cast<const float*>(made.data);
                                      outputs.emplace_back(from, from + made.bytes / sizeof(float));
                                      return Result<void>();
                                  });
        EXPECT_TRUE(direct) << direct.error().message;
        if (!direct) return false;
        if (!*direct) {
            const auto got = engine_->run(inputs);
            EXPECT_EQ(got.has_value(), want.has_value());
            if (got && want) compare(got->at("y")[0].reals, want->at("y")[0].reals);
            failed_ += got ? 0 : 1;
            return false;
        }
        EXPECT_TRUE(want) << want.error().message;
        if (!want) return false;
        EXPECT_EQ(outputs.size(), 1U);
        compare({outputs[0].begin(), outputs[0].end()}, want->at("y")[0].reals);
        return true;
    }
    bool needs_arrays() const { return engine_->needs_arrays(); }
    int failed() const { return failed_; }

private:
    static void compare(const std::vector<double>& got, const std::vector<double>& want) {
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
    }

    std::unique_ptr<interpret::State> state_, oracle_;
    std::unique_ptr<Engine> engine_;
    int failed_ = 0;
};

TEST(EngineDirect, ExtentsThatDependOnData) {
    DirectRuns runs(R"(import layout; import math;
operator taken {
    @input { x: real[n]; index: int[1, m]; }
    @output { y: real[m]; }
    @lower { y[i,] = x[index[0, i],], i < m; }
}
graph G {
    @input { x: real[40]; }
    @output { y: real[~|40]; }
    @compose {
        positive = math.gt(x, 0.0);
        at = layout.nonzero(positive);
        some = taken(x, at);
        y = math.mul(some, 2.0);
    }
})");
    EXPECT_FALSE(runs.run(0));
    for (int number = 1; number < 6; ++number) EXPECT_TRUE(runs.run(number)) << number;
}

// The interpreter reads the input itself, whose data it does not have.
TEST(EngineDirect, InterpretedInputs) {
    DirectRuns runs(R"(import layout; import math;
graph G {
    @input { x: real[40]; }
    @output { y: real[1, ~|40]; }
    @compose {
        at = layout.nonzero(x);
        reals = layout.cast<real>(at);
        y = math.mul(reals, 2.0);
    }
})");
    for (int number = 0; number < 4; ++number) EXPECT_FALSE(runs.run(number)) << number;
    EXPECT_TRUE(runs.needs_arrays());
}

// The interpreter reads a variable that the run before has changed.
TEST(EngineDirect, InterpretedVariables) {
    DirectRuns runs(R"(import layout; import math;
graph G {
    @input { x: real[40]; }
    @output { y: real[1, ~|40]; }
    @variable { v: real[40]; }
    @compose {
        at = layout.nonzero(v);
        reals = layout.cast<real>(at);
        y = math.mul(reals, 2.0);
        next = nn_relu(x);
    }
    @update { v = next; }
}
operator nn_relu {
    @input { x: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[i,] > 0.0 ? x[i,] : 0.0, i < n; }
})");
    for (int number = 0; number < 4; ++number) EXPECT_FALSE(runs.run(number)) << number;
}

// Runs that the model refuses do not keep later ones from it.
TEST(EngineDirect, RunsAfterThoseThatFail) {
    DirectRuns runs(R"(import layout; import math;
operator some {
    @input { at: int[1, m]; }
    @output { y: real[m]; }
    @assert { m >= 20: "only {m} elements"; }
    @lower { y[i,] = real(at[0, i]), i < m; }
}
graph G {
    @input { x: real[40]; }
    @output { y: real[~|40]; }
    @compose {
        positive = math.gt(x, 0.0);
        at = layout.nonzero(positive);
        y = some(at);
    }
})");
    runs.run(0);
    int direct = 0;
    constexpr int kRuns = 20;
    for (int number = 1; number <= kRuns; ++number) direct += runs.run(number) ? 1 : 0;
    EXPECT_GT(runs.failed(), 2);
    EXPECT_GT(direct, 2);
    EXPECT_GE(direct + runs.failed(), kRuns);  // the first run may have failed
}

// Random numbers differ from run to run, in the same way.
TEST(EngineDirect, RandomNumbers) {
    DirectRuns runs(R"(import rand; import math;
graph G {
    @input { x: real[40]; }
    @output { y: real[40]; }
    @compose {
        noise = rand.normal{shape = [40]}();
        y = math.add(x, noise);
    }
})");
    for (int number = 0; number < 5; ++number) EXPECT_EQ(runs.run(number), number > 0) << number;
}

}  // namespace
}  // namespace lemma
