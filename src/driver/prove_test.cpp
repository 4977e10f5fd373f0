// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "driver/driver.h"
#include "onnx/test_model.h"
#include "prove/fake_tools_test.h"

namespace lemma::driver {
namespace {

namespace fs = std::filesystem;

class ProveCommand : public prove::FakeTools {
protected:
    void SetUp() override {
        FakeTools::SetUp();
        std::ofstream(folder_ / "model.sknd")
            << "import nn;\ngraph G {\n    @input { x: real[4]; }\n    @output { y: real[4]; }\n"
               "    @compose {\n        u = nn.relu(x);\n        y = nn.relu(u);\n    }\n}\n";
    }
    Outcome prove(std::vector<std::string> arguments, Terminal terminal = {}) const {
        arguments.insert(arguments.begin(),
                         {"prove", file("model.sknd"), "--cache", file("cache")});
        std::istringstream nothing;
        return run(arguments, terminal, nothing);
    }
};

TEST_F(ProveCommand, PrintsATableAndKeepsProofs) {
    const Outcome first = prove({});
    EXPECT_EQ(first.status, model::kGood) << first.err;
    EXPECT_TRUE(first.out.contains("n1_relu               3/3      2      1  as n0_relu\n"))
        << first.out;
    EXPECT_TRUE(
        first.out.contains("All 15 goals are proved: 5 functions, 4 of them different, 0 "
                           "from the cache"))
        << first.out;
    EXPECT_EQ(calls(), 4U);
    const Outcome second = prove({});
    EXPECT_TRUE(second.out.contains("4 from the cache")) << second.out;
    EXPECT_EQ(calls(), 4U);
    EXPECT_EQ(prove({"--force", "--functions=n1_relu"}).status, model::kGood);
    EXPECT_EQ(calls(), 5U);
}

TEST_F(ProveCommand, GoalThatIsNotProvedIsStatus1) {
    answer(prove::kUnproved);
    const Outcome outcome = prove({"--functions=n1_relu"});
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_TRUE(outcome.out.contains("not proved in n1_relu, " + file("model.sknd") +
                                     ":7:13:\n    n1_relu_ensures\n"))
        << outcome.out;
}

TEST_F(ProveCommand, JsonNamesFunctionsAndTheirPlaces) {
    const Outcome outcome = prove({"--json"});
    EXPECT_EQ(outcome.status, model::kGood);
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["model"]["file"], "model.sknd");
    EXPECT_EQ(json["model"]["sha256"].get<std::string>().size(), 64U);
    EXPECT_EQ(json["weights_in_proof"], false);
    EXPECT_EQ(json["functions"][0]["name"], "n0_relu");
    EXPECT_EQ(json["functions"][0]["place"], file("model.sknd") + ":6:13");
    EXPECT_EQ(json["functions"][0]["goals"], 3);
    EXPECT_EQ(json["functions"][0]["by"]["CVC4"], 2);
    EXPECT_EQ(json["functions"][1]["same_as"], "n0_relu");
}

// A node of ONNX is a call of the library; its place is that of the node.
TEST_F(ProveCommand, PlacesAreInTheModelOfTheUser) {
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {4}}};
    graph.outputs = {{"y", {4}}};
    graph.nodes = {{"Sigmoid", {"x"}, {"u"}}, {"Relu", {"u"}, {"y"}}};
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << onnx::test::model_bytes(graph);
    std::istringstream nothing;
    const Outcome outcome =
        run({"prove", file("m.onnx"), "--cache", file("cache"), "--json"}, {}, nothing);
    EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
    size_t nodes = 0;
    const auto json = nlohmann::json::parse(outcome.out);
    for (const auto& function : json["functions"]) {
        const std::string place = function["place"];
        nodes += place == "graph/node[0]:Sigmoid" || place == "graph/node[1]:Relu";
        EXPECT_TRUE(place.empty() || place.starts_with("graph/node[")) << place;
    }
    EXPECT_GE(nodes, 2U) << outcome.out;
}

TEST_F(ProveCommand, ProvesTheArithmeticThatIsAskedFor) {
    const auto accumulate = [&](const std::vector<std::string>& arguments) {
        return nlohmann::json::parse(prove(arguments).out)["accumulate"];
    };
    EXPECT_EQ(accumulate({"--json"}), "f64");
    EXPECT_EQ(accumulate({"--json", "--accumulate=f32"}), "f32");
    prove({"--accumulate=f32", "-o", file("out"), "--functions=n0_relu"});
    std::ifstream text(folder_ / "out" / "proof" / "n0_relu.c");
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(text), {}).contains("sx_maxf("));
}

TEST_F(ProveCommand, KeepsItsFilesIfAsked) {
    EXPECT_EQ(prove({"-o", file("out")}).status, model::kGood);
    for (const char* const name : {"model.c",
                                   "sx.h",
                                   "proof/n0_relu.c",
                                   "proof/n0_relu.log",
                                   "proof/model_run.c",
                                   "proof/proof.json"}) {
        EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
    }
}

TEST_F(ProveCommand, MissingToolsAndFunctionsAreStatus2) {
    const Outcome function = prove({"--functions=n0_relu,n7_relu"});
    EXPECT_EQ(function.status, model::kUnusable);
    EXPECT_EQ(function.err,
              "lemma: the C code has no function `n7_relu`; it has n0_relu, n1_relu, "
              "model_compute, model_run, model_reset\n");
    fs::remove(folder_ / "bin" / "cvc4");
    const Outcome tool = prove({});
    EXPECT_EQ(tool.status, model::kUnusable);
    EXPECT_TRUE(tool.err.contains("`cvc4` is not found")) << tool.err;
    EXPECT_TRUE(tool.err.contains("apt install cvc4")) << tool.err;
    EXPECT_EQ(calls(), 0U);
}

TEST_F(ProveCommand, ShowsProgressOnTerminals) {
    answer(prove::kProved, "/bin/sleep 0.5");
    std::vector<std::string> shown;
    const Outcome outcome =
        prove({"--functions=n0_relu"},
              {.out = true, .err = true, .progress = [&](const std::string& text) {
                   shown.push_back(text);
               }});
    EXPECT_EQ(outcome.status, model::kGood);
    ASSERT_GE(shown.size(), 3U);
    EXPECT_TRUE(shown[0].starts_with("loading ")) << shown[0];
    EXPECT_EQ(shown[1], "[....................] 0/1 functions  n0_relu");
    EXPECT_EQ(shown.back(), "");  // removes the line
}

}  // namespace
}  // namespace lemma::driver
