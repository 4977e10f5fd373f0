// SPDX-License-Identifier: Apache-2.0
// Models as object files and shared libraries against the engine: the same kernels give the same
// bits.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "codegen/compiler.h"
#include "codegen/elf_object.h"
#include "codegen/shared_object.h"
#include "engine/data.h"
#include "engine/engine.h"
#include "engine/freeze.h"
#include "session/tensors.h"
#include "support/engine_models.h"
#include "tensor/tensor.h"

namespace lemma {
namespace {

namespace fs = std::filesystem;
using interpret::Array;
using interpret::NamedArrays;
using testing_support::load_text;
using testing_support::small_weight;

using RunFunction = int (*)(const void* const* inputs, void* const* outputs);
using Piece = void (*)(void* argument, int64_t begin, int64_t end);
using ParallelFor = void (*)(void* context, int64_t items, Piece piece, void* argument);

loop::BufferView view_of(const loop::FrozenTensor& tensor) {
    return {{}, tensor.dtype, tensor.shape, loop::row_major(tensor.shape)};
}

const Array& array_of(const NamedArrays& arrays, const std::string& name) {
    const auto found = arrays.find(name);
    if (found != arrays.end()) return found->second.at(0);
    const size_t dot = name.rfind('.');
    return arrays.at(name.substr(0, dot)).at(std::stoul(name.substr(dot + 1)));
}

Result<loop::FrozenPlan> frozen_plan(interpret::State& state, const std::string& target) {
    NamedArrays inputs;
    LEMMA_TRY(session::add_random_inputs(state.program(), 3, inputs));
    LEMMA_TRY(codegen::MachineTarget machine, codegen::any_target(target));
    LEMMA_TRY(engine::Frozen frozen,
              engine::freeze(state, inputs, {.target = machine, .max_loop_steps = 1000}));
    for (const engine::Obstacle& obstacle : frozen.obstacles) {
        return std::unexpected(Error{"an obstacle: " + obstacle.why});
    }
    return std::move(frozen.plan);
}

Result<std::string> object_of(loop::FrozenPlan& plan, const std::string& target) {
    LEMMA_TRY(codegen::MachineTarget machine, codegen::any_target(target));
    return codegen::Compiler::create_for(machine, {})->object(plan, "model", 2);
}

// A model that is loaded as a library.
class Library {
public:
    explicit Library(const std::string& text, const std::string& target = "") {
        state_ = load_text(text, small_weight);
        if (!state_) return;
        auto plan = frozen_plan(*state_, target);
        EXPECT_TRUE(plan) << plan.error().message;
        if (plan) load(std::move(*plan), target);
    }
    Library(loop::FrozenPlan plan, const std::string& target) { load(std::move(plan), target); }
    ~Library() {
        if (handle_) dlclose(handle_);
        std::error_code ignored;
        fs::remove(file_, ignored);
    }

    bool usable() const { return run_ != nullptr; }
    const ir::Program& program() const { return state_->program(); }
    const std::string& object() const { return object_; }
    void reset() { reinterpret_cast<void (*)()>(dlsym(handle_, "model_reset"))(); }
    void parallel(ParallelFor loop, void* context) {
        using Set = void (*)(ParallelFor, void*);
        reinterpret_cast<Set>(dlsym(handle_, "model_set_parallel_for"))(loop, context);
    }

    const loop::FrozenPlan& plan() const { return plan_; }
    int run(const void* const* inputs, void* const* outputs) { return run_(inputs, outputs); }
    void start(const void* instance) {
        reinterpret_cast<void (*)(const void*)>(dlsym(handle_, "model_start"))(instance);
    }
    int run_on(const void* instance, const void* const* inputs, void* const* outputs) {
        using RunOn = int (*)(const void*, const void* const*, void* const*);
        return reinterpret_cast<RunOn>(dlsym(handle_, "model_run_on"))(instance, inputs, outputs);
    }
    // The status of the run; `outputs` by their names.
    int run(const NamedArrays& inputs, std::map<std::string, Array>& outputs) {
        std::vector<std::vector<double>> memory;
        const auto room = [&](const loop::FrozenTensor& tensor) -> void* {
            memory.emplace_back(static_cast<size_t>(tensor.bytes) / 8 + 1);
            return memory.back().data();
        };
        std::vector<const void*> from;
        std::vector<void*> to;
        for (const loop::FrozenTensor& tensor : plan_.inputs) {
            void* const data = room(tensor);
            engine::to_memory(array_of(inputs, tensor.name), view_of(tensor), data);
            from.push_back(data);
        }
        for (const loop::FrozenTensor& tensor : plan_.outputs) to.push_back(room(tensor));
        const int status = run_(from.data(), to.data());
        for (size_t i = 0; i < to.size(); ++i) {
            const loop::FrozenTensor& tensor = plan_.outputs[i];
            outputs[tensor.name] = *engine::from_memory(view_of(tensor), to[i]);
        }
        return status;
    }

private:
    void load(loop::FrozenPlan plan, const std::string& target) {
        plan_ = std::move(plan);
        const auto object = object_of(plan_, target);
        ASSERT_TRUE(object) << object.error().message;
        object_ = *object;
        const auto library = codegen::link_shared(object_, "model.so");
        ASSERT_TRUE(library) << library.error().message;
        static int count = 0;
        file_ = fs::temp_directory_path() / fmt::format("lemma-model-{}-{}.so", getpid(), ++count);
        std::ofstream(file_, std::ios::binary) << *library;
        handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(handle_, nullptr) << dlerror();
        run_ = reinterpret_cast<RunFunction>(dlsym(handle_, "model_run"));
        ASSERT_NE(run_, nullptr);
    }

    std::unique_ptr<interpret::State> state_;
    loop::FrozenPlan plan_;
    std::string object_;
    fs::path file_;
    void* handle_ = nullptr;
    RunFunction run_ = nullptr;
};

void expect_same_bits(const Array& got, const Array& want, const std::string& where) {
    ASSERT_EQ(got.shape, want.shape) << where;
    EXPECT_EQ(got.integers, want.integers) << where;
    ASSERT_EQ(got.reals.size(), want.reals.size()) << where;
    for (size_t i = 0; i < want.reals.size(); ++i) {
        ASSERT_EQ(std::bit_cast<uint64_t>(got.reals[i]), std::bit_cast<uint64_t>(want.reals[i]))
            << where << "[" << i << "]: " << got.reals[i] << " and " << want.reals[i];
    }
}

using Change = std::function<void(NamedArrays&, int)>;

void expect_same_runs(Library& library,
                      const std::string& text,
                      const std::string& target,
                      const Change& change) {
    const auto state = load_text(text, small_weight);
    auto engine = engine::Engine::create(*state, {.compiler = {.target = target}});
    ASSERT_TRUE(engine) << engine.error().message;
    for (int run = 0; run < 3; ++run) {
        NamedArrays inputs;
        ASSERT_TRUE(session::add_random_inputs(library.program(), 3 + run, inputs));
        if (change) change(inputs, run);
        const auto want = (*engine)->run(inputs);
        ASSERT_TRUE(want) << want.error().message;
        std::map<std::string, Array> got;
        ASSERT_EQ(library.run(inputs, got), 0) << text;
        for (const auto& [name, array] : got) {
            expect_same_bits(
                array, array_of(*want, name), fmt::format("{} of run {}\n{}", name, run, text));
        }
    }
}

void compare(const std::string& text, const Change& change = {}, const std::string& target = "") {
    Library library(text, target);
    ASSERT_TRUE(library.usable());
    expect_same_runs(library, text, target, change);
}

constexpr const char* kConvolutions = R"(import nn; import math;
graph G {
    @input { x: real[1, 3, 17, 19]; }
    @output { y: real[1, 24, 17, 19]; s: real[1, 5]; }
    @variable { w: real[24, 3, 3, 3]; b: real[24]; v: real[5, 24]; }
    @compose {
        c = nn.conv{padding = [1, 1, 1, 1]}(x, w, b);
        y = nn.relu(c);
        m = math.mean_reduce{axes = [2, 3], squeeze = true}(y);
        l = nn.linear(m, v);
        s = nn.softmax{axes = [1]}(l);
    }
})";
constexpr const char* kLstm = R"(import nn;
graph G {
    @input { x: real[7, 2, 16]; }
    @output { y: real[~|7, 2, 24]; h: real[2, 24]; c: real[2, 24]; }
    @variable { w: real[96, 16]; r: real[96, 24]; b: real[96]; h0: real[2, 24]; c0: real[2, 24]; }
    @compose { y, h, c = nn.lstm_loop(x, w, r, b, h0, c0); }
})";
constexpr const char* kState = R"(import math;
graph G {
    @input { x: real[19]; }
    @output { y: real[19]; z: real[19]; }
    @variable { a: real[19]; b: real[19]; }
    @compose { y = math.add(a, x); z = math.add(b, x); }
    @update { a = b; b = math.add(a, x); }
})";

constexpr const char* kLoops = R"(import math; import linalg; import layout;
graph G {
    @input { x: real[20]; a: real[9, 9]; n: int[]; }
    @output { y: real[20]; k: int[]; p: real[9, 9]; }
    @compose {
        y, k, ~ = with s = x, count = 0, moving = true while moving do..(50) {
            half = math.mul(s, 0.5);
            next = math.add(count, 1);
            size = math.abs(half);
            largest = math.max_reduce{squeeze=true}(size);
            more = math.gt(largest, 0.01);
            yield half, next, more;
        };
        start = layout.uniform{shape=[9, 9]}(0.5);
        p = with q = start do..(n) linalg.matmul(q, a);
    }
})";
constexpr const char* kBranch = R"(import math;
graph G {
    @input { x: real[20]; n: int[]; }
    @output { y: real[20]; }
    @compose {
        few = math.lt(n, 1);
        one = math.lt(n, 2);
        y = if few then math.mul(x, 3.0) elif one then math.sin(x) else math.add(x, x);
    }
})";

TEST(ModelObject, GivesTheBitsOfTheEngine) {
    compare(kConvolutions);
    compare(kLstm);
    const auto count = [](NamedArrays& inputs, int run) { inputs["n"][0].integers[0] = run; };
    compare(kLoops, count);
    compare(kBranch, count);
}

// Vectors of 64, 32 and 16 bytes; the last ones without fused multiplication and addition.
TEST(ModelObject, GivesTheBitsOfTheEngineForEveryTarget) {
#ifdef __x86_64__
    for (const char* const target : {"avx512", "avx2", "sse2"}) {
        if (!codegen::find_target(target)) continue;
        compare(kConvolutions, {}, target);
        compare(kLstm, {}, target);
    }
#endif
}

TEST(ModelObject, KeepsVariablesUntilAReset) {
    Library library(kState);
    ASSERT_TRUE(library.usable());
    expect_same_runs(library, kState, "", {});
    library.reset();
    expect_same_runs(library, kState, "", {});
}

// Two instances in the memory of the caller do not know of each other.
TEST(ModelObject, RunsInTheMemoryOfTheCaller) {
    Library library(kState);
    ASSERT_TRUE(library.usable());
    struct alignas(64) Memory {
        unsigned char arena[4096], state[4096];
    };
    ASSERT_LE(library.plan().arena_bytes, 4096);
    ASSERT_LE(library.plan().initial_state.size(), 4096U);
    std::vector<Memory> memory(2);
    std::vector<float> x(19, 0.25F);
    std::vector<float> y(19);
    std::vector<float> z(19);
    const void* const inputs[] = {x.data()};
    void* const outputs[] = {y.data(), z.data()};
    std::vector<float> sums;
    for (const size_t which : {0, 1, 0, 0, 1, 1}) {
        if (sums.size() < 2) std::memset(&memory[which], 0xFF, sizeof(Memory));
        const void* const instance[] = {memory[which].arena, memory[which].state, nullptr, nullptr};
        if (sums.size() < 2) library.start(instance);
        EXPECT_EQ(library.run_on(instance, inputs, outputs), 0);
        sums.push_back(z[0]);
    }
    EXPECT_EQ(sums[0], sums[1]);  // both begin with the initial values
    EXPECT_EQ(sums[2], sums[4]);
    EXPECT_EQ(sums[3], sums[5]);
    EXPECT_NE(sums[0], sums[2]);
}

// The caller's loop gets all items of the large kernels, and the results stay the same.
TEST(ModelObject, RunsKernelsInTheLoopOfTheCaller) {
    Library library(kConvolutions);
    ASSERT_TRUE(library.usable());
    int64_t items = 0;
    library.parallel(
        [](void* context, int64_t count, Piece piece, void* argument) {
            *static_cast<int64_t*>(context) += count;
            for (int64_t i = count; i-- > 0;) piece(argument, i, i + 1);
        },
        &items);
    expect_same_runs(library, kConvolutions, "", {});
    EXPECT_GT(items, 3);
    const int64_t before = items;
    library.parallel(nullptr, nullptr);
    expect_same_runs(library, kConvolutions, "", {});
    EXPECT_EQ(items, before);
}

TEST(ModelObject, ReportsAnIndexOutsideOfItsTensor) {
    Library library(R"(import layout;
graph G {
    @input { x: real[20]; n: int[3]; }
    @output { y: real[3]; }
    @compose { y = layout.gather{axis = 0}(x, n); }
})");
    ASSERT_TRUE(library.usable());
    const std::vector<float> x(20, 1.5F);
    std::vector<int64_t> n = {0, 19, 20};
    float y[3] = {};
    const void* const inputs[] = {x.data(), n.data()};
    void* const outputs[] = {y};
    EXPECT_EQ(library.run(inputs, outputs), static_cast<int>(loop::FrozenError::Index));
    n[2] = 5;
    EXPECT_EQ(library.run(inputs, outputs), 0);
    EXPECT_EQ(y[2], 1.5F);
}

TEST(ModelObject, ReportsALoopThatDoesNotEnd) {
    Library library(R"(import math;
graph G {
    @input { x: real[4]; n: int[]; }
    @output { y: real[4]; }
    @compose {
        more = math.gt(n, 0);
        y = with s = x while more do math.mul(s, 0.5);
    }
})");
    ASSERT_TRUE(library.usable());
    const float x[4] = {1, 2, 3, 4};
    int64_t n = 1;
    float y[4] = {};
    const void* const inputs[] = {x, &n};
    void* const outputs[] = {y};
    EXPECT_EQ(library.run(inputs, outputs), static_cast<int>(loop::FrozenError::Unending));
    n = 0;
    EXPECT_EQ(library.run(inputs, outputs), 0);
    EXPECT_EQ(y[3], 4);
}

TEST(ModelObject, IsTheSameEveryTime) {
    for (const char* const target : {"", "neon"}) {
        std::string made[2];
        for (std::string& object : made) {
            const auto state = load_text(kLstm, small_weight);
            auto plan = frozen_plan(*state, target);
            ASSERT_TRUE(plan) << plan.error().message;
            const auto done = object_of(*plan, target);
            ASSERT_TRUE(done) << done.error().message;
            object = *done;
        }
        EXPECT_TRUE(made[0] == made[1]) << target;
    }
}

// ---- The object file ----------------------------------------------------------------------------

// Everything that is not in libc or libm is inside.
TEST(ModelObject, NeedsFunctionsOfTheCLibraryOnly) {
    for (const char* const target : {"", "generic", "neon"}) {
        const auto state = load_text(kConvolutions, small_weight);
        auto plan = frozen_plan(*state, target);
        ASSERT_TRUE(plan) << plan.error().message;
        const auto made = object_of(*plan, target);
        ASSERT_TRUE(made) << made.error().message;
        const auto object = codegen::read_model_elf(*made);
        ASSERT_TRUE(object) << object.error().message;
        std::vector<std::string> exported;
        for (size_t i = 1; i < object->symbols.size(); ++i) {
            const std::string name(object->names[i]);
            if (object->symbols[i].st_shndx == SHN_UNDEF) {
                EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
                EXPECT_FALSE(name.starts_with("_")) << name;
            } else if (ELF64_ST_BIND(object->symbols[i].st_info) != STB_LOCAL) {
                exported.push_back(name);
            }
        }
        std::ranges::sort(exported);
        EXPECT_EQ(exported,
                  (std::vector<std::string>{"model_reset",
                                            "model_run",
                                            "model_run_on",
                                            "model_set_parallel_for",
                                            "model_start"}));
        EXPECT_EQ(object->machine, target == std::string("neon") ? EM_AARCH64 : EM_X86_64);
        const auto library = codegen::link_shared(*made, "model.so");
        EXPECT_TRUE(library) << library.error().message;
    }
}

// Damages the object in many ways: an error or a wrong library, but no access out of bounds.
TEST(ModelObject, LinkerStaysWithinDamagedObjects) {
    const auto state = load_text(kState, small_weight);
    auto plan = frozen_plan(*state, "");
    ASSERT_TRUE(plan) << plan.error().message;
    const auto made = object_of(*plan, "");
    ASSERT_TRUE(made) << made.error().message;
    for (size_t bytes = 0; bytes < made->size(); bytes += 7) {
        EXPECT_FALSE(codegen::link_shared(made->substr(0, bytes), "model.so")) << bytes;
    }
    std::mt19937 random(1);
    size_t refused = 0;
    for (size_t i = 0; i < 2'000; ++i) {
        std::string changed = *made;
        changed[random() % changed.size()] = static_cast<char>(random());
        refused += !codegen::link_shared(changed, "model.so");
    }
    EXPECT_GT(refused, 10U);
}

TEST(ModelObject, RefusesMoreThanAnObjectFileHolds) {
    loop::FrozenPlan plan;
    plan.arena_bytes = int64_t{3} << 30;
    const auto made = object_of(plan, "");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              "constants and memory of the model have 3072 MiB, but an object file has room for "
              "2000");
}

// ---- Half precision -----------------------------------------------------------------------------

// out[i] = in[i] in another type.
loop::FrozenPlan conversion(tensor::DType from, tensor::DType to, int64_t elements) {
    loop::FrozenPlan plan;
    loop::ScheduledKernel kernel;
    loop::Function& f = kernel.function;
    loop::Builder build(f);
    f.name = "convert";
    f.item = build.var("item");
    f.items = elements;
    const loop::BufferId in = build.buffer("in", from, false);
    const loop::BufferId out = build.buffer("out", to, true);
    loop::Address place;
    place.add(f.item, 1);
    const loop::ExprId value = build.load(in, place);
    f.body.push_back({loop::StoreStmt{out, place, value, {}}});
    plan.kernels.push_back({std::move(kernel), "convert"});
    plan.inputs.push_back({"x", from, {elements}, elements * tensor::dtype_size(from)});
    plan.outputs.push_back({"y", to, {elements}, elements * tensor::dtype_size(to)});
    loop::FrozenCall call;
    call.places = {{loop::FrozenMemory::Input, 0, 0}, {loop::FrozenMemory::Output, 0, 0}};
    plan.steps.push_back({"convert", std::move(call)});
    return plan;
}

// `generic` has no instructions for halves, and `avx2` none for halves and doubles.
constexpr const char* kHalfTargets[] = {"generic", "avx2", ""};

TEST(ModelObject, ReadsEveryHalf) {
    std::vector<uint16_t> halves(65536);
    std::iota(halves.begin(), halves.end(), 0);
    for (const char* const target : kHalfTargets) {
        Library library(conversion(tensor::DType::F16, tensor::DType::F32, 65536), target);
        ASSERT_TRUE(library.usable());
        std::vector<float> got(65536);
        const void* const inputs[] = {halves.data()};
        void* const outputs[] = {got.data()};
        ASSERT_EQ(library.run(inputs, outputs), 0);
        for (size_t i = 0; i < got.size(); ++i) {
            const auto want = static_cast<float>(tensor::from_f16(halves[i]));
            if (std::isnan(want)) {
                EXPECT_TRUE(std::isnan(got[i])) << i;
            } else {
                ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want)) << i;
            }
        }
    }
}

// Every half, the numbers halfway between two, and their neighbours.
template <class Real>
std::vector<Real> numbers_around_halves() {
    std::vector<Real> result = {std::numeric_limits<Real>::max(),
                                std::numeric_limits<Real>::min(),
                                std::numeric_limits<Real>::denorm_min(),
                                std::numeric_limits<Real>::infinity(),
                                65520,
                                std::nextafter(Real(65520), Real(0))};
    for (uint16_t bits = 0; bits < 0x7C00; ++bits) {
        const auto low = static_cast<Real>(tensor::from_f16(bits));
        const auto high = static_cast<Real>(bits == 0x7BFF ? 65536 : tensor::from_f16(bits + 1));
        const Real middle = (low + high) / 2;
        for (const Real value :
             {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
            result.push_back(value);
            result.push_back(-value);
        }
    }
    return result;
}

template <class Real>
void expect_rounded_halves(tensor::DType from) {
    const std::vector<Real> values = numbers_around_halves<Real>();
    for (const char* const target : kHalfTargets) {
        Library library(conversion(from, tensor::DType::F16, std::ssize(values)), target);
        ASSERT_TRUE(library.usable());
        std::vector<uint16_t> got(values.size());
        const void* const inputs[] = {values.data()};
        void* const outputs[] = {got.data()};
        ASSERT_EQ(library.run(inputs, outputs), 0);
        for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(got[i], tensor::to_f16(values[i])) << values[i] << " " << target;
        }
    }
}

TEST(ModelObject, RoundsToHalves) {
    expect_rounded_halves<float>(tensor::DType::F32);
    expect_rounded_halves<double>(tensor::DType::F64);
}

}  // namespace
}  // namespace lemma
