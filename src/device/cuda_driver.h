// SPDX-License-Identifier: Apache-2.0
// device/cuda_driver.h — the few functions of NVIDIA's driver that we call. The driver is a library
// of the system, loaded when a device is asked for; building needs nothing of NVIDIA.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace lemma::device {

// The types of the driver's interface, as its documentation has them.
using CuResult = int;
using CuDevice = int;
using CuContext = struct CuContextState*;
using CuModule = struct CuModuleState*;
using CuLinker = struct CuLinkerState*;
using CuFunction = struct CuFunctionState*;
using CuStream = struct CuStreamState*;
using CuEvent = struct CuEventState*;
using CuGraph = struct CuGraphState*;
using CuGraphExec = struct CuGraphExecState*;
using CuAddress = unsigned long long;

struct CudaDriver {
    CuResult (*init)(unsigned flags);
    CuResult (*driver_version)(int* version);
    CuResult (*error_text)(CuResult result, const char** text);
    CuResult (*device_count)(int* count);
    CuResult (*device_get)(CuDevice* device, int number);
    CuResult (*device_name)(char* name, int bytes, CuDevice device);
    CuResult (*device_attribute)(int* value, int attribute, CuDevice device);
    CuResult (*retain_context)(CuContext* context, CuDevice device);
    CuResult (*release_context)(CuDevice device);
    CuResult (*set_context)(CuContext context);
    CuResult (*load_module)(
        CuModule* module, const void* text, unsigned count, int* options, void** values);
    CuResult (*unload_module)(CuModule module);
    CuResult (*get_function)(CuFunction* function, CuModule module, const char* name);
    CuResult (*allocate)(CuAddress* memory, size_t bytes);
    CuResult (*free)(CuAddress memory);
    CuResult (*upload)(CuAddress to, const void* from, size_t bytes, CuStream stream);
    CuResult (*download)(void* to, CuAddress from, size_t bytes, CuStream stream);
    CuResult (*copy)(CuAddress to, CuAddress from, size_t bytes, CuStream stream);
    CuResult (*create_stream)(CuStream* stream, unsigned flags);
    CuResult (*destroy_stream)(CuStream stream);
    CuResult (*wait_stream)(CuStream stream);
    CuResult (*launch)(CuFunction function,
                       unsigned grid_x,
                       unsigned grid_y,
                       unsigned grid_z,
                       unsigned block_x,
                       unsigned block_y,
                       unsigned block_z,
                       unsigned shared_bytes,
                       CuStream stream,
                       void** arguments,
                       void** extra);

    // Older drivers lack some of the following.
    CuResult (*set_function_attribute)(CuFunction function, int attribute, int value);
    CuResult (*create_linker)(unsigned count, int* options, void** values, CuLinker* linker);
    CuResult (*add_to_linker)(CuLinker linker,
                              int type,
                              void* data,
                              size_t bytes,
                              const char* name,
                              unsigned count,
                              int* options,
                              void** values);
    CuResult (*complete_linker)(CuLinker linker, void** code, size_t* bytes);
    CuResult (*destroy_linker)(CuLinker linker);
    CuResult (*create_event)(CuEvent* event, unsigned flags);
    CuResult (*destroy_event)(CuEvent event);
    CuResult (*record_event)(CuEvent event, CuStream stream);
    CuResult (*wait_event)(CuEvent event);
    CuResult (*follow_event)(CuStream stream, CuEvent event, unsigned flags);
    CuResult (*event_time)(float* milliseconds, CuEvent from, CuEvent to);
    CuResult (*allocate_pinned)(void** memory, size_t bytes, unsigned flags);
    CuResult (*free_pinned)(void* memory);
    CuResult (*begin_capture)(CuStream stream, int mode);
    CuResult (*end_capture)(CuStream stream, CuGraph* graph);
    CuResult (*make_graph)(CuGraphExec* made, CuGraph graph, unsigned long long flags);
    CuResult (*launch_graph)(CuGraphExec graph, CuStream stream);
    CuResult (*destroy_made_graph)(CuGraphExec graph);
    CuResult (*destroy_graph)(CuGraph graph);

    bool has_linker() const {
        return create_linker && add_to_linker && complete_linker && destroy_linker;
    }
    bool has_events() const {
        return create_event && destroy_event && record_event && wait_event && event_time;
    }
    bool has_pinned_memory() const { return has_events() && allocate_pinned && free_pinned; }
    bool has_graphs() const {
        return begin_capture && end_capture && make_graph && launch_graph && destroy_made_graph &&
               destroy_graph;
    }

    // What the driver says about a result that is not good; `what` was tried.
    Error error(const char* what, CuResult result) const;
    Result<void> check(const char* what, CuResult result) const;
};

// Loads the driver of the system once. An error if there is none, or if it is too old.
Result<const CudaDriver*> load_cuda_driver();

}  // namespace lemma::device
