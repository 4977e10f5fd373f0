// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <lemma/lemma.hpp>

#include "api/models_test.h"

namespace lemma::api {

namespace {

TEST(Model, HasAVersion) { EXPECT_TRUE(contains(version(), ".")); }

TEST(Model, TellsWhatItHas) {
    Loaded model(kScale);
    EXPECT_EQ(model.model().name(), "Scale");
    ASSERT_EQ(model.model().inputs().size(), 1u);
    const TensorInfo& x = model.model().inputs()[0];
    EXPECT_EQ(x.name, "x");
    EXPECT_EQ(x.type, DataType::F32);
    EXPECT_EQ(x.shape, (Shape{2, 3}));
    EXPECT_EQ(x.bounds, (Shape{2, 3}));
    EXPECT_EQ(x.extents, (std::vector<std::string>{"2", "3"}));
    EXPECT_FALSE(x.optional);
    ASSERT_EQ(model.model().outputs().size(), 1u);
    EXPECT_EQ(model.model().outputs()[0].name, "y");
    EXPECT_TRUE(model.model().variables().empty());
    ASSERT_EQ(model.model().operations().size(), 1u);
    EXPECT_EQ(model.model().operations()[0].name, "math.mul");
    EXPECT_EQ(model.model().format(), "sknd");
}

TEST(Model, MissingFileIsUnusable) {
    const LoadResult result = Model::load("/no/such/model");
    EXPECT_FALSE(result.model);
    EXPECT_TRUE(refused(result, "/no/such/model"));
    EXPECT_EQ(result.problems.at(0).kind, "unreadable-file");
}

TEST(Model, WrongModelHasAllItsProblems) {
    const TempFolder folder("wrong");
    const std::string path = folder.write(
        "import nn;\n"
        "graph G {\n"
        "    @input { x: real[4]; }\n"
        "    @output { y: real[4]; }\n"
        "    @compose {\n"
        "        z = nn.rely(x);\n"
        "        y = nn.relu(w);\n"
        "    }\n"
        "}\n");
    const LoadResult result = Model::load(path);
    EXPECT_EQ(result.status, Status::Wrong);
    EXPECT_FALSE(result.model);
    ASSERT_EQ(result.problems.size(), 2u);
    const Problem& first = result.problems[0];
    EXPECT_EQ(first.severity, Severity::Error);
    EXPECT_EQ(first.kind, "no-operator");
    EXPECT_EQ(first.line, 6);
    EXPECT_EQ(first.column, 13);
    EXPECT_EQ(first.end_line, 6);
    EXPECT_EQ(first.end_column, 20);
    EXPECT_EQ(first.file, path + "/main.sknd");
    EXPECT_EQ(first.message, "no operator `nn.rely`");
    EXPECT_TRUE(contains(first.text, "did you mean `relu`?")) << first.text;
    EXPECT_EQ(result.problems[1].kind, "undeclared-name");
}

TEST(Model, TakesAttributes) {
    LoadOptions options;
    options.attributes = {"factor=3.0"};
    Loaded model(kScale, options);
    const RunResult result = model->run({{"x", kSixNumbers}});
    ASSERT_TRUE(result.ok()) << result.text();
    EXPECT_EQ(result.outputs.at("y").values<float>(), (std::vector<float>{3, 6, 9, 12, 15, 18}));
}

TEST(Model, RefusesOptionsThatDoNotFit) {
    const TempFolder folder("options");
    const std::string path = folder.write(kScale);
    LoadOptions options;
    options.attributes = {"factor"};
    EXPECT_TRUE(refused(Model::load(path, options), "NAME=VALUE"));
    options.attributes = {"scale=3.0"};
    EXPECT_TRUE(refused(Model::load(path, options), "no attribute `scale`"));
    options = {};
    options.graph = "Other";
    EXPECT_TRUE(refused(Model::load(path, options), "no graph `Other`"));
    options = {};
    options.real = DataType::I32;
    EXPECT_TRUE(refused(Model::load(path, options), "`real`"));
    options.real = static_cast<DataType>(99);
    EXPECT_TRUE(refused(Model::load(path, options), "`real`"));
}

TEST(Model, ComputesRealsInTheTypeThatIsAsked) {
    LoadOptions options;
    options.real = DataType::F64;
    Loaded model(kScale, options);
    EXPECT_EQ(model.model().inputs()[0].type, DataType::F64);
    const RunResult result = model->run({{"x", kSixNumbers}});  // floats are converted
    ASSERT_TRUE(result.ok()) << result.text();
    EXPECT_TRUE(result.outputs.at("y").is<double>());
    EXPECT_TRUE(result.outputs.at("y").values<float>().empty());
}

TEST(Model, VariablesNeedData) {
    const TempFolder folder("data");
    const LoadResult result = Model::load(folder.write(kSum));
    EXPECT_EQ(result.status, Status::Wrong);
    EXPECT_EQ(result.problems.at(0).kind, "missing-data");
}

}  // namespace

}  // namespace lemma::api
