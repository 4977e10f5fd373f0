// SPDX-License-Identifier: Apache-2.0
// Models from files in memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <lemma/lemma.hpp>

#include "api/models_test.h"
#include "tensor/archive/archive_write.h"

namespace lemma::api {

namespace {

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string input_file(const std::string& name) {
    return file_text(std::string(LEMMA_SOURCE_DIR) + "/tests/golden/onnx/inputs/" + name);
}

// Loads copies of the texts, which are gone afterwards.
LoadResult load(const std::vector<std::pair<std::string, std::string>>& files,
                const LoadOptions& options = {}) {
    const auto copies = files;
    std::vector<File> list;
    for (const auto& [name, text] : copies) list.push_back({name, text.data(), text.size()});
    return Model::load(list, options);
}

std::vector<float> run(const LoadResult& loaded, const Tensor& x) {
    EXPECT_TRUE(loaded.ok()) << loaded.text();
    if (!loaded.ok()) return {};
    SessionResult made = loaded.model->session();
    EXPECT_TRUE(made.ok()) << made.text();
    const RunResult result = made.session->run({{loaded.model->inputs()[0].name, x}});
    EXPECT_TRUE(result.ok()) << result.text();
    return result.ok() ? result.outputs.begin()->second.values<float>() : std::vector<float>();
}

constexpr const char* kMain = R"(
import blocks.half;
graph Main {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @variable { w: real[2]; }
    @compose { y = blocks.half.halve(x, w); }
})";
constexpr const char* kHalf = R"(
public operator halve {
    @input { x: real[n]; w: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = 0.5 * x[i,] + w[i,], i < n; }
})";

// The file of the variable `w`, with its name in the model.
std::pair<std::string, std::string> saved_variable() {
    const TempFolder folder("memory");
    std::ofstream(folder.path() + "/main.sknd") << kMain;
    std::filesystem::create_directories(folder.path() + "/blocks");
    std::ofstream(folder.path() + "/blocks/half.sknd") << kHalf;
    LoadOptions options;
    options.random_weights = 1;
    const LoadResult loaded = Model::load(folder.path(), options);
    EXPECT_TRUE(loaded.ok()) << loaded.text();
    SessionResult made = loaded.model->session();
    EXPECT_TRUE(made.session->set_variable("w", Tensor::of<float>({2}, {1, -1})).ok());
    EXPECT_TRUE(made.session->save_variables(folder.path()).ok());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        if (entry.path().extension() != ".dat") continue;
        return {std::filesystem::relative(entry.path(), folder.path()).string(),
                file_text(entry.path().string())};
    }
    ADD_FAILURE() << "no file was written";
    return {};
}

TEST(Memory, LoadsModulesAndData) {
    const LoadResult loaded =
        load({{"main.sknd", kMain}, {"blocks/half.sknd", kHalf}, saved_variable()});
    EXPECT_EQ(run(loaded, Tensor::of<float>({2}, {4, 6})), (std::vector<float>{3, 2}));
}

TEST(Memory, ReadsNoOtherFile) {
    const LoadResult module = load({{"main.sknd", kMain}});
    EXPECT_EQ(module.status, Status::Wrong);
    EXPECT_TRUE(contains(module.text(), "blocks.half")) << module.text();
    const LoadResult data = load({{"main.sknd", kMain}, {"blocks/half.sknd", kHalf}});
    EXPECT_EQ(data.status, Status::Wrong);
    EXPECT_EQ(data.problems.at(0).kind, "missing-data");
}

TEST(Memory, LoadsOnnxWithExternalData) {
    const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    const std::string model = input_file("external.onnx"), weights = input_file("weights.bin");
    const LoadResult from_file =
        Model::load(std::string(LEMMA_SOURCE_DIR) + "/tests/golden/onnx/inputs/external.onnx");
    const auto wanted = run(from_file, x);
    ASSERT_EQ(wanted.size(), 6U);
    const LoadResult loaded = load({{"net.onnx", model}, {"weights.bin", weights}});
    EXPECT_EQ(run(loaded, x), wanted);
    EXPECT_EQ(loaded.model->format(), "onnx");
    const LoadResult nested = load({{"a/net.onnx", model}, {"a/weights.bin", weights}});
    EXPECT_EQ(run(nested, x), wanted);
    const LoadResult alone = load({{"net.onnx", model}});
    EXPECT_FALSE(alone.ok());
    EXPECT_TRUE(contains(alone.text(), "`weights.bin`, which is not among the given files"))
        << alone.text();
    const LoadResult shorter = load({{"net.onnx", model}, {"weights.bin", weights.substr(1)}});
    EXPECT_FALSE(shorter.ok());
    const LoadResult outside = load({{"net.onnx", input_file("external_root.onnx")}});
    EXPECT_FALSE(outside.ok());
}

TEST(Memory, LoadsNnefAndArchives) {
    const std::string graph =
        "version 1.0;\ngraph g(x) -> (y) { x = "
        "external(shape = [2]); y = neg(x); }\n";
    const Tensor x = Tensor::of<float>({2}, {1, -2});
    EXPECT_EQ(run(load({{"graph.nnef", graph}}), x), (std::vector<float>{-1, 2}));
    const TempFolder folder("archive");
    for (const char* const name : {"net.tgz", "net.zip"}) {
        const std::string path = folder.path() + "/" + name;
        auto writer = tensor::ArchiveWriter::create(path);
        ASSERT_TRUE(writer) << writer.error().message;
        ASSERT_TRUE(writer->add("graph.nnef", graph));
        ASSERT_TRUE(writer->finish());
        const std::string bytes = file_text(path);
        EXPECT_EQ(run(load({{name, bytes}}), x), (std::vector<float>{-1, 2}));
        EXPECT_TRUE(refused(load({{name, bytes}, {"more.dat", ""}}), "no further files"));
        EXPECT_TRUE(refused(load({{name, bytes.substr(0, 20)}}), name));
    }
}

TEST(Memory, RefusesNamesThatLeadOut) {
    for (const std::string name :
         {"../w.dat", "/w.dat", "a/../w.dat", "a//w.dat", ".hidden", "", "a/.hidden/w.dat"}) {
        EXPECT_TRUE(refused(load({{"main.sknd", kScale}, {name, ""}}), "name inside")) << name;
    }
    EXPECT_TRUE(refused(load({{"main.sknd", kScale}, {"w.dat", ""}, {"w.dat", ""}}), "twice"));
    EXPECT_TRUE(refused(load({{"a/main.sknd", kScale}, {"w.dat", ""}}), "not in the folder"));
    EXPECT_TRUE(refused(load({{"main.txt", kScale}}), "a file of this kind"));
    EXPECT_TRUE(refused(load({}), "no file is given"));
    EXPECT_TRUE(refused(load({{"net.onnx", "no model"}}), "net.onnx"));
}

TEST(Memory, DiagnosticsNameTheFile) {
    std::string text = kScale;
    text.replace(text.find("math.mul"), 8, "math.mull");
    const LoadResult wrong = load({{"main.sknd", text}});
    EXPECT_EQ(wrong.status, Status::Wrong);
    ASSERT_FALSE(wrong.problems.empty());
    EXPECT_EQ(wrong.problems[0].file, "main.sknd");
    EXPECT_EQ(wrong.problems[0].line, 7);
}

// The values of some inputs of ONNX models decide shapes.
TEST(Memory, ValuesDecideShapes) {
    const std::string model = input_file("steered.onnx");
    const LoadResult open = load({{"net.onnx", model}});
    EXPECT_TRUE(refused(open, "the values of the input `shape` decide shapes"));
    LoadOptions options;
    options.values["shape"] = Tensor::of<int64_t>({2}, {3, 2});
    const LoadResult loaded = load({{"net.onnx", model}}, options);
    ASSERT_TRUE(loaded.ok()) << loaded.text();
    SessionResult made = loaded.model->session();
    Tensors inputs = options.values;
    for (const TensorInfo& info : loaded.model->inputs()) {
        if (info.name == "shape") continue;
        int64_t count = 1;
        for (const int64_t extent : info.shape) count *= extent;
        inputs[info.name] =
            Tensor::of(info.shape, std::vector<float>(static_cast<size_t>(count), 1.0F));
    }
    const RunResult result = made.session->run(inputs);
    ASSERT_TRUE(result.ok()) << result.text();
    EXPECT_EQ(result.outputs.begin()->second.shape, (Shape{3, 2}));
    inputs["shape"] = Tensor::of<int64_t>({2}, {2, 3});
    EXPECT_TRUE(refused(made.session->run(inputs), "has another value now"));
    options.values["shapes"] = options.values["shape"];
    EXPECT_TRUE(refused(load({{"net.onnx", model}}, options), "shapes"));
}

}  // namespace

}  // namespace lemma::api
