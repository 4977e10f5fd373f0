// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <vector>

#include "device/cuda_driver.h"
#include "device/cuda_queue.h"

namespace lemma::device {

namespace {

using runtime::DeviceAddress;

// Attributes of a GPU, by their numbers in the driver's interface.
constexpr int kThreadsOfBlock = 1, kClock = 13, kMultiprocessors = 16, kMemoryClock = 36,
              kBusWidth = 37, kMajor = 75, kMinor = 76;
constexpr int kLeastMajor = 8;
constexpr const char* kRefuses = "the driver refuses a kernel";

// Options of the driver's compiler: where it writes what is wrong.
class ErrorLog {
public:
    static constexpr unsigned kOptions = 2;

    int* options() { return options_.data(); }
    void** values() { return values_.data(); }
    Error error(Error error) const {
        if (text_[0] != '\0') error.message += fmt::format("\n{}", text_.data());
        return error;
    }

private:
    static constexpr int kText = 5, kTextBytes = 6;

    std::array<char, 4096> text_{};
    std::array<int, kOptions> options_ = {kText, kTextBytes};
    std::array<void*, kOptions> values_ = {text_.data(), reinterpret_cast<void*>(text_.size() - 1)};
};

class CudaDevice final : public runtime::Device {
public:
    CudaDevice(const CudaDriver& driver, CuDevice device, int number)
        : driver_(driver), device_(device), number_(number) {}
    ~CudaDevice() override;
    Result<void> open();

    std::string name() const override { return name_; }
    int number() const override { return number_; }
    Result<DeviceAddress> allocate(int64_t bytes) override;
    void free(DeviceAddress memory) override;
    std::string make() const override;
    Result<std::string> compile(const std::string& text) override;
    Result<const runtime::DeviceKernel*> load(const KernelCode& kernel) override;
    Result<std::unique_ptr<runtime::DeviceQueue>> make_queue() override {
        return make_cuda_queue(driver_, context_);
    }
    Peaks peaks() const override;

private:
    Result<void> enter() const {
        return driver_.check("the GPU is not available", driver_.set_context(context_));
    }
    Result<unsigned> give_memory(CuFunction function, int64_t bytes) const;
    // 0 if the driver does not tell.
    double attribute(int number) const {
        int value = 0;
        return driver_.device_attribute(&value, number, device_) == 0 ? value : 0;
    }

    const CudaDriver& driver_;
    CuDevice device_;
    int number_;
    std::string name_;
    int major_ = 0, minor_ = 0;
    CuContext context_ = nullptr;
    std::mutex loading_;
    std::vector<CuModule> modules_;
    std::vector<std::unique_ptr<CudaKernel>> kernels_;
};

// A process that used a GPU keeps its context to the end: the driver takes long to make one.
void keep_context(const CudaDriver& driver, CuDevice device) {
    static std::mutex mutex;
    static std::set<CuDevice> kept;
    const std::lock_guard lock(mutex);
    CuContext context = nullptr;
    if (kept.insert(device).second) driver.retain_context(&context, device);
}

Result<void> CudaDevice::open() {
    std::array<char, 256> name{};
    LEMMA_TRY(driver_.check("the GPU has no name",
                            driver_.device_name(name.data(), int{name.size()}, device_)));
    name_ = name.data();
    LEMMA_TRY(driver_.check("the GPU has no version",
                            driver_.device_attribute(&major_, kMajor, device_)));
    LEMMA_TRY(driver_.check("the GPU has no version",
                            driver_.device_attribute(&minor_, kMinor, device_)));
    if (major_ < kLeastMajor) {
        return std::unexpected(
            Error{fmt::format("the GPU `{}` is too old: it has compute capability {}.{}, and {}.0 "
                              "is needed",
                              name_,
                              major_,
                              minor_,
                              kLeastMajor)});
    }
    LEMMA_TRY(
        driver_.check("the GPU is not available", driver_.retain_context(&context_, device_)));
    keep_context(driver_, device_);
    return enter();
}

CudaDevice::~CudaDevice() {
    if (!context_) return;
    if (enter()) {
        for (const CuModule module : modules_) driver_.unload_module(module);
    }
    driver_.release_context(device_);
}

// A multiprocessor of 8.0 multiplies and adds 64 floats in a clock, a later one 128.
CudaDevice::Peaks CudaDevice::peaks() const {
    constexpr double kKilo = 1e3, kBitsOfByte = 8, kTwice = 2;
    const double lanes = major_ == 8 && minor_ == 0 ? 64 : 128;
    return {.operations = attribute(kMultiprocessors) * lanes * kTwice * attribute(kClock) * kKilo,
            .bytes = kTwice * attribute(kMemoryClock) * kKilo * attribute(kBusWidth) / kBitsOfByte};
}

// ---- Memory -------------------------------------------------------------------------------------

Result<DeviceAddress> CudaDevice::allocate(int64_t bytes) {
    LEMMA_TRY(enter());
    if (bytes < 0) return std::unexpected(Error{"memory of the GPU without a size"});
    CuAddress memory = 0;
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    if (const CuResult result = driver_.allocate(&memory, size); result != 0) {
        constexpr int64_t kMebi = int64_t{1} << 20;
        const std::string what =
            bytes < kMebi ? fmt::format("the GPU has no memory for {} bytes", bytes)
                          : fmt::format("the GPU has no memory for {} MiB", bytes / kMebi);
        return std::unexpected(driver_.error(what.c_str(), result));
    }
    return memory;
}

void CudaDevice::free(DeviceAddress memory) {
    if (enter()) driver_.free(memory);
}

// ---- Kernels ------------------------------------------------------------------------------------

// Lets launches of the kernel give a group so many bytes. The driver wants to know before.
Result<unsigned> CudaDevice::give_memory(CuFunction function, int64_t bytes) const {
    constexpr int kMostLaunchedMemory = 8;
    if (bytes == 0) return 0U;
    if (!driver_.set_function_attribute || bytes < 0 || bytes > INT32_MAX) {
        return std::unexpected(
            Error{fmt::format("the GPU gives a kernel no group memory of {} bytes", bytes)});
    }
    const auto size = static_cast<int>(bytes);
    LEMMA_TRY(driver_.check("the GPU has too little group memory for a kernel",
                            driver_.set_function_attribute(function, kMostLaunchedMemory, size)));
    return static_cast<unsigned>(bytes);
}

std::string CudaDevice::make() const {
    int version = 0;
    driver_.driver_version(&version);
    return fmt::format("sm_{}{} {}", major_, minor_, version);
}

// Modules are loaded one by one, and a module of PTX is compiled meanwhile. The driver's linker
// compiles for any number of threads at a time.
Result<std::string> CudaDevice::compile(const std::string& text) {
    if (!driver_.has_linker()) return text;
    LEMMA_TRY(enter());
    constexpr int kPtx = 1;
    ErrorLog log;
    CuLinker linker = nullptr;
    LEMMA_TRY(driver_.check(
        kRefuses, driver_.create_linker(ErrorLog::kOptions, log.options(), log.values(), &linker)));
    auto* const bytes = const_cast<char*>(text.c_str());
    CuResult result =
        driver_.add_to_linker(linker, kPtx, bytes, text.size() + 1, "kernel", 0, nullptr, nullptr);
    void* code = nullptr;
    size_t size = 0;
    if (result == 0) result = driver_.complete_linker(linker, &code, &size);
    std::string made;
    if (result == 0) made.assign(static_cast<const char*>(code), size);
    driver_.destroy_linker(linker);
    if (result != 0) return std::unexpected(log.error(driver_.error(kRefuses, result)));
    return made;
}

Result<const runtime::DeviceKernel*> CudaDevice::load(const KernelCode& code) {
    LEMMA_TRY(enter());
    ErrorLog log;
    CuModule module = nullptr;
    if (const CuResult result = driver_.load_module(
            &module, code.code.c_str(), ErrorLog::kOptions, log.options(), log.values());
        result != 0) {
        return std::unexpected(log.error(driver_.error(kRefuses, result)));
    }
    const std::lock_guard lock(loading_);
    modules_.push_back(module);
    auto kernel = std::make_unique<CudaKernel>();
    LEMMA_TRY(driver_.check("a kernel is not in its module",
                            driver_.get_function(&kernel->function, module, code.name.c_str())));
    kernel->most_threads = static_cast<int64_t>(attribute(kThreadsOfBlock));
    kernel->aligned = code.aligned;
    LEMMA_TRY(kernel->group_memory, give_memory(kernel->function, code.group_memory));
    kernels_.push_back(std::move(kernel));
    return kernels_.back().get();
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
    auto opened = std::make_shared<CudaDevice>(*driver, device, number);
    LEMMA_TRY(opened->open());
    return opened;
}

}  // namespace lemma::device
