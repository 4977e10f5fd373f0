// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lemma::device {

namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kLeastVersion = 11000;  // of the driver: it reads PTX 7.0

// The driver library stays loaded: it does not support being unloaded.
Result<CudaDriver> load_functions() {
    void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return std::unexpected(Error{fmt::format(
            "there is no NVIDIA driver on this machine: `{}` cannot be loaded", kLibrary)});
    }
    CudaDriver driver{};
    const char* missing = nullptr;
    const auto find_any = [&]<class Function>(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library, name));
    };
    const auto find = [&]<class Function>(Function& function, const char* name) {
        find_any(function, name);
        if (!function && !missing) missing = name;
    };
    find(driver.init, "cuInit");
    find(driver.driver_version, "cuDriverGetVersion");
    find(driver.error_text, "cuGetErrorString");
    find(driver.device_count, "cuDeviceGetCount");
    find(driver.device_get, "cuDeviceGet");
    find(driver.device_name, "cuDeviceGetName");
    find(driver.device_attribute, "cuDeviceGetAttribute");
    find(driver.retain_context, "cuDevicePrimaryCtxRetain");
    find(driver.release_context, "cuDevicePrimaryCtxRelease_v2");
    find(driver.set_context, "cuCtxSetCurrent");
    find(driver.load_module, "cuModuleLoadDataEx");
    find(driver.unload_module, "cuModuleUnload");
    find(driver.get_function, "cuModuleGetFunction");
    find(driver.allocate, "cuMemAlloc_v2");
    find(driver.free, "cuMemFree_v2");
    find(driver.upload, "cuMemcpyHtoDAsync_v2");
    find(driver.download, "cuMemcpyDtoHAsync_v2");
    find(driver.copy, "cuMemcpyDtoDAsync_v2");
    find(driver.create_stream, "cuStreamCreate");
    find(driver.destroy_stream, "cuStreamDestroy_v2");
    find(driver.wait_stream, "cuStreamSynchronize");
    find(driver.launch, "cuLaunchKernel");
    find_any(driver.set_function_attribute, "cuFuncSetAttribute");
    find_any(driver.create_linker, "cuLinkCreate_v2");
    find_any(driver.add_to_linker, "cuLinkAddData_v2");
    find_any(driver.complete_linker, "cuLinkComplete");
    find_any(driver.destroy_linker, "cuLinkDestroy");
    find_any(driver.create_event, "cuEventCreate");
    find_any(driver.destroy_event, "cuEventDestroy_v2");
    find_any(driver.record_event, "cuEventRecord");
    find_any(driver.wait_event, "cuEventSynchronize");
    find_any(driver.follow_event, "cuStreamWaitEvent");
    find_any(driver.event_time, "cuEventElapsedTime");
    find_any(driver.allocate_pinned, "cuMemHostAlloc");
    find_any(driver.free_pinned, "cuMemFreeHost");
    find_any(driver.begin_capture, "cuStreamBeginCapture_v2");
    find_any(driver.end_capture, "cuStreamEndCapture");
    find_any(driver.make_graph, "cuGraphInstantiateWithFlags");
    find_any(driver.launch_graph, "cuGraphLaunch");
    find_any(driver.destroy_made_graph, "cuGraphExecDestroy");
    find_any(driver.destroy_graph, "cuGraphDestroy");
    if (missing) {
        return std::unexpected(
            Error{fmt::format("the NVIDIA driver of this machine has no `{}`", missing)});
    }
    return driver;
}

Result<CudaDriver> load_driver() {
    LEMMA_TRY(const CudaDriver driver, load_functions());
    LEMMA_TRY(driver.check("the NVIDIA driver does not start", driver.init(0)));
    int version = 0;
    LEMMA_TRY(driver.check("the NVIDIA driver has no version", driver.driver_version(&version)));
    if (version < kLeastVersion) {
        return std::unexpected(Error{
            fmt::format("the NVIDIA driver is too old: it has CUDA {}.{}, and {}.{} is needed",
                        version / 1000,
                        version % 1000 / 10,
                        kLeastVersion / 1000,
                        kLeastVersion % 1000 / 10)});
    }
    return driver;
}

}  // namespace

Error CudaDriver::error(const char* what, CuResult result) const {
    const char* text = nullptr;
    const bool known = error_text(result, &text) == 0 && text;
    return Error{fmt::format("{}: {}", what, known ? text : fmt::format("error {}", result))};
}

Result<void> CudaDriver::check(const char* what, CuResult result) const {
    if (result == 0) return {};
    return std::unexpected(error(what, result));
}

Result<const CudaDriver*> load_cuda_driver() {
    static const Result<CudaDriver> driver = load_driver();
    if (!driver) return std::unexpected(driver.error());
    return &*driver;
}

}  // namespace lemma::device
