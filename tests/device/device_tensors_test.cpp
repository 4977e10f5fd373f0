// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs in the memory of a device, through the library, on a driver without a GPU
// (fake_cuda.cpp). Its kernels copy their first buffer to their last one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <lemma/lemma.hpp>
#include <string>
#include <thread>
#include <vector>

namespace lemma {
namespace {

constexpr const char* kPlain = R"(import math;
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; }
    @compose { y = math.abs(x); }
})";
// Two kernels, which are recorded.
constexpr const char* kPair = R"(import math;
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; z: real[4]; }
    @compose { y = math.abs(x); z = math.neg(x); }
})";
// The second step has no formula.
constexpr const char* kMixed = R"(import math; import layout;
graph G {
    @input { x: real[4]; }
    @output { y: real[4]; at: int[1, ~|4]; }
    @compose { y = math.abs(x); i = layout.cast<int>(y); at = layout.nonzero(i); }
})";

class Setting {
public:
    Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Setting() { ::unsetenv(name_); }
    Setting(const Setting&) = delete;

private:
    const char* name_;
};

// Without copies between the memories.
constexpr const char* kNoCopies = "cuMemcpyHtoDAsync_v2=719,cuMemcpyDtoHAsync_v2=719";

struct FreeMemory {
    void operator()(lemma_device_memory* memory) const { lemma_device_memory_free(memory); }
};
using Memory = std::unique_ptr<lemma_device_memory, FreeMemory>;

class DeviceTensors : public testing::Test {
protected:
    static std::optional<Model> load(const char* text, const std::string& device) {
        LoadOptions options;
        options.engine = EngineChoice::Compile;
        options.cache = "";
        options.device = device;
        const LoadResult loaded = Model::load({{"main.sknd", text, std::strlen(text)}}, options);
        EXPECT_TRUE(loaded.ok()) << loaded.text();
        return loaded.model;
    }
    static Memory memory(const Model& model, const std::vector<float>& values) {
        lemma_device_memory* made = nullptr;
        const size_t bytes = values.size() * sizeof(float);
        EXPECT_EQ(lemma_device_memory_create(model.get(), bytes, &made, nullptr), LEMMA_GOOD);
        EXPECT_EQ(lemma_device_memory_write(made, values.data(), bytes, nullptr), LEMMA_GOOD);
        return Memory(made);
    }
    static std::vector<float> read(const Memory& memory) {
        std::vector<float> values(4);
        EXPECT_EQ(lemma_device_memory_read(memory.get(), values.data(), 16, nullptr), LEMMA_GOOD);
        return values;
    }
    static TensorView view(const Memory& memory) {
        return {DataType::F32, {4}, lemma_device_memory_data(memory.get()), 16, true};
    }
};

TEST_F(DeviceTensors, StayThere) {
    const auto model = load(kPlain, "cuda");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->device(), "Fake GPU");
    EXPECT_EQ(lemma_model_device_number(model->get()), 0);
    auto session = model->session();
    ASSERT_TRUE(session.ok()) << session.text();
    const std::vector<float> x = {1, 2, 3, 4}, other = {5, 6, 7, 8};
    const Memory from = memory(*model, x), to = memory(*model, {0, 0, 0, 0});
    const Memory from_other = memory(*model, other);
    for (int run = 0; run < 4; ++run) {
        const bool warm = run > 0;
        const Setting fails(warm ? "FAKE_CUDA_FAIL" : "FAKE_CUDA_NONE", kNoCopies);
        std::vector<TensorView> outputs = {view(to)};
        const Outcome done = session.session->run({view(run == 3 ? from_other : from)}, outputs);
        ASSERT_TRUE(done.ok()) << done.text();
        EXPECT_TRUE(outputs[0].on_device);
        EXPECT_EQ(outputs[0].shape, Shape{4});
        EXPECT_EQ(outputs[0].data, lemma_device_memory_data(to.get()));
    }
    EXPECT_EQ(read(to), other);
    // In memory of the session, and from main memory.
    std::vector<TensorView> outputs = {{DataType::F32, {}, nullptr, 0, true}};
    ASSERT_TRUE(session.session->run({TensorView::of(x.data(), {4})}, outputs).ok());
    ASSERT_NE(outputs[0].data, nullptr);
    std::vector<TensorView> here;
    ASSERT_TRUE(session.session->run({outputs[0]}, here).ok());
    EXPECT_FALSE(here[0].on_device);
    EXPECT_EQ(here[0].elements<float>()[3], 4);
}

TEST_F(DeviceTensors, AreCopiedForStepsOfTheProcessor) {
    const auto model = load(kMixed, "cuda");
    ASSERT_TRUE(model);
    auto session = model->session();
    ASSERT_TRUE(session.ok()) << session.text();
    const Memory from = memory(*model, {1, 2, 3, 4}), to = memory(*model, {0, 0, 0, 0});
    for (int run = 0; run < 3; ++run) {
        std::vector<TensorView> outputs = {view(to), {}};
        const Outcome done = session.session->run({view(from)}, outputs);
        ASSERT_TRUE(done.ok()) << done.text();
        EXPECT_EQ(outputs[1].shape[0], 1);
        EXPECT_EQ(read(to), (std::vector<float>{1, 2, 3, 4}));
    }
    std::vector<TensorView> outputs = {{DataType::F32, {}, nullptr, 0, true}};
    const Outcome done = session.session->run({view(from)}, outputs);
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.text().find("`y` cannot stay on the device"), std::string::npos) << done.text();
}

TEST_F(DeviceTensors, ThatDoNotFitAreRefused) {
    const auto model = load(kPlain, "cuda");
    ASSERT_TRUE(model);
    auto session = model->session();
    const Memory from = memory(*model, {1, 2, 3, 4}), small = memory(*model, {0});
    TensorView room = view(small);
    room.size = 4;
    std::vector<TensorView> outputs = {room};
    Outcome done = session.session->run({view(from)}, outputs);
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.text().find("takes 16 bytes, and there is room for 4"), std::string::npos);
    char byte = 0;
    EXPECT_EQ(lemma_device_memory_read(small.get(), &byte, 5, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_device_memory_write(small.get(), &byte, 5, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_device_memory_read(nullptr, &byte, 1, nullptr), LEMMA_UNUSABLE);
    lemma_device_memory* none = nullptr;
    EXPECT_EQ(lemma_device_memory_create(model->get(), SIZE_MAX, &none, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(none, nullptr);
    const auto processor = load(kPlain, "cpu");
    ASSERT_TRUE(processor);
    EXPECT_EQ(processor->device(), "");
    EXPECT_EQ(lemma_model_device_number(processor->get()), -1);
    EXPECT_EQ(lemma_device_memory_create(processor->get(), 4, &none, nullptr), LEMMA_UNUSABLE);
    auto other = processor->session();
    outputs.clear();
    done = other.session->run({view(from)}, outputs);
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.text().find("the model runs on the processor"), std::string::npos)
        << done.text();
}

// Each session has its own stream, so that no work lands in the recording of another one.
TEST_F(DeviceTensors, SessionsRunAtTheSameTime) {
    const auto model = load(kPair, "cuda");
    ASSERT_TRUE(model);
    std::vector<int> good(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < good.size(); ++i) {
        threads.emplace_back([&, i] {
            auto session = model->session();
            for (int run = 0; session.ok() && run < 50; ++run) {
                const std::vector<float> x(4,
                                           static_cast<float>(100 * i) + static_cast<float>(run));
                std::vector<float> y(4);
                std::vector<TensorView> outputs = {TensorView::room(y.data(), y.size())};
                const Outcome done = session.session->run({TensorView::of(x.data(), {4})}, outputs);
                good[i] += done.ok() && y == x;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, std::vector<int>(4, 50));
}

TEST_F(DeviceTensors, ErrorsOfTheDeviceAreTold) {
    const auto model = load(kPlain, "cuda");
    ASSERT_TRUE(model);
    auto session = model->session();
    const Memory from = memory(*model, {1, 2, 3, 4});
    std::vector<TensorView> outputs;
    ASSERT_TRUE(session.session->run({view(from)}, outputs).ok());
    const Setting fails("FAKE_CUDA_FAIL", "cuStreamSynchronize=700");
    const Outcome done = session.session->run({view(from)}, outputs);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.status, Status::Unusable);
    EXPECT_NE(done.text().find("the GPU failed: an illegal memory access"), std::string::npos)
        << done.text();
}

}  // namespace
}  // namespace lemma
