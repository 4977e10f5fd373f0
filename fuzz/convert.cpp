// SPDX-License-Identifier: Apache-2.0
// Bytes as a model of any format: a model that loads is written in every format. The writer refuses
// it, or the written model loads and computes the same numbers.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "convert/convert.h"
#include "diag/render.h"
#include "loop/plan/plan.h"
#include "session/session.h"
#include "session/tensors.h"
#include "tensor/files/file_io.h"

namespace {

using namespace lemma;
namespace fs = std::filesystem;

constexpr double kMostSteps = 100'000;  // upper bound of the steps of a run

// A temporary folder for the models of this process.
struct Work {
    fs::path folder;
    Work() {
        std::string pattern = (fs::temp_directory_path() / "convertXXXXXX").string();
        folder = ::mkdtemp(pattern.data());
    }
    ~Work() { fs::remove_all(folder); }
};

session::SessionOptions session_options() {
    session::SessionOptions options;
    options.engine = session::EngineKind::Interpret;
    options.run.max_loop_steps = 1000;
    sknd::ComposeOptions& compose = options.check.graph.compose;
    compose.max_operations = 500;
    compose.max_unroll = 100;
    compose.max_rank = 50;
    compose.max_call_depth = 50;
    return options;
}

bool is_random(const ir::Program& program) {
    return std::ranges::any_of(program.operations, [](const ir::Operation& op) {
        return op.kind == ir::OperationKind::Intrinsic && op.op.starts_with("rand");
    });
}

bool is_half(const ir::Program& program) {
    return std::ranges::any_of(program.tensors, [](const ir::Tensor& tensor) {
        return tensor.dtype == ir::DType::F16 || tensor.dtype == ir::DType::BF16;
    });
}

std::vector<interpret::Array> in_order(std::span<const ir::Port> ports,
                                       const interpret::NamedArrays& arrays) {
    std::vector<interpret::Array> result;
    for (const ir::Port& port : ports) {
        const auto& items = arrays.at(port.name);
        result.insert(result.end(), items.begin(), items.end());
    }
    return result;
}

// The arrays under the input names of another program; empty if the two do not match.
std::optional<interpret::NamedArrays> renamed(const std::vector<interpret::Array>& arrays,
                                              const ir::Program& program) {
    interpret::NamedArrays result;
    size_t next = 0;
    for (const ir::Port& port : program.graphs[program.main].inputs) {
        auto& items = result[port.name];
        for (size_t i = 0; i < port.operand.items.size(); ++i) {
            if (next == arrays.size()) return std::nullopt;
            items.push_back(arrays[next++]);
        }
    }
    if (next != arrays.size()) return std::nullopt;
    return result;
}

bool is_near(double want, double got, double scale) {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (want == got) return true;
    return std::abs(want - got) <= 1e-3 * std::abs(want) + 1e-5 * std::max(scale, 1.0);
}

bool are_same(const interpret::Array& want, const interpret::Array& got) {
    if (want.shape != got.shape || want.strings != got.strings) return false;
    if (want.reals.size() != got.reals.size() || want.integers != got.integers) return false;
    double scale = 0;
    for (const double value : want.reals) {
        if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
    }
    for (size_t i = 0; i < want.reals.size(); ++i) {
        if (!is_near(want.reals[i], got.reals[i], scale)) return false;
    }
    return true;
}

[[noreturn]] void fail(const model::Finding& finding, const std::string& what) {
    const std::string why = finding.unusable ? finding.unusable->message
                                             : diag::render(finding.sources, finding.diag, {});
    std::fprintf(stderr, "%s\n%s\n", what.c_str(), why.c_str());
    std::abort();
}

struct Original {
    std::string path;
    std::vector<interpret::Array> inputs, outputs;
};

// The model with its results, if it can be run.
std::optional<Original> run_original(const std::string& path) {
    model::Finding finding;
    const auto session = session::Session::open(path, session_options(), finding);
    if (!session || is_random(session->program())) return std::nullopt;
    if (loop::steps_of(session->program(), kMostSteps) >= kMostSteps) return std::nullopt;
    interpret::NamedArrays inputs;
    if (!session::add_random_inputs(session->program(), 1, inputs)) return std::nullopt;
    const auto outputs = session->step(inputs, finding);
    if (!outputs) return std::nullopt;
    const ir::Program& program = session->program();
    return Original{path,
                    in_order(program.graphs[program.main].inputs, inputs),
                    in_order(session->outputs(), *outputs)};
}

using Writer = Result<void> (*)(const model::LoadedModel&,
                                const std::string&,
                                const convert::ConvertOptions&,
                                model::Finding&);

void check_written(const Original& original, const std::string& path) {
    model::Finding finding;
    const auto session = session::Session::open(path, session_options(), finding);
    if (!session) fail(finding, path + " was written and cannot be read");
    const auto inputs = renamed(original.inputs, session->program());
    if (!inputs) fail(finding, path + " has other inputs");
    const auto outputs = session->step(*inputs, finding);
    if (!outputs) fail(finding, path + " cannot be run");
    const auto got = in_order(session->outputs(), *outputs);
    if (got.size() != original.outputs.size()) fail(finding, path + " has other outputs");
    for (size_t i = 0; i < got.size(); ++i) {
        if (!are_same(original.outputs[i], got[i])) fail(finding, path + " has other numbers");
    }
}

void check_target(const Original& original, Writer write, const std::string& path) {
    model::Finding finding;
    const session::SessionOptions options = session_options();
    const auto model = model::load_model(original.path, {.check = options.check}, finding);
    LEMMA_CHECK(model.has_value());
    const auto written = write(*model, path, {}, finding);
    const bool refused = !written || finding.unusable || finding.diag.has_errors();
    // SkriptND and NNEF have one real type.
    if (!refused && !is_half(model->program)) check_written(original, path);
    fs::remove_all(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const Work work;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const bool binary = size > 0 && data[0] < 0x20 && data[0] != '\n';
    const bool nnef = bytes.find("version 1.") != std::string::npos;
    const fs::path file = work.folder / (binary ? "model.onnx" : nnef ? "graph.nnef" : "main.sknd");
    if (!tensor::write_file(file.string(), bytes)) return 0;
    if (const auto original = run_original(file.string())) {
        check_target(*original, convert::write_sknd_model, (work.folder / "out.sknd").string());
        check_target(*original, convert::write_nnef1_model, (work.folder / "out.nnef").string());
        check_target(*original, convert::write_onnx_model, (work.folder / "out.onnx").string());
    }
    fs::remove(file);
    return 0;
}
