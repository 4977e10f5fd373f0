// SPDX-License-Identifier: Apache-2.0
// Bytes as an ONNX model: reads, validates and imports it with the definitions of its operators.
#include <memory>

#include "diag/source.h"
#include "onnx/import.h"
#include "onnx/read.h"
#include "onnx/test_model.h"
#include "onnx/validate.h"
#include "seeds.h"
#include "sknd/compose/calls.h"
#include "sknd/types/types.h"

namespace {

using namespace lemma;
using namespace lemma::onnx::test;

// Loaded once, because it does not depend on the model.
struct Library {
    diag::SourceMap sources;
    Diagnostics diag;
    sknd::Package package;

    Library() : package(sknd::load_library(sources, "onnx", diag)) {
        sknd::check_types(package, {}, diag);
    }
};

TestNode random_node(std::mt19937& random) {
    constexpr const char* kOps[] = {"Add", "Relu", "Reshape", "Shape", "Gather", "Concat"};
    TestNode node{.op = kOps[random() % std::size(kOps)], .inputs = {"x"}, .outputs = {"y"}};
    if (random() % 2) node.inputs.emplace_back(random() % 2 ? "w" : "s");
    if (random() % 2) node.attributes.push_back(int_attribute("axis", random() % 4));
    if (random() % 4 == 0) {
        const TestGraph inner = {
            .inputs = {}, .outputs = {{"z", {2}}}, .nodes = {{"Relu", {"x"}, {"z"}}}};
        node = {.op = "If", .inputs = {"c"}, .outputs = {"y"}};
        node.attributes = {graph_attribute("then_branch", graph_bytes(inner)),
                           graph_attribute("else_branch", graph_bytes(inner))};
    }
    return node;
}

}  // namespace

std::string lemma::fuzz::make_seed(std::mt19937& random) {
    const auto extent = [&] { return static_cast<int64_t>(random() % 4) - 1; };
    return model_bytes(
        {.inputs = {{"x", {extent(), extent()}}, {"c", {}, 9}},
         .outputs = {{"y", {extent(), extent()}}},
         .nodes = {random_node(random)},
         .initializers = {floats_tensor("w", {2}, {1, 2}), ints_tensor("s", {2}, {extent(), -1})}},
        6 + random() % 20);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static Library library;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto model = onnx::read_model(tensor::share(bytes), {.max_parts = 100'000});
    if (!model) return 0;
    diag::SourceMap sources;
    const diag::FileId file = sources.add_paths("model.onnx", model->paths);
    Diagnostics diag;
    onnx::validate(*model, file, diag);
    if (diag.has_errors()) return 0;
    const auto builder = sknd::make_call_builder(library.package, {}, diag);
    onnx::ImportOptions options;
    options.limits = {.max_calls = 2000, .max_function_depth = 16, .max_unrolled = 500};
    onnx::import_model(*model, file, *builder, options, diag);
    return 0;
}
