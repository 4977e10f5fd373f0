// SPDX-License-Identifier: Apache-2.0
// The program on a driver without a GPU (fake_cuda.cpp): what it does, and what it says when the
// driver or the GPU fails.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace {

namespace fs = std::filesystem;

// The kernels of the driver copy their first buffer to their last one.
constexpr const char* kModel = R"(import math;
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; z: real[4]; }
    @compose { y = math.abs(x); z = math.neg(x); }
})";

struct Ended {
    int status = -1;
    std::string text;  // both streams
};

class DeviceProgram : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "lemma-device-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        std::ofstream(folder_ / "main.sknd") << kModel;
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    // `settings` are variables of the environment.
    Ended lemma(const std::string& words,
                const std::string& settings = {},
                const std::string& driver = "usual") const {
        const std::string line = "cd '" + folder_.string() + "' && env LD_LIBRARY_PATH='" +
                                 LEMMA_FAKE_CUDA "/" + driver + "' FAKE_CUDA_LOG=log " + settings +
                                 " " LEMMA_PROGRAM " " + words + " 2>&1";
        Ended ended;
        std::FILE* const pipe = ::popen(line.c_str(), "r");
        if (!pipe) return ended;
        std::array<char, 4096> buffer{};
        while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
            ended.text.append(buffer.data(), got);
        }
        const int status = ::pclose(pipe);
        ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return ended;
    }
    // The calls of the last command, by function.
    std::map<std::string, int> calls() const {
        std::map<std::string, int> result;
        std::ifstream log(folder_ / "log");
        for (std::string name; log >> name;) log >> result[name];
        return result;
    }
    void expect_fails(const std::string& settings,
                      const std::string& text,
                      const std::string& driver = "usual") const {
        const Ended ended = lemma(kRun, settings, driver);
        EXPECT_EQ(ended.status, 2) << settings << "\n" << ended.text;
        EXPECT_TRUE(ended.text.contains(text)) << settings << "\n" << ended.text;
    }

    static constexpr const char* kRun = "run main.sknd --random-inputs --device=cuda --no-cache";
    fs::path folder_;
};

TEST_F(DeviceProgram, RunsAModel) {
    const Ended ended = lemma(kRun);
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_TRUE(ended.text.contains("y: ")) << ended.text;
    EXPECT_GT(calls()["cuLaunchKernel"], 0);
    EXPECT_EQ(calls()["left"], 0) << "memory that nobody freed";
}

// The second one begins 24 bytes behind a whole vector.
TEST_F(DeviceProgram, OneFormulaInAlignedAndInOtherMemory) {
    std::ofstream(folder_ / "main.sknd") << R"(import math;
import layout;
graph G {
    @input { p: real[1000, 8]; q: real[6]; r: real[1000, 8]; }
    @output { y: real[1000, 8]; z: real[8006]; }
    @compose {
        y = math.abs(p);
        first = math.abs(q);
        rows = math.abs(r);
        second = layout.reshape{shape=[8000]}(rows);
        z = layout.concat{axis=0}([first, second]);
    }
})";
    const Ended ended = lemma(kRun);
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_EQ(calls()["cuLaunchKernel"], 3);
}

TEST_F(DeviceProgram, ReplaysRecordedRuns) {
    const Ended ended = lemma("bench main.sknd --runs=10 --device=cuda --no-cache");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_TRUE(ended.text.contains("on Fake GPU: 2 of the compiled steps")) << ended.text;
    EXPECT_GE(calls()["cuGraphLaunch"], 10);
    EXPECT_EQ(calls()["cuGraphInstantiateWithFlags"], calls()["cuGraphExecDestroy"]);
    EXPECT_LT(calls()["cuLaunchKernel"], 20);
    EXPECT_EQ(calls()["left"], 0) << "memory that nobody freed";
}

TEST_F(DeviceProgram, RunsOnADriverWithoutNewerFunctions) {
    const Ended ended =
        lemma("bench main.sknd --runs=5 --profile --device=cuda --no-cache", "", "old");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_EQ(calls()["cuGraphLaunch"], 0);
    EXPECT_GE(calls()["cuLaunchKernel"], 10);
    EXPECT_EQ(calls()["left"], 0) << "memory that nobody freed";
}

// Each launch takes a millisecond there.
TEST_F(DeviceProgram, MeasuresStepsByTheTimeOfTheDevice) {
    const Ended ended = lemma("bench main.sknd --runs=5 --profile --device=cuda --no-cache");
    EXPECT_EQ(ended.status, 0) << ended.text;
    EXPECT_TRUE(ended.text.contains(" GB/s   peak  schedule")) << ended.text;
    EXPECT_TRUE(ended.text.contains("   1000.0  50.0% ")) << ended.text;
    EXPECT_TRUE(ended.text.contains("time on the device: min 2.000 ms")) << ended.text;
    EXPECT_TRUE(ended.text.contains("with copies of inputs and outputs: min ")) << ended.text;
    const Ended json = lemma("bench main.sknd --runs=5 --profile --json --device=cuda --no-cache");
    EXPECT_EQ(json.status, 0) << json.text;
    for (const char* const name :
         {"\"device_min_ms\": 2.0", "\"with_copies_min_ms\": ", "\"on_device\": true"}) {
        EXPECT_TRUE(json.text.contains(name)) << json.text;
    }
}

TEST_F(DeviceProgram, StartsAgainFromTheCache) {
    const std::string words = "bench main.sknd --runs=3 --device=cuda";
    const Ended first = lemma(words, "LEMMA_CACHE=cache");
    EXPECT_EQ(first.status, 0) << first.text;
    EXPECT_TRUE(first.text.contains("2 kernels compiled, 0 from the cache")) << first.text;
    const int loaded = calls()["cuModuleLoadDataEx"];
    const Ended second = lemma(words, "LEMMA_CACHE=cache");
    EXPECT_EQ(second.status, 0) << second.text;
    EXPECT_TRUE(second.text.contains("0 kernels compiled, 2 from the cache")) << second.text;
    EXPECT_TRUE(second.text.contains("on Fake GPU: 2 of the compiled steps")) << second.text;
    EXPECT_EQ(calls()["cuModuleLoadDataEx"], loaded);
    EXPECT_EQ(calls()["cuLinkComplete"], 0) << "compiled again";
    EXPECT_GE(calls()["cuGraphLaunch"], 3);
}

TEST_F(DeviceProgram, RunsPlainIfNothingIsRecorded) {
    for (const char* const fails : {"FAKE_CUDA_FAIL=cuStreamBeginCapture_v2=900",
                                    "FAKE_CUDA_FAIL=cuStreamEndCapture=900",
                                    "FAKE_CUDA_FAIL=cuGraphInstantiateWithFlags=2"}) {
        const Ended ended = lemma("bench main.sknd --runs=10 --device=cuda --no-cache", fails);
        EXPECT_EQ(ended.status, 0) << fails << "\n" << ended.text;
        EXPECT_EQ(calls()["cuGraphLaunch"], 0) << fails;
        EXPECT_GE(calls()["cuLaunchKernel"], 20) << fails;
    }
}

TEST_F(DeviceProgram, SaysWhatIsWrongWithTheDriver) {
    expect_fails("", "the NVIDIA driver of this machine has no `cuLaunchKernel`", "broken");
    expect_fails("FAKE_CUDA_VERSION=10020",
                 "the NVIDIA driver is too old: it has CUDA 10.2, and 11.0 is needed");
    expect_fails("FAKE_CUDA_FAIL=cuInit=100",
                 "the NVIDIA driver does not start: no device is detected");
    expect_fails("FAKE_CUDA_GPUS=0", "there is no GPU `cuda:0`: this machine has 0");
    expect_fails("FAKE_CUDA_CAPABILITY=75", "is too old: it has compute capability 7.5");
    expect_fails("FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain=46",
                 "the GPU is not available: device busy or unavailable");
}

// The interpreter would say that the model has no fault, after a long time.
TEST_F(DeviceProgram, SaysThatTheDeviceFailed) {
    for (const auto& [fails, text] :
         {std::pair("FAKE_CUDA_MEMORY=8", "the GPU has no memory for "),
          std::pair("FAKE_CUDA_FAIL=cuModuleLoadDataEx=218", "the driver refuses a kernel"),
          std::pair("FAKE_CUDA_FAIL=cuLinkComplete=218", "the driver refuses a kernel"),
          std::pair("FAKE_CUDA_FAIL=cuStreamCreate=2", "the GPU takes no work: out of memory"),
          std::pair("FAKE_CUDA_FAIL=cuLaunchKernel=719",
                    "the GPU does not run a kernel: unspecified launch failure"),
          std::pair("FAKE_CUDA_FAIL=cuMemcpyHtoDAsync_v2=719", "data cannot be copied to the GPU"),
          std::pair("FAKE_CUDA_FAIL=cuMemcpyDtoHAsync_v2=719",
                    "data cannot be copied from the GPU"),
          std::pair("FAKE_CUDA_FAIL=cuStreamSynchronize=700",
                    "the GPU failed: an illegal memory access")}) {
        expect_fails(fails, text);
    }
}

TEST_F(DeviceProgram, UsesTheProcessorIfAnyDeviceWillDo) {
    for (const char* const driver : {"usual", "broken"}) {
        const Ended ended = lemma("run main.sknd --random-inputs --device=auto --no-cache",
                                  "FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain=46",
                                  driver);
        EXPECT_EQ(ended.status, 0) << ended.text;
        EXPECT_TRUE(ended.text.contains("y: ")) << ended.text;
        EXPECT_TRUE(ended.text.contains("note: the processor runs it: the ")) << ended.text;
    }
}

}  // namespace
