// SPDX-License-Identifier: Apache-2.0
// A driver of NVIDIA without a GPU, for tests. Its memory is that of the process. It does work when
// somebody waits for it, so that what was not waited for is not there. Each kernel copies its first
// buffer to its last one, a float for each item.
//
// Variables of the environment, which each call reads:
//   FAKE_CUDA_FAIL=NAME=CODE[@N],…  a function fails with the code, from its Nth call on
//   FAKE_CUDA_VERSION=12080         the version of the driver
//   FAKE_CUDA_GPUS=1                the number of GPUs
//   FAKE_CUDA_CAPABILITY=90         of each GPU
//   FAKE_CUDA_MEMORY=BYTES          of each GPU
//   FAKE_CUDA_LOG=FILE              gets the number of calls of each function, at the end
// Compiled with FAKE_CUDA_OLD it lacks graphs, events and pinned memory, and with FAKE_CUDA_BROKEN
// also `cuLaunchKernel`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace {

using Address = unsigned long long;
using Work = std::function<void()>;

constexpr int kGood = 0, kInvalid = 1, kOutOfMemory = 2, kInvalidText = 218, kNotFound = 500;
constexpr int kNoCapture = 900;

struct Stream;
struct Event {
    bool done = true;
    double milliseconds = 0;
    Stream* stream = nullptr;
};
struct Graph {
    std::vector<Work> work;
};
struct Stream {
    std::deque<Work> work;
    std::unique_ptr<Graph> capture;
    bool spoiled = false;  // something that cannot be captured
};
struct Function {
    size_t parameters = 0;
    unsigned most_memory = 48 << 10;  // that a launch gives a block
};
struct Module {
    std::string text;
    std::map<std::string, Function> functions;
};

struct Linker {
    Module module;
    char* log = nullptr;
};

std::recursive_mutex lock;
std::map<std::string, int> calls;
std::map<Address, size_t> memory;
std::map<const void*, size_t> pinned;
double now = 0;  // a millisecond for each launch

struct Log {
    ~Log() {
        const char* const path = std::getenv("FAKE_CUDA_LOG");
        std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
        if (!file) return;
        for (const auto& [name, count] : calls) std::fprintf(file, "%s %d\n", name.c_str(), count);
        std::fprintf(file, "left %zu\n", memory.size() + pinned.size());
        std::fclose(file);
    }
} log_at_end;

long setting(const char* name, long usual) {
    const char* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : usual;
}

// Counts the call. Its result, if the environment wants it to fail.
int enter(const std::string& name) {
    const int count = ++calls[name];
    const char* const text = std::getenv("FAKE_CUDA_FAIL");
    const std::string all = std::string(",") + (text ? text : "");
    const size_t at = all.find("," + name + "=");
    if (at == std::string::npos) return kGood;
    char* rest = nullptr;
    const long code = std::strtol(all.c_str() + at + name.size() + 2, &rest, 10);
    const long from = *rest == '@' ? std::strtol(rest + 1, nullptr, 10) : 1;
    return count >= from ? static_cast<int>(code) : kGood;
}

#define ENTER(name)                    \
    const std::lock_guard guard(lock); \
    if (const int failed = enter(name); failed != kGood) return failed

void work_next(Stream& stream) {
    const Work work = std::move(stream.work.front());
    stream.work.pop_front();
    work();
}

// Bytes from the address to the end of its memory.
size_t rest_of(Address at) {
    auto found = memory.upper_bound(at);
    if (found == memory.begin()) return 0;
    --found;
    const size_t begin = at - found->first;
    return begin < found->second ? found->second - begin : 0;
}

bool is_pinned(const void* at) {
    auto found = pinned.upper_bound(at);
    if (found == pinned.begin()) return false;
    --found;
    return static_cast<const char*>(at) < static_cast<const char*>(found->first) + found->second;
}

void* pointer(Address at) { return reinterpret_cast<void*>(at); }

int add(Stream* stream, Work work) {
    if (stream->capture) {
        stream->capture->work.push_back(std::move(work));
    } else {
        stream->work.push_back(std::move(work));
    }
    return kGood;
}

// The kernels of a text, with the number of their parameters.
bool read_text(Module& module) {
    const std::string kEntry = ".entry ";
    for (size_t at = module.text.find(kEntry); at != std::string::npos;
         at = module.text.find(kEntry, at + 1)) {
        const size_t open = module.text.find('(', at);
        const size_t close = module.text.find(')', at);
        if (open == std::string::npos || close == std::string::npos) return false;
        const size_t begin = at + kEntry.size();
        Function& function = module.functions[module.text.substr(begin, open - begin)];
        for (size_t next = module.text.find(".param .", open); next < close;
             next = module.text.find(".param .", next + 1)) {
            ++function.parameters;
        }
    }
    return !module.functions.empty();
}

}  // namespace

// ---- The driver ---------------------------------------------------------------------------------

FAKE cuInit(unsigned) {
    ENTER("cuInit");
    return kGood;
}
FAKE cuDriverGetVersion(int* version) {
    ENTER("cuDriverGetVersion");
    *version = static_cast<int>(setting("FAKE_CUDA_VERSION", 12080));
    return kGood;
}
FAKE cuGetErrorString(int result, const char** text) {
    static const std::map<int, const char*> texts = {{kOutOfMemory, "out of memory"},
                                                     {46, "device busy or unavailable"},
                                                     {100, "no device is detected"},
                                                     {kInvalidText, "a text that is no PTX"},
                                                     {700, "an illegal memory access"},
                                                     {719, "unspecified launch failure"}};
    const auto found = texts.find(result);
    *text = found != texts.end() ? found->second : nullptr;
    return found != texts.end() ? kGood : kInvalid;
}
FAKE cuDeviceGetCount(int* count) {
    ENTER("cuDeviceGetCount");
    *count = static_cast<int>(setting("FAKE_CUDA_GPUS", 1));
    return kGood;
}
FAKE cuDeviceGet(int* device, int number) {
    ENTER("cuDeviceGet");
    *device = number;
    return kGood;
}
FAKE cuDeviceGetName(char* name, int bytes, int) {
    ENTER("cuDeviceGetName");
    std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
    return kGood;
}
// Numbers of a small GPU.
FAKE cuDeviceGetAttribute(int* value, int attribute, int) {
    ENTER("cuDeviceGetAttribute");
    const auto capability = static_cast<int>(setting("FAKE_CUDA_CAPABILITY", 90));
    static const std::map<int, int> values = {
        {1, 1024}, {13, 1'000'000}, {16, 10}, {36, 1'000'000}, {37, 256}};
    const auto found = values.find(attribute);
    *value = attribute == 75         ? capability / 10
             : attribute == 76       ? capability % 10
             : found != values.end() ? found->second
                                     : 0;
    return kGood;
}
FAKE cuDevicePrimaryCtxRetain(void** context, int) {
    ENTER("cuDevicePrimaryCtxRetain");
    static int only;
    *context = &only;
    return kGood;
}
FAKE cuDevicePrimaryCtxRelease_v2(int) {
    ENTER("cuDevicePrimaryCtxRelease_v2");
    return kGood;
}
FAKE cuCtxSetCurrent(void*) {
    ENTER("cuCtxSetCurrent");
    return kGood;
}

// ---- Kernels ------------------------------------------------------------------------------------

FAKE cuModuleLoadDataEx(
    Module** module, const void* text, unsigned count, int* options, void** values) {
    ENTER("cuModuleLoadDataEx");
    auto made = std::make_unique<Module>();
    made->text = static_cast<const char*>(text);
    if (!read_text(*made)) {
        constexpr int kErrorLog = 5;
        for (unsigned i = 0; i < count; ++i) {
            if (options[i] == kErrorLog) std::strcpy(static_cast<char*>(values[i]), "line 1: no");
        }
        return kInvalidText;
    }
    *module = made.release();
    return kGood;
}
FAKE cuModuleUnload(Module* module) {
    ENTER("cuModuleUnload");
    delete module;
    return kGood;
}
FAKE cuModuleGetFunction(Function** function, Module* module, const char* name) {
    ENTER("cuModuleGetFunction");
    const auto found = module->functions.find(name);
    if (found == module->functions.end()) return kNotFound;
    *function = &found->second;
    return kGood;
}
#ifndef FAKE_CUDA_OLD
// The linker's code of a text is the text.
FAKE cuLinkCreate_v2(unsigned count, int* options, void** values, Linker** linker) {
    ENTER("cuLinkCreate_v2");
    auto made = std::make_unique<Linker>();
    constexpr int kErrorLog = 5;
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == kErrorLog) made->log = static_cast<char*>(values[i]);
    }
    *linker = made.release();
    return kGood;
}
FAKE cuLinkAddData_v2(
    Linker* linker, int, void* data, size_t bytes, const char*, unsigned, int*, void**) {
    ENTER("cuLinkAddData_v2");
    linker->module.text.assign(static_cast<const char*>(data), bytes - 1);
    if (read_text(linker->module)) return kGood;
    std::strcpy(linker->log, "line 1: no");
    return kInvalidText;
}
FAKE cuLinkComplete(Linker* linker, void** code, size_t* bytes) {
    ENTER("cuLinkComplete");
    *code = linker->module.text.data();
    *bytes = linker->module.text.size();
    return kGood;
}
FAKE cuLinkDestroy(Linker* linker) {
    ENTER("cuLinkDestroy");
    delete linker;
    return kGood;
}
FAKE cuFuncSetAttribute(Function* function, int attribute, int value) {
    ENTER("cuFuncSetAttribute");
    constexpr int kMostMemory = 8;
    if (attribute != kMostMemory || value > (99 << 10)) return kInvalid;
    function->most_memory = static_cast<unsigned>(value);
    return kGood;
}
#endif
#ifndef FAKE_CUDA_BROKEN
FAKE cuLaunchKernel(Function* function,
                    unsigned grid,
                    unsigned,
                    unsigned,
                    unsigned block,
                    unsigned,
                    unsigned,
                    unsigned memory_of_block,
                    Stream* stream,
                    void** arguments,
                    void**) {
    ENTER("cuLaunchKernel");
    std::vector<Address> values;
    for (size_t i = 0; i < function->parameters; ++i) {
        values.push_back(*static_cast<const Address*>(arguments[i]));
    }
    if (values.size() < 3 || grid == 0 || block == 0 || block > 1024) return kInvalid;
    if (memory_of_block > function->most_memory) return kInvalid;
    const Address from = values.front(), to = values[values.size() - 3];
    const size_t items = values.back() - values[values.size() - 2];
    return add(stream, [=] {
        const size_t bytes = std::min({items * sizeof(float), rest_of(from), rest_of(to)});
        std::memmove(pointer(to), pointer(from), bytes);
        ++now;
    });
}
#endif

// ---- Memory -------------------------------------------------------------------------------------

FAKE cuMemAlloc_v2(Address* at, size_t bytes) {
    ENTER("cuMemAlloc_v2");
    size_t used = bytes;
    for (const auto& [address, size] : memory) used += size;
    const auto most = static_cast<size_t>(setting("FAKE_CUDA_MEMORY", 1L << 30));
    if (used > most) return kOutOfMemory;
    void* const made = std::malloc(bytes);
    if (!made) return kOutOfMemory;
    std::memset(made, 0x5A, bytes);
    *at = reinterpret_cast<Address>(made);
    memory[*at] = bytes;
    return kGood;
}
FAKE cuMemFree_v2(Address at) {
    ENTER("cuMemFree_v2");
    if (memory.erase(at) == 0) return kInvalid;
    std::free(pointer(at));
    return kGood;
}
// Pageable memory is read at once, pinned memory when the copy is done.
FAKE cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream* stream) {
    ENTER("cuMemcpyHtoDAsync_v2");
    if (rest_of(to) < bytes) return kInvalid;
    stream->spoiled |= stream->capture != nullptr;
    if (is_pinned(from)) {
        return add(stream, [=] { std::memcpy(pointer(to), from, bytes); });
    }
    const auto* const first = static_cast<const char*>(from);
    return add(stream, [to, copy = std::string(first, first + bytes)] {
        std::memcpy(pointer(to), copy.data(), copy.size());
    });
}
FAKE cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream* stream) {
    ENTER("cuMemcpyDtoHAsync_v2");
    if (rest_of(from) < bytes) return kInvalid;
    stream->spoiled |= stream->capture != nullptr;
    return add(stream, [=] { std::memcpy(to, pointer(from), bytes); });
}
FAKE cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream* stream) {
    ENTER("cuMemcpyDtoDAsync_v2");
    if (rest_of(from) < bytes || rest_of(to) < bytes) return kInvalid;
    return add(stream, [=] { std::memmove(pointer(to), pointer(from), bytes); });
}

// ---- Streams ------------------------------------------------------------------------------------

FAKE cuStreamCreate(Stream** stream, unsigned) {
    ENTER("cuStreamCreate");
    *stream = new Stream;
    return kGood;
}
FAKE cuStreamDestroy_v2(Stream* stream) {
    ENTER("cuStreamDestroy_v2");
    delete stream;
    return kGood;
}
// A GPU that failed does no more work.
FAKE cuStreamSynchronize(Stream* stream) {
    const std::lock_guard guard(lock);
    if (const int failed = enter("cuStreamSynchronize"); failed != kGood) {
        stream->work.clear();
        return failed;
    }
    if (stream->capture) return kNoCapture;
    while (!stream->work.empty()) work_next(*stream);
    return kGood;
}

#ifndef FAKE_CUDA_OLD
FAKE cuMemHostAlloc(void** at, size_t bytes, unsigned) {
    ENTER("cuMemHostAlloc");
    *at = std::malloc(bytes);
    pinned[*at] = bytes;
    return kGood;
}
FAKE cuMemFreeHost(void* at) {
    ENTER("cuMemFreeHost");
    if (pinned.erase(at) == 0) return kInvalid;
    std::free(at);
    return kGood;
}
FAKE cuEventCreate(Event** event, unsigned) {
    ENTER("cuEventCreate");
    *event = new Event;
    return kGood;
}
FAKE cuEventDestroy_v2(Event* event) {
    ENTER("cuEventDestroy_v2");
    delete event;
    return kGood;
}
FAKE cuEventRecord(Event* event, Stream* stream) {
    ENTER("cuEventRecord");
    if (!stream) return kGood;  // the default stream has no work
    event->done = false;
    event->stream = stream;
    return add(stream, [=] { *event = {true, now, stream}; });
}
FAKE cuEventSynchronize(Event* event) {
    ENTER("cuEventSynchronize");
    while (!event->done) work_next(*event->stream);
    return kGood;
}
FAKE cuStreamWaitEvent(Stream*, Event* event, unsigned) {
    ENTER("cuStreamWaitEvent");
    while (!event->done && event->stream && !event->stream->work.empty()) {
        work_next(*event->stream);
    }
    return kGood;
}
FAKE cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
    ENTER("cuEventElapsedTime");
    if (!from->done || !to->done) return kInvalid;
    *milliseconds = static_cast<float>(to->milliseconds - from->milliseconds);
    return kGood;
}
FAKE cuStreamBeginCapture_v2(Stream* stream, int) {
    ENTER("cuStreamBeginCapture_v2");
    if (stream->capture) return kNoCapture;
    stream->capture = std::make_unique<Graph>();
    stream->spoiled = false;
    return kGood;
}
// The capture ends in any case.
FAKE cuStreamEndCapture(Stream* stream, Graph** graph) {
    const std::unique_ptr<Graph> made = std::exchange(stream->capture, nullptr);
    *graph = nullptr;
    ENTER("cuStreamEndCapture");
    if (!made || stream->spoiled) return kNoCapture;
    *graph = new Graph(*made);
    return kGood;
}
FAKE cuGraphInstantiateWithFlags(Graph** made, Graph* graph, unsigned long long) {
    ENTER("cuGraphInstantiateWithFlags");
    *made = new Graph(*graph);
    return kGood;
}
FAKE cuGraphLaunch(Graph* graph, Stream* stream) {
    ENTER("cuGraphLaunch");
    for (const Work& work : graph->work) add(stream, work);
    return kGood;
}
FAKE cuGraphExecDestroy(Graph* graph) {
    ENTER("cuGraphExecDestroy");
    delete graph;
    return kGood;
}
FAKE cuGraphDestroy(Graph* graph) {
    ENTER("cuGraphDestroy");
    delete graph;
    return kGood;
}
#endif
