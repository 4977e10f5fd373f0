// SPDX-License-Identifier: Apache-2.0
// Measures composing: AlexNet from its text, and generated graphs of 1,000 to 20,000 operations,
// where the time must be linear. ./dev bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "base/check.h"
#include "diag/source.h"
#include "sknd/compose/compose.h"
#include "sknd/modules/modules.h"

namespace {

using namespace lemma;

// Everything that `lemma check` does with a text, including the imported standard modules.
size_t compose(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", text);
    const sknd::Package package =
        sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    sknd::check_types(package, {}, diag);
    const auto program = sknd::compose(package, {}, diag);
    LEMMA_CHECK(program.has_value());
    return program->operations.size();
}

void alexnet(benchmark::State& state) {
    const auto text = diag::read_source(LEMMA_SOURCE_DIR "/examples/alexnet/main.sknd");
    LEMMA_CHECK(text.has_value());
    for (auto _ : state) benchmark::DoNotOptimize(compose(*text));
}

// A chain of convolutions, biases and activations, each a separate operation.
std::string generated_graph(int64_t operations) {
    std::string text =
        "import math; import nn;\ngraph G {\n@input { x: real[1,8,16,16]; }\n"
        "@output { y: real[1,8,16,16]; }\n@variable { w: real[8,8,3,3]; }\n@compose {\nt0 = x;\n";
    for (int64_t i = 0; i < operations; i += 2) {
        text += fmt::format("a{0} = nn.conv{{padding=1}}(t{0}, w);\nt{1} = math.add(a{0}, t{0});\n",
                            i / 2,
                            i / 2 + 1);
    }
    return text + fmt::format("y = nn.relu(t{});\n}}\n}}\n", operations / 2);
}

void generated(benchmark::State& state) {
    const std::string text = generated_graph(state.range(0));
    size_t operations = 0;
    for (auto _ : state) operations = compose(text);
    state.SetComplexityN(state.range(0));
    state.SetItemsProcessed(static_cast<int64_t>(operations) * state.iterations());
}

BENCHMARK(alexnet)->Unit(benchmark::kMillisecond);
BENCHMARK(generated)
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
