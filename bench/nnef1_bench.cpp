// SPDX-License-Identifier: Apache-2.0
// Measures reading of NNEF 1.0 documents: flat graphs of 10,000 and 100,000 operations (6 MB),
// where the time must be linear. ./dev bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "base/check.h"
#include "diag/source.h"
#include "nnef1/import/import.h"
#include "nnef1/syntax/lexer.h"
#include "nnef1/syntax/parser.h"
#include "sknd/compose/calls.h"
#include "sknd/modules/embedded.h"
#include "sknd/modules/modules.h"

namespace {

using namespace lemma;

// Four operations of a network, from `t{i}` to `t{i + 4}`.
std::string generated_operations(int64_t i) {
    return fmt::format(R"(
    t{1} = conv(t{0}, filter, bias, padding = [(1, 1), (1, 1)], stride = [1, 1]);
    t{2} = batch_normalization(t{1}, mean, variance, offset, scale, epsilon = 0.001);
    t{3} = relu(t{2});
    t{4} = add(t{3}, t{0});)",
                       i,
                       i + 1,
                       i + 2,
                       i + 3,
                       i + 4);
}

std::string generated_graph(int64_t operations) {
    std::string text = R"(version 1.0;

graph net( t0 ) -> ( output )
{
    t0 = external(shape = [1, 8, 16, 16]);
    filter = variable(shape = [8, 8, 3, 3], label = 'filter');
    bias = variable(shape = [1, 8], label = 'bias');
    mean = variable(shape = [1, 8], label = 'mean');
    variance = variable(shape = [1, 8], label = 'variance');
    offset = variable(shape = [1, 8], label = 'offset');
    scale = variable(shape = [1, 8], label = 'scale');)";
    for (int64_t i = 0; i < operations; i += 4) text += generated_operations(i);
    return text + fmt::format("\n    output = copy(t{});\n}}\n", operations);
}

std::string_view standard_text() {
    for (const sknd::EmbeddedFile& file : sknd::embedded_texts()) {
        if (file.path == "nnef1/standard.nnef") return file.text;
    }
    LEMMA_CHECK(false);
    return "";
}

// ---- The steps ----------------------------------------------------------------------------------

void lex(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag) {
    const nnef1::TokenList list = nnef1::lex(sources, file, nnef1::Dialect::Strict, diag);
    benchmark::DoNotOptimize(list.tokens.data());
}

void parse(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag) {
    const nnef1::Document document = nnef1::parse_document(sources, file, {}, diag);
    benchmark::DoNotOptimize(&document);
}

// The checks that need no shapes.
void check(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag) {
    const nnef1::Document document = nnef1::parse_document(sources, file, {}, diag);
    const nnef1::Document standard = nnef1::parse_standard(sources, standard_text(), diag);
    const nnef1::Operations operations(standard, document, nnef1::Dialect::Strict, diag);
    const nnef1::CheckedDocument checked =
        nnef1::check_document(document, operations, nnef1::Dialect::Strict, diag);
    benchmark::DoNotOptimize(&checked);
}

// All of `lemma check`, up to the composed program.
void import(diag::SourceMap& sources, diag::FileId file, Diagnostics& diag) {
    const nnef1::Document document = nnef1::parse_document(sources, file, {}, diag);
    const nnef1::Document standard = nnef1::parse_standard(sources, standard_text(), diag);
    const nnef1::Operations operations(standard, document, nnef1::Dialect::Strict, diag);
    const nnef1::CheckedDocument checked =
        nnef1::check_document(document, operations, nnef1::Dialect::Strict, diag);
    const sknd::Package library = sknd::load_library(sources, "nnef1", diag);
    Diagnostics calls;
    const auto builder = sknd::make_call_builder(library, {}, calls);
    const nnef1::Imported imported =
        nnef1::import_document({document, operations, checked}, {}, *builder, calls, diag);
    LEMMA_CHECK(imported.program.has_value());
}

template <class Step>
void measure(benchmark::State& state, Step step) {
    const std::string text = generated_graph(state.range(0));
    diag::SourceMap sources;
    const diag::FileId file = sources.add("graph.nnef", text);
    for (auto _ : state) {
        Diagnostics diag;
        step(sources, file, diag);
        LEMMA_CHECK(!diag.has_errors());
    }
    state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
    state.SetComplexityN(state.range(0));
}

void nnef1_lex(benchmark::State& state) { measure(state, lex); }
void nnef1_parse(benchmark::State& state) { measure(state, parse); }
void nnef1_check(benchmark::State& state) { measure(state, check); }
void nnef1_import(benchmark::State& state) { measure(state, import); }
void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);
}
BENCHMARK(nnef1_lex)->Apply(sizes);
BENCHMARK(nnef1_parse)->Apply(sizes);
BENCHMARK(nnef1_check)->Apply(sizes);
// A tenth of each size, because composing takes most of the time.
BENCHMARK(nnef1_import)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
