// SPDX-License-Identifier: Apache-2.0
// Models that are loaded and freed: no memory leaks, and several run at the same time. The
// environment variable LEMMA_LIFETIMES raises the number of rounds; docs/performance.md has the
// result for 10,000.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <lemma/lemma.hpp>
#include <thread>

#include "session/session.h"
#include "session/tensors.h"

#ifdef __SANITIZE_ADDRESS__
extern "C" size_t __sanitizer_get_current_allocated_bytes();  // g++ 12 lacks its header
#endif

namespace lemma {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel = R"(import nn; import math;
graph G {
    @input { x: real[1, 3, 9, 9]; }
    @output { y: real[1, 8, 9, 9]; }
    @variable { w: real[8, 3, 3, 3]; b: real[8]; }
    @compose {
        c = nn.conv{padding = [1, 1, 1, 1]}(x, w, b);
        y = nn.softmax{axes = [1]}(c);
    }
})";

class Lifetimes : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("lemma-lifetime-" + std::to_string(::getpid()));
        fs::create_directories(folder_);
        model_ = (folder_ / "main.sknd").string();
        std::ofstream(model_) << kModel;
        ::setenv("LEMMA_CACHE", (folder_ / "cache").c_str(), 1);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    session::SessionOptions compiled(int threads) const {
        session::SessionOptions options;
        options.engine = session::EngineKind::Jit;
        options.random_weights = 1;
        options.threads = threads;
        return options;
    }
    // The output of one run in its own session; empty if something failed.
    std::vector<double> run_session(const session::SessionOptions& options) const {
        model::Finding finding{.model = model_, .diag = Diagnostics()};
        const auto session = session::Session::open(model_, options, finding);
        if (!session) return {};
        interpret::NamedArrays inputs;
        if (!session::add_random_inputs(session->program(), 1, inputs)) return {};
        const auto outputs = session->step(inputs, finding);
        return outputs ? outputs->at("y")[0].reals : std::vector<double>();
    }
    // The same through the library.
    std::vector<float> run_model(int threads) const {
        LoadOptions options;
        options.random_weights = 1;
        options.engine = EngineChoice::Compile;
        const LoadResult loaded = Model::load(model_, options);
        if (!loaded.ok()) return {};
        SessionResult made = loaded.model->session({threads, 0});
        if (!made.ok()) return {};
        Tensors inputs;
        inputs["x"] = Tensor::of<float>({1, 3, 9, 9}, std::vector<float>(3 * 9 * 9, 0.5F));
        const RunResult ran = made.session->run(inputs);
        return ran.ok() ? ran.outputs.at("y").values<float>() : std::vector<float>();
    }

    fs::path folder_;
    std::string model_;
};

int times() {
    const char* const wanted = std::getenv("LEMMA_LIFETIMES");
    return wanted ? std::max(std::atoi(wanted), 10) : 60;
}

// Sanitizers keep freed memory to find later uses; they report the memory in use.
int64_t used_bytes() {
#ifdef __SANITIZE_ADDRESS__
    return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#else
    std::ifstream file("/proc/self/statm");
    int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
#endif
}

// The first rounds fill caches. After them, memory use must not grow.
template <class Round>
void expect_flat(Round&& round) {
    const int all = times();
    for (int i = 0; i < all / 4; ++i) round();
    const int64_t before = used_bytes();
    for (int i = all / 4; i < all; ++i) round();
    const int64_t grown = used_bytes() - before;
    EXPECT_LT(grown, int64_t{4} << 20) << all << " models";
}

TEST_F(Lifetimes, SessionsLeaveNothingBehind) {
    const auto options = compiled(2);
    const auto first = run_session(options);
    ASSERT_FALSE(first.empty());
    bool same = true;
    expect_flat([&] { same &= run_session(options) == first; });
    EXPECT_TRUE(same);
}

TEST_F(Lifetimes, ModelsOfTheLibraryLeaveNothingBehind) {
    const auto first = run_model(2);
    ASSERT_FALSE(first.empty());
    bool same = true;
    expect_flat([&] { same &= run_model(2) == first; });
    EXPECT_TRUE(same);
}

// Each thread has its own model. The library guards shared state.
TEST_F(Lifetimes, EightThreadsRunAModelAtOnce) {
    const auto want = run_model(1);
    ASSERT_FALSE(want.empty());
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            for (int k = 0; k < 4; ++k) wrong += run_model(1 + i % 2) != want;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lemma
