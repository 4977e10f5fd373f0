// SPDX-License-Identifier: Apache-2.0
// Measures the interpreter: iterations per second on typical formulas. ./dev bench
#include <benchmark/benchmark.h>

#include <string>

#include "base/check.h"
#include "interpret/interpret.h"
#include "sknd/compose/compose.h"
#include "sknd/modules/modules.h"

namespace {

using namespace lemma;

ir::Program compose(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", text);
    const sknd::Package package =
        sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    sknd::check_types(package, {}, diag);
    auto program = sknd::compose(package, {}, diag);
    LEMMA_CHECK(program.has_value());
    return std::move(*program);
}

// The iterations of all formulas of the program; its extents are known.
int64_t iterations(const ir::Program& program) {
    int64_t sum = 0;
    for (const ir::Operation& op : program.operations) {
        for (const ir::Formula& formula : op.formulas) {
            int64_t count = 1;
            for (const ir::Bound& bound : formula.bounds) {
                count *= program.symbols.as_int(bound.extent).value_or(1);
            }
            sum += count;
        }
    }
    return sum;
}

interpret::NamedArrays ones(const ir::Program& program) {
    interpret::NamedArrays inputs;
    for (const ir::Port& port : program.graphs[program.main].inputs) {
        for (const ir::TensorId id : port.operand.items) {
            tensor::Shape shape;
            for (const ir::SymId part : program.tensors[id].shape) {
                shape.push_back(program.symbols.as_int(part).value_or(1));
            }
            interpret::Array array = *interpret::Array::zeros(program.tensors[id].dtype, shape);
            array.reals.assign(array.reals.size(), 1.0);
            inputs[port.name].push_back(std::move(array));
        }
    }
    return inputs;
}

void run(benchmark::State& state, const std::string& text) {
    ir::Program program = compose(text);
    const int64_t count = iterations(program);
    const interpret::NamedArrays inputs = ones(program);
    interpret::State model(std::move(program));
    interpret::Interpreter interpreter(model);
    for (auto _ : state) {
        auto outputs = interpreter.run(inputs);
        LEMMA_CHECK(outputs.has_value());
        benchmark::DoNotOptimize(outputs);
    }
    state.SetItemsProcessed(count * state.iterations());
}

// A layer in the middle of ResNet-50.
void conv(benchmark::State& state) {
    run(state, R"(import nn; graph G {
        @input { x: real[1,64,56,56]; w: real[16,64,3,3]; }
        @output { y: real[1,16,56,56]; }
        @compose { y = nn.conv{padding=1}(x, w); } })");
}

void matmul(benchmark::State& state) {
    run(state, R"(import linalg; graph G {
        @input { a: real[256,256]; b: real[256,256]; }
        @output { y: real[256,256]; }
        @compose { y = linalg.matmul(a, b); } })");
}

void max_pool(benchmark::State& state) {
    run(state, R"(import nn; graph G {
        @input { x: real[1,64,112,112]; }
        @output { y: real[1,64,56,56]; }
        @compose { y = nn.max_pool{size=[3,3], stride=[2,2], padding=[1,1,1,1]}(x); } })");
}

void softmax(benchmark::State& state) {
    run(state, R"(import nn; graph G {
        @input { x: real[64,1000]; }
        @output { y: real[64,1000]; }
        @compose { y = nn.softmax{axes=[1]}(x); } })");
}

BENCHMARK(conv)->Unit(benchmark::kMillisecond);
BENCHMARK(matmul)->Unit(benchmark::kMillisecond);
BENCHMARK(max_pool)->Unit(benchmark::kMillisecond);
BENCHMARK(softmax)->Unit(benchmark::kMillisecond);

}  // namespace
