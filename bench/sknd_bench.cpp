// SPDX-License-Identifier: Apache-2.0
// Measures the SkriptND front end: each step over the whole standard library, and over generated
// modules of 1,000 to 20,000 operators, where the time must be linear. ./dev bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string>

#include "base/check.h"
#include "sknd/modules/embedded.h"
#include "sknd/modules/modules.h"
#include "sknd/syntax/lexer.h"
#include "sknd/syntax/parser.h"
#include "sknd/types/types.h"

namespace {

using namespace lemma;

// A main module with its imports.
struct Program {
    diag::SourceMap sources;
    std::vector<diag::FileId> files;
    diag::FileId main;
    size_t bytes = 0;
};

void add(Program& program, std::string name, std::string text) {
    program.bytes += text.size();
    program.files.push_back(program.sources.add(std::move(name), std::move(text)));
    program.main = program.files.back();
}

// The standard modules, then a main module that imports them. It excludes the operators of other
// formats, so that results stay comparable over time.
Program standard_library() {
    Program program;
    std::set<std::string_view> modules;
    for (const sknd::EmbeddedFile& file : sknd::embedded_files()) {
        if (file.module.find('.') != std::string_view::npos) continue;
        add(program, std::string(file.path), std::string(file.text));
        modules.insert(file.module);
    }
    std::string imports;
    for (const std::string_view module : modules) imports += fmt::format("import {};\n", module);
    add(program, "main.sknd", imports);
    return program;
}

// An operator that calls the previous one, with asserts, helpers and declarations.
std::string generated_operator(size_t i) {
    const std::string call = i == 0 ? "z = y;" : fmt::format("z = op{}{{k = k}}(y, w);", i - 1);
    return fmt::format(R"(
operator step{0} {{
    @dtype {{ T: num; }}
    @attrib {{ k: int = 2; pads: int..(d) = 0; }}
    @input {{ x: T[b,c,s..(d)]; y: T[b,c,s..(d)]; }}
    @assert {{ k > 0: "k must be positive; got {{k}}"; pads >= 0 && ..; }}
    @output {{ z: T[b,c,s..(d)]; }}
    @lower {{ z[n,m,i..] = x[n,m,i..] + T(k) * y[n,m,i..], n < b, m < c, i < s; }}
}}
operator op{0} {{
    @attrib {{ k: int = 1; }}
    @input {{ x: real[b,c,s..(d)]; w: real[b,c,s..(d)]; }}
    @output {{ z: real[b,c,s..(d)]; }}
    @compose {{ y = step{0}{{k = 2 * k + 1}}(x, w); {1} }}
}}
)",
                       i,
                       call);
}

// `count` operators and a graph that uses the last one.
Program generated(size_t count) {
    std::string text;
    for (size_t i = 0; i < count / 2; ++i) text += generated_operator(i);
    text += fmt::format(R"(
graph G {{
    @input {{ x: real[2,3,8]; w: real[2,3,8]; }}
    @output {{ y: real[2,3,8]; }}
    @compose {{ y = op{}(x, w); }}
}}
)",
                        count / 2 - 1);
    Program program;
    add(program, "main.sknd", text);
    return program;
}

// ---- The steps ----------------------------------------------------------------------------------

void lex_all(Program& program) {
    Diagnostics diag;
    for (const diag::FileId file : program.files) {
        benchmark::DoNotOptimize(sknd::lex(program.sources, file, diag).tokens.data());
    }
}

void parse_all(Program& program) {
    Diagnostics diag;
    for (const diag::FileId file : program.files) {
        const sknd::Module module = sknd::parse_module(program.sources, file, {}, diag);
        benchmark::DoNotOptimize(module.definitions.data());
    }
    LEMMA_CHECK(!diag.has_errors());
}

// All of `lemma check`: loads and parses texts again, as in a new process.
void check_all(Program& program) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId main =
        sources.add("main.sknd", std::string(program.sources.text(program.main)));
    const sknd::Package package =
        sknd::load_package(sources, main, "main", sknd::no_reader(), {.library = true}, diag);
    const sknd::CheckOptions options = {.check_standard_modules = true};
    benchmark::DoNotOptimize(sknd::check_types(package, options, diag).definitions.data());
    LEMMA_CHECK(!diag.has_errors());
}

template <class Step>
void measure(benchmark::State& state, Program program, Step step) {
    for (auto _ : state) step(program);
    state.SetBytesProcessed(static_cast<int64_t>(program.bytes * state.iterations()));
}

template <class Step>
void measure_generated(benchmark::State& state, Step step) {
    measure(state, generated(static_cast<size_t>(state.range(0))), step);
    state.SetComplexityN(state.range(0));
}

void stdlib_lex(benchmark::State& state) { measure(state, standard_library(), lex_all); }
void stdlib_parse(benchmark::State& state) { measure(state, standard_library(), parse_all); }
void stdlib_check(benchmark::State& state) { measure(state, standard_library(), check_all); }
BENCHMARK(stdlib_lex)->Unit(benchmark::kMillisecond);
BENCHMARK(stdlib_parse)->Unit(benchmark::kMillisecond);
BENCHMARK(stdlib_check)->Unit(benchmark::kMillisecond);

void generated_lex(benchmark::State& state) { measure_generated(state, lex_all); }
void generated_parse(benchmark::State& state) { measure_generated(state, parse_all); }
void generated_check(benchmark::State& state) { measure_generated(state, check_all); }
void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(5'000)->Arg(20'000)->Unit(benchmark::kMillisecond);
    bench->Complexity(benchmark::oN);
}
BENCHMARK(generated_lex)->Apply(sizes);
BENCHMARK(generated_parse)->Apply(sizes);
BENCHMARK(generated_check)->Apply(sizes);

}  // namespace
