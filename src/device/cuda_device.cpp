// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "device/cuda_driver.h"

namespace lemma::device {

namespace {

using runtime::DeviceAddress;

constexpr int kMajorAttribute = 75, kMinorAttribute = 76;
constexpr int kLeastMajor = 8;
constexpr int64_t kMostBlocks = INT32_MAX;  // of a grid
constexpr int64_t kMostArgumentBytes = 4096;

struct CudaKernel final : runtime::DeviceKernel {
    CuFunction function = nullptr;
};

class CudaDevice final : public runtime::Device {
public:
    CudaDevice(const CudaDriver& driver, CuDevice device) : driver_(driver), device_(device) {}
    ~CudaDevice() override;
    Result<void> open();

    std::string name() const override { return name_; }
    Result<DeviceAddress> allocate(int64_t bytes) override;
    void free(DeviceAddress memory) override;
    Result<void> upload(DeviceAddress to, const void* from, int64_t bytes) override;
    Result<void> download(void* to, DeviceAddress from, int64_t bytes) override;
    Result<void> copy(DeviceAddress to, DeviceAddress from, int64_t bytes) override;
    Result<const runtime::DeviceKernel*> load(const std::string& text,
                                              const std::string& name) override;
    Result<void> launch(const Launch& launch) override;
    Result<void> wait() override;

private:
    // The driver has one context for each thread.
    Result<void> enter() const {
        return driver_.check("the GPU is not available", driver_.set_context(context_));
    }

    const CudaDriver& driver_;
    CuDevice device_;
    std::string name_;
    CuContext context_ = nullptr;
    CuStream stream_ = nullptr;
    std::mutex loading_;
    std::vector<CuModule> modules_;
    std::vector<std::unique_ptr<CudaKernel>> kernels_;
};

Result<void> CudaDevice::open() {
    std::array<char, 256> name{};
    LEMMA_TRY(driver_.check("the GPU has no name",
                            driver_.device_name(name.data(), int{name.size()}, device_)));
    name_ = name.data();
    int major = 0, minor = 0;
    LEMMA_TRY(driver_.check("the GPU has no version",
                            driver_.device_attribute(&major, kMajorAttribute, device_)));
    LEMMA_TRY(driver_.check("the GPU has no version",
                            driver_.device_attribute(&minor, kMinorAttribute, device_)));
    if (major < kLeastMajor) {
        return std::unexpected(
            Error{fmt::format("the GPU `{}` is too old: it has compute capability {}.{}, and {}.0 "
                              "is needed",
                              name_,
                              major,
                              minor,
                              kLeastMajor)});
    }
    LEMMA_TRY(
        driver_.check("the GPU is not available", driver_.retain_context(&context_, device_)));
    LEMMA_TRY(enter());
    constexpr unsigned kApart = 1;  // does not wait for the default stream
    return driver_.check("the GPU takes no work", driver_.create_stream(&stream_, kApart));
}

CudaDevice::~CudaDevice() {
    if (!context_) return;
    if (enter()) {
        if (stream_) {
            driver_.wait_stream(stream_);
            driver_.destroy_stream(stream_);
        }
        for (const CuModule module : modules_) driver_.unload_module(module);
    }
    driver_.release_context(device_);
}

// ---- Memory -------------------------------------------------------------------------------------

Result<DeviceAddress> CudaDevice::allocate(int64_t bytes) {
    LEMMA_TRY(enter());
    CuAddress memory = 0;
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    if (const CuResult result = driver_.allocate(&memory, size); result != 0) {
        const std::string what = fmt::format("the GPU has no memory for {} MiB", bytes >> 20);
        return std::unexpected(driver_.error(what.c_str(), result));
    }
    return memory;
}

void CudaDevice::free(DeviceAddress memory) {
    if (!enter()) return;
    driver_.wait_stream(stream_);
    driver_.free(memory);
}

Result<void> CudaDevice::upload(DeviceAddress to, const void* from, int64_t bytes) {
    LEMMA_TRY(enter());
    return driver_.check("data cannot be copied to the GPU",
                         driver_.upload(to, from, static_cast<size_t>(bytes), stream_));
}

Result<void> CudaDevice::download(void* to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(enter());
    LEMMA_TRY(driver_.check("data cannot be copied from the GPU",
                            driver_.download(to, from, static_cast<size_t>(bytes), stream_)));
    return wait();
}

Result<void> CudaDevice::copy(DeviceAddress to, DeviceAddress from, int64_t bytes) {
    LEMMA_TRY(enter());
    return driver_.check("data cannot be copied on the GPU",
                         driver_.copy(to, from, static_cast<size_t>(bytes), stream_));
}

// ---- Kernels ------------------------------------------------------------------------------------

Result<const runtime::DeviceKernel*> CudaDevice::load(const std::string& text,
                                                      const std::string& name) {
    LEMMA_TRY(enter());
    constexpr int kErrorLog = 5, kErrorLogBytes = 6;
    std::array<char, 4096> log{};
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    CuModule module = nullptr;
    if (const CuResult result = driver_.load_module(&module, text.c_str(), 2, options, values);
        result != 0) {
        Error error = driver_.error("the driver refuses a kernel", result);
        if (log[0] != '\0') error.message += fmt::format("\n{}", log.data());
        return std::unexpected(std::move(error));
    }
    const std::lock_guard lock(loading_);
    modules_.push_back(module);
    auto kernel = std::make_unique<CudaKernel>();
    LEMMA_TRY(driver_.check("a kernel is not in its module",
                            driver_.get_function(&kernel->function, module, name.c_str())));
    kernels_.push_back(std::move(kernel));
    return kernels_.back().get();
}

Result<void> CudaDevice::launch(const Launch& launch) {
    LEMMA_TRY(enter());
    std::vector<DeviceAddress> addresses(launch.buffers.begin(), launch.buffers.end());
    int64_t begin = launch.begin, end = launch.end;
    std::vector<void*> arguments;
    for (DeviceAddress& address : addresses) arguments.push_back(&address);
    arguments.push_back(&begin);
    arguments.push_back(&end);
    const int64_t blocks = (end - begin + launch.group - 1) / launch.group;
    if (blocks > kMostBlocks || std::ssize(arguments) * 8 > kMostArgumentBytes) {
        return std::unexpected(Error{"a kernel is too large for the GPU"});
    }
    const auto* const kernel = static_cast<const CudaKernel*>(launch.kernel);
    return driver_.check("the GPU does not run a kernel",
                         driver_.launch(kernel->function,
                                        static_cast<unsigned>(blocks),
                                        1,
                                        1,
                                        static_cast<unsigned>(launch.group),
                                        1,
                                        1,
                                        0,
                                        stream_,
                                        arguments.data(),
                                        nullptr));
}

Result<void> CudaDevice::wait() {
    LEMMA_TRY(enter());
    return driver_.check("the GPU failed", driver_.wait_stream(stream_));
}

}  // namespace

Result<std::shared_ptr<runtime::Device>> open_cuda_device(int number) {
    LEMMA_TRY(const CudaDriver* const driver, load_cuda_driver());
    int count = 0;
    LEMMA_TRY(driver->check("the NVIDIA driver finds no GPU", driver->device_count(&count)));
    if (number >= count) {
        return std::unexpected(
            Error{fmt::format("there is no GPU `cuda:{}`: this machine has {}", number, count)});
    }
    CuDevice device = 0;
    LEMMA_TRY(driver->check("the NVIDIA driver finds no GPU", driver->device_get(&device, number)));
    auto opened = std::make_shared<CudaDevice>(*driver, device);
    LEMMA_TRY(opened->open());
    return opened;
}

}  // namespace lemma::device
