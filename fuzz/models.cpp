// SPDX-License-Identifier: Apache-2.0
// Bytes control a generator of small models with extreme extents. A model that composes is planned.
// A small one runs in the interpreter and in compiled kernels, on memory between inaccessible
// pages. Both must give the same results. It is also written as C, twice, with the same bytes.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "base/check.h"
#include "emit/certified/certified.h"
#include "engine/engine.h"
#include "ir/verify/verify.h"
#include "model_text.h"
#include "sknd/compose/compose.h"
#include "tensor/room.h"

namespace {

using namespace lemma;
using interpret::Array;
using interpret::NamedArrays;

constexpr int64_t kMostElements = 1 << 14;
constexpr double kMostSteps = 1 << 18;

std::optional<ir::Program> compose(const std::string& text) {
    diag::SourceMap sources;
    Diagnostics diag;
    const diag::FileId file = sources.add("main.sknd", text);
    const sknd::Package package =
        sknd::load_package(sources, file, "main", sknd::no_reader(), {}, diag);
    const sknd::EvalLimits limits = {.max_pack_length = 1000, .max_work = 500'000};
    sknd::check_types(package, {.limits = limits}, diag);
    if (diag.has_errors()) return std::nullopt;
    sknd::ComposeOptions options;
    options.limits = limits;
    options.max_operations = 200;
    options.max_unroll = 100;
    return sknd::compose(package, options, diag);
}

// Makes every tensor of the graph an output, so that all are compared.
void show_all(ir::Program& program) {
    ir::Graph& graph = program.graphs[program.main];
    std::set<ir::TensorId> shown;
    for (const ir::OpId id : graph.operations) {
        for (const ir::Port& port : program.operations[id].outputs) {
            for (const ir::TensorId tensor : port.operand.items) {
                if (!shown.insert(tensor).second) continue;
                graph.outputs.push_back(
                    {fmt::format("out{}", tensor.value), ir::Operand::single(tensor)});
            }
        }
    }
}

bool is_small(const ir::Program& program) {
    for (const ir::Tensor& tensor : program.tensors) {
        tensor::Shape shape;
        for (const ir::SymId extent : tensor.shape) {
            shape.push_back(program.symbols.range(extent).high);
        }
        const auto volume = tensor::bounded_volume(shape);
        if (!volume || *volume > kMostElements) return false;
    }
    return loop::steps_of(program, kMostSteps) < kMostSteps;
}

std::optional<NamedArrays> make_inputs(const ir::Program& program, fuzz::Bytes& bytes) {
    NamedArrays inputs;
    for (const ir::Port& port : program.graphs[program.main].inputs) {
        const ir::Tensor& tensor = program.tensors[port.operand.items[0]];
        tensor::Shape shape;
        for (const ir::SymId extent : tensor.shape) {
            const auto known = program.symbols.as_int(extent);
            const int64_t high = program.symbols.range(extent).high;
            shape.push_back(known ? *known : bytes.byte() % (high + 1));
        }
        auto array = Array::zeros(tensor.dtype, shape);
        if (!array) return std::nullopt;
        for (double& value : array->reals) value = static_cast<double>(bytes.byte() % 16) / 4 - 2;
        for (int64_t& value : array->integers) value = bytes.number();
        inputs[port.name].push_back(std::move(*array));
    }
    return inputs;
}

bool same(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return true;
    return std::fabs(a - b) <= 1e-3 * (1 + std::fabs(a) + std::fabs(b));
}

void compare(const NamedArrays& got, const NamedArrays& want, const std::string& text) {
    for (const auto& [name, arrays] : want) {
        for (size_t i = 0; i < arrays.size(); ++i) {
            const Array& a = got.at(name)[i];
            const Array& b = arrays[i];
            bool equal =
                a.shape == b.shape && a.integers == b.integers && a.reals.size() == b.reals.size();
            for (size_t k = 0; equal && k < a.reals.size(); ++k) {
                equal = same(a.reals[k], b.reals[k]);
            }
            if (!equal) std::fprintf(stderr, "`%s` differs in\n%s\n", name.c_str(), text.c_str());
            LEMMA_CHECK(equal);
        }
    }
}

void run(ir::Program program, fuzz::Bytes& bytes, bool fuse, const std::string& text) {
    const auto inputs = make_inputs(program, bytes);
    if (!inputs) return;
    interpret::RunOptions limits;
    limits.max_loop_steps = 100;
    interpret::State state(std::move(program));
    const auto want = interpret::Interpreter(state, limits).run(*inputs);
    engine::EngineOptions options;
    options.verify = true;
    options.run = limits;
    options.fuse = fuse;
    options.least_steps = 1;  // small sums are also tiled
    options.guarded = true;
    auto engine = engine::Engine::create(state, options);
    if (!engine) std::fprintf(stderr, "%s\n", engine.error().message.c_str());
    LEMMA_CHECK(engine);
    const auto got = (*engine)->run(*inputs);
    if (got.has_value() != want.has_value()) {
        std::fprintf(stderr,
                     "%s: %s\n%s\n",
                     got ? "the interpreter fails" : "the engine fails",
                     (got ? want.error() : got.error()).message.c_str(),
                     text.c_str());
    }
    LEMMA_CHECK(got.has_value() == want.has_value());
    if (got) compare(*got, *want, text);
}

void write_c(const ir::Program& program) {
    const emit::CertifiedInput input{.program = program,
                                     .variable = [](const ir::Tensor&) { return nullptr; },
                                     .name = "model",
                                     .origin = "a model"};
    std::vector<emit::Obstacle> obstacles, again;
    const auto first = emit::write_certified(input, obstacles);
    const auto second = emit::write_certified(input, again);
    LEMMA_CHECK(first.has_value() == obstacles.empty());
    LEMMA_CHECK(first.has_value() == second.has_value());
    if (!first) return;
    for (size_t i = 0; i < first->files.size(); ++i) {
        LEMMA_CHECK(first->files[i].text == second->files[i].text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::Bytes bytes(data, size);
    const std::string text = fuzz::model_text(bytes);
    auto program = compose(text);
    if (!program) return 0;
    show_all(*program);
    const auto problems = ir::verify(*program);
    if (!problems.empty()) std::fprintf(stderr, "%s\n%s\n", problems[0].c_str(), text.c_str());
    LEMMA_CHECK(problems.empty());
    const bool fuse = bytes.pick(4) != 0;
    if (!is_small(*program)) {
        loop::make_plan(*program, {}, {.target = {}, .fuse = fuse, .least_steps = 1});
        return 0;
    }
    write_c(*program);
    run(std::move(*program), bytes, fuse, text);
    return 0;
}
