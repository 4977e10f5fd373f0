// SPDX-License-Identifier: Apache-2.0
// The safety profile from the command line, and its statement about execution: every valid order of
// the nodes gives the same bits.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "driver/driver.h"
#include "onnx/write.h"
#include "sonnx/test_models.h"
#include "tensor/files/file_io.h"

namespace lemma::driver {

namespace {

namespace fs = std::filesystem;
using sonnx::test::conforming_model;
using sonnx::test::drop_attribute;
using sonnx::test::implicit_model;
using sonnx::test::main_graph;
using sonnx::test::node_of;

class Sonnx : public testing::Test {
protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / fmt::format("lemma_sonnx_{}", test->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const onnx::Model& model) const {
        EXPECT_TRUE(tensor::write_file(path(name), onnx::write_model(model)).has_value());
        return path(name);
    }
    static std::string read(const std::string& path) {
        const auto bytes = tensor::read_file(path);
        EXPECT_TRUE(bytes.has_value()) << path;
        return bytes.value_or("");
    }
    static Outcome lemma(const std::vector<std::string>& args) {
        std::istringstream none;
        return run(args, {}, none);
    }
    // The bytes of the file with output `y`; its inputs are fixed.
    std::string result_of(const std::string& model,
                          const std::string& name,
                          const std::string& engine = "interpret") const {
        std::vector<std::string> args = {"run", model, "--random-inputs=7", "-o", path(name)};
        if (engine == "float") {
            args.insert(args.end(), {"--engine=interpret", "--accumulate=f32"});
        } else if (engine == "strict") {
            args.insert(args.end(), {"--engine=jit", "--numerics=strict"});
        } else {
            args.push_back("--engine=" + engine);
        }
        const Outcome outcome = lemma(args);
        EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
        return read(path(name + "/y.npy"));
    }

    fs::path folder_;
};

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST_F(Sonnx, ConformingModelIsGood) {
    const std::string model = write("m.onnx", conforming_model());
    const Outcome outcome = lemma({"check", "--profile=sonnx", model});
    EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "conforms")) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "error")) << outcome.err;
}

TEST_F(Sonnx, FindingsHaveTheIdsOfRules) {
    onnx::Model broken = conforming_model();
    drop_attribute(node_of(broken, "c1"), "group");
    const std::string model = write("m.onnx", broken);
    EXPECT_EQ(lemma({"check", model}).status, model::kGood);
    const Outcome outcome = lemma({"check", "--brief", "--profile=sonnx", model});
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_TRUE(contains(outcome.err,
                         ":graph/node[0]:Conv: error: the attribute `group` of `Conv` is left out; "
                         "ONNX takes `1` [sonnx-GR4]"))
        << outcome.err;
    const Outcome json = lemma({"check", "--json", "--profile=sonnx", model});
    EXPECT_EQ(json.status, model::kWrong);
    EXPECT_TRUE(contains(json.out, "\"kind\": \"sonnx-GR4\"")) << json.out;
    EXPECT_TRUE(contains(json.out, "\"conclusion\": \"does not conform\"")) << json.out;
}

TEST_F(Sonnx, WritesReports) {
    const std::string model = write("m.onnx", conforming_model());
    for (const std::string report : {"r.md", "r.html", "r.json"}) {
        const std::vector<std::string> words = {
            "check", "--profile=sonnx", "--report=" + path(report), model};
        const Outcome outcome = lemma(words);
        EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
        const std::string text = read(path(report));
        EXPECT_TRUE(
            contains(text, report == "r.json" ? "\"conforms\"" : "conforms to the profile."));
        EXPECT_TRUE(contains(text, "CONV-8"));
        EXPECT_FALSE(contains(text, folder_.string()));  // no folders of the author
        lemma(words);
        EXPECT_EQ(read(path(report)), text);  // the same bytes again
    }
    EXPECT_EQ(lemma({"check", "--profile=sonnx", "--report=r.pdf", model}).status,
              model::kUnusable);
    EXPECT_EQ(lemma({"check", "--report=r.md", model}).status, model::kUnusable);
    EXPECT_EQ(lemma({"check", "--profile=other", model}).status, model::kUnusable);
}

TEST_F(Sonnx, ReportsNameTheToolAndTheCommandLine) {
    const std::string model = write("m.onnx", conforming_model());
    std::ofstream(path("tool")) << "abc";
    std::istringstream none;
    const Outcome outcome = run({"check", "--profile=sonnx", "--report=" + path("r.md"), model},
                                {.executable = path("tool")},
                                none);
    EXPECT_EQ(outcome.status, model::kGood) << outcome.err;
    const std::string text = read(path("r.md"));
    EXPECT_TRUE(contains(text,
                         "| SHA-256 of the tool | "
                         "`ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad` |"));
    EXPECT_TRUE(
        contains(text, "| command line | `lemma check --profile=sonnx --report=r.md m.onnx` |"));
}

TEST_F(Sonnx, RangesCertifyTheModelForTheReport) {
    const std::string model = write("m.onnx", conforming_model());
    const auto check_with = [&](const std::string& range, const std::string& file) {
        return lemma(
            {"check", "--profile=sonnx", "--report=" + path("r.md"), "--range", range, file});
    };
    const Outcome good = check_with("x=-1:1", model);
    EXPECT_EQ(good.status, model::kGood) << good.err;
    const std::string text = read(path("r.md"));
    EXPECT_TRUE(contains(text, "the certificate, for the given ranges"));
    EXPECT_TRUE(contains(text, "| `x` | input | -1 | 1 | 0 |")) << text;
    EXPECT_EQ(check_with("nothing=-1:1", model).status, model::kUnusable);
    // What cannot be certified can be checked.
    onnx::Model broken = conforming_model();
    node_of(broken, "y").inputs[1] = "nothing";
    EXPECT_EQ(check_with("x=-1:1", write("b.onnx", broken)).status, model::kWrong);
    EXPECT_TRUE(contains(read(path("r.md")), "the model cannot be certified"));
}

TEST_F(Sonnx, IsForOnnxOnly) {
    std::ofstream(path("m.sknd")) << "graph G { @input { x: real[1]; } @output { y: real[1]; } "
                                     "@compose { y = x; } }\n";
    const Outcome outcome = lemma({"check", "--profile=sonnx", path("m.sknd")});
    EXPECT_EQ(outcome.status, model::kUnusable);
    EXPECT_TRUE(contains(outcome.err, "for ONNX models")) << outcome.err;
}

TEST_F(Sonnx, ExplicitFormConformsAndComputesTheSameBits) {
    const std::string model = write("m.onnx", implicit_model());
    const std::string fixed = path("fixed.onnx");
    const Outcome before = lemma({"check", "--profile=sonnx", "--fix=" + fixed, model});
    EXPECT_EQ(before.status, model::kWrong);
    EXPECT_TRUE(contains(before.err, "note: fixed CONV-23: `auto_pad` `SAME_UPPER` becomes"))
        << before.err;
    const Outcome after = lemma({"check", "--brief", "--profile=sonnx", fixed});
    EXPECT_EQ(after.status, model::kGood) << after.err;
    EXPECT_EQ(result_of(model, "before"), result_of(fixed, "after"));
}

// The model and its explicit form give the same bits in the interpreter, with sums in double and in
// float, and in compiled code with strict numerics; `repaired`: it then conforms. Other numerics
// may choose other kernels.
class SonnxBits : public Sonnx {
protected:
    void expect_same(const std::string& what,
                     const onnx::test::TestGraph& graph,
                     bool repaired,
                     const std::vector<std::string>& engines = {"interpret", "strict", "float"}) {
        onnx::Model made = sonnx::test::read(onnx::test::model_bytes(graph));
        const std::string model = write(what + ".onnx", made);
        const std::string fixed = path(what + ".fixed.onnx");
        const Outcome before =
            lemma({"check", "--brief", "--profile=sonnx", "--fix=" + fixed, model});
        EXPECT_TRUE(contains(before.err, "note: fixed ")) << what << ": " << before.err;
        const Outcome after = lemma({"check", "--brief", "--profile=sonnx", fixed});
        EXPECT_EQ(after.status, repaired ? model::kGood : model::kWrong)
            << what << ": " << after.err;
        for (const std::string& engine : engines) {
            EXPECT_TRUE(result_of(model, what + "_before", engine) ==
                        result_of(fixed, what + "_after", engine))
                << what << ", " << engine;
        }
    }
};

TEST_F(SonnxBits, TermsOfGemmAreExpanded) {
    using onnx::test::int_attribute;
    const std::vector<tensor::Shape> terms = {{}, {1}, {5}, {1, 5}, {3, 1}, {1, 1}};
    for (const tensor::Shape& term : terms) {
        for (const int64_t turned : {0, 1}) {
            onnx::test::TestGraph graph;
            graph.inputs = {{"x", {3, 40}}};
            graph.outputs = {{"y", {3, 5}}};
            graph.initializers = {
                sonnx::test::weights("b",
                                     turned != 0 ? tensor::Shape{5, 40} : tensor::Shape{40, 5}),
                sonnx::test::weights("c", term)};
            graph.nodes = {{"Gemm", {"x", "b", "c"}, {"y"}, {int_attribute("transB", turned)}}};
            expect_same(fmt::format("gemm{}_{}", turned, fmt::join(term, "x")), graph, true);
        }
    }
}

// Attributes and their defaults have single precision.
TEST_F(SonnxBits, DefaultsAreWrittenOut) {
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {64, 64}}};
    graph.outputs = {{"y", {64, 64}}};
    graph.nodes = {{"LeakyRelu", {"x"}, {"t"}}, {"Neg", {"t"}, {"u"}}, {"LeakyRelu", {"u"}, {"y"}}};
    expect_same("leaky_relu", graph, true);
    graph.inputs = {{"x", {2, 3, 4, 4}}};
    graph.outputs = {{"n", {2, 3, 4, 4}}, {"y", {3}}, {"z", {3}}};
    graph.initializers = {sonnx::test::weights("w", {3}), sonnx::test::weights("b", {3})};
    graph.nodes = {{"BatchNormalization",
                    {"x", "w", "b", "w", "b"},
                    {"n", "y", "z"},
                    {onnx::test::int_attribute("training_mode", 1)}}};
    expect_same("batch_norm", graph, false);
}

TEST_F(SonnxBits, TranspositionsOfGemmAreNodes) {
    using onnx::test::int_attribute;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {40, 3}}, {"b", {5, 40}}};
    graph.outputs = {{"y", {3, 5}}};
    graph.nodes = {
        {"Gemm", {"x", "b"}, {"y"}, {int_attribute("transA", 1), int_attribute("transB", 1)}}};
    expect_same("gemm_turned", graph, true);
}

TEST_F(SonnxBits, OptionalInputsAreGiven) {
    using onnx::test::ints_attribute;
    using sonnx::test::weights;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {1, 3, 6, 6}}};
    graph.outputs = {{"y", {1, 4, 4, 4}}};
    graph.initializers = {weights("w", {4, 3, 3, 3}), onnx::test::floats_tensor("six", {1}, {6})};
    graph.nodes = {{"Conv", {"x", "w"}, {"c"}},
                   {"Clip", {"c", "", "six"}, {"d"}},
                   {"Clip", {"d"}, {"e"}},
                   {"Slice", {"e", "from", "to"}, {"y"}}};
    graph.initializers.push_back(onnx::test::ints_tensor("from", {2}, {0, -4}));
    graph.initializers.push_back(onnx::test::ints_tensor("to", {2}, {INT64_MAX, INT64_MAX}));
    expect_same("optional", graph, true);
}

// With sums in double, lengths keep the state between steps in double.
TEST_F(SonnxBits, InputsOfLstmAreGiven) {
    using sonnx::test::weights;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {3, 1, 4}}};
    graph.outputs = {{"y", {3, 1, 1, 2}}};
    tensor::WireWriter lengths;
    lengths.put_int(1, 1);
    lengths.put_int(2, 6);
    lengths.put_int(5, 3);
    lengths.put_bytes(8, "lengths");
    graph.initializers = {weights("w", {1, 8, 4}), weights("r", {1, 8, 2}), lengths.take()};
    graph.nodes = {{"LSTM",
                    {"x", "w", "r", "", "lengths"},
                    {"y"},
                    {onnx::test::int_attribute("hidden_size", 2)}}};
    expect_same("lstm", graph, true);
    graph.nodes[0].inputs.resize(3);
    graph.initializers.pop_back();
    expect_same("lstm_without_lengths", graph, true, {"float"});
}

// A chain on shapes, as exporters write it, becomes a literal.
TEST_F(SonnxBits, ShapesAreLiteral) {
    using onnx::test::int_attribute;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {2, 3, 4}}};
    graph.outputs = {{"y", {2, 12}}};
    graph.initializers = {onnx::test::ints_tensor("zero", {1}, {0}),
                          onnx::test::ints_tensor("rest", {1}, {-1})};
    graph.nodes = {{"Shape", {"x"}, {"shape"}},
                   {"Gather", {"shape", "zero"}, {"batch"}},
                   {"Concat", {"batch", "rest"}, {"to"}, {int_attribute("axis", 0)}},
                   {"Sigmoid", {"x"}, {"s"}},
                   {"Reshape", {"s", "to"}, {"y"}}};
    expect_same("shapes", graph, true);
}

TEST_F(SonnxBits, PoolingRoundsDown) {
    using onnx::test::int_attribute;
    using onnx::test::ints_attribute;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {1, 2, 8, 7}}};
    graph.outputs = {{"y", {1, 2, 4, 3}}};
    graph.nodes = {{"MaxPool",
                    {"x"},
                    {"y"},
                    {ints_attribute("kernel_shape", {3, 3}),
                     ints_attribute("strides", {2, 2}),
                     int_attribute("storage_order", 1),
                     int_attribute("ceil_mode", 1)}}};
    expect_same("ceil", graph, true);
}

TEST_F(SonnxBits, OperatorsHaveEquivalentsInTheProfile) {
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {2, 3}}};
    graph.outputs = {{"y", {2, 3}}};
    graph.initializers = {sonnx::test::weights("w", {1, 3})};
    graph.nodes = {{"Sum", {"x", "w"}, {"a"}},
                   {"Dropout", {"a"}, {"b", "mask"}},
                   {"Sum", {"b"}, {"c"}},
                   {"Sigmoid", {"c"}, {"y"}}};
    expect_same("equivalents", graph, true);
    graph.nodes[0] = {"Sum", {"x", "w", "x"}, {"a"}};
    expect_same("sum_of_three", graph, false);
}

TEST_F(SonnxBits, NodesThatChangeNothingHaveTypes) {
    using onnx::test::ints_attribute;
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {2, 3}}};
    graph.outputs = {{"y", {2, 3}}};
    graph.initializers = {onnx::test::ints_tensor("same", {2}, {2, 3})};
    graph.nodes = {{"Identity", {"x"}, {"a"}},
                   {"Reshape", {"a", "same"}, {"b"}},
                   {"Expand", {"b", "same"}, {"c"}},
                   {"Transpose", {"c"}, {"d"}, {ints_attribute("perm", {0, 1})}},
                   {"Flatten", {"d"}, {"e"}},
                   {"Concat", {"e"}, {"f"}, {onnx::test::int_attribute("axis", 0)}},
                   {"Clip", {"f"}, {"g"}},
                   {"Max", {"g"}, {"h"}},
                   {"Sigmoid", {"h"}, {"y"}}};
    expect_same("identities", graph, true);
}

TEST_F(SonnxBits, BatchesOfMatMulAreRows) {
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {2, 3, 4, 40}}};
    graph.outputs = {{"y", {2, 3, 4, 5}}};
    graph.initializers = {sonnx::test::weights("b", {40, 5})};
    graph.nodes = {{"MatMul", {"x", "b"}, {"y"}}};
    expect_same("matmul", graph, true);
}

TEST_F(SonnxBits, AxesOfOneHotAreThoseOfTheResult) {
    for (const int64_t axis : {-1, -2, -3}) {
        onnx::test::TestGraph graph;
        graph.inputs = {{"x", {3, 3}, 7}};
        graph.outputs = {{"y", {3, 3, 3}}};
        graph.initializers = {onnx::test::ints_tensor("depth", {}, {3}),
                              sonnx::test::weights("values", {2})};
        graph.nodes = {
            {"OneHot", {"x", "depth", "values"}, {"y"}, {onnx::test::int_attribute("axis", axis)}}};
        // The operator is not in the profile.
        expect_same(fmt::format("onehot{}", -axis), graph, false);
    }
}

TEST_F(Sonnx, AxesOfOtherOperatorsStayAsTheyAre) {
    onnx::test::TestGraph graph;
    graph.inputs = {{"x", {3, 4}}};
    graph.outputs = {{"y", {3, 4}}};
    graph.nodes = {{"Hardmax", {"x"}, {"y"}, {onnx::test::int_attribute("axis", -1)}}};
    const std::string model = write("m.onnx", sonnx::test::read(onnx::test::model_bytes(graph)));
    const Outcome outcome = lemma({"check", "--profile=sonnx", "--fix=" + path("f.onnx"), model});
    EXPECT_FALSE(contains(outcome.err, "fixed S015")) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "repairs it")) << outcome.err;
}

TEST_F(Sonnx, ReportsDoNotNameFolders) {
    const std::string model = write("m.onnx", implicit_model());
    fs::create_directories(path("elsewhere"));
    fs::copy_file(model, path("elsewhere/m.onnx"));
    std::vector<std::string> reports;
    for (const std::string& file : {model, path("elsewhere/m.onnx")}) {
        const std::string fixed = fs::path(file).parent_path() / "fixed.onnx";
        for (const std::string report : {"r.md", "r.html"}) {
            lemma({"check", "--profile=sonnx", "--fix=" + fixed, "--report=" + path(report), file});
            reports.push_back(read(path(report)));
            EXPECT_FALSE(contains(reports.back(), folder_.filename().string()));
            EXPECT_TRUE(contains(reports.back(), "m.onnx"));
        }
    }
    EXPECT_EQ(reports[0], reports[2]);
    EXPECT_EQ(reports[1], reports[3]);
}

TEST_F(Sonnx, TheLimitOnInputsOfConcatCanBeSet) {
    onnx::Model many = conforming_model();
    const std::string model = write("m.onnx", many);
    const auto status = [&](const std::string& limit) {
        return lemma({"check", "--profile=sonnx", "--max-concat-inputs=" + limit, model}).status;
    };
    EXPECT_EQ(status("2"), model::kGood);
    EXPECT_EQ(status("1"), model::kWrong);
    EXPECT_EQ(lemma({"check", "--max-concat-inputs=2", model}).status, model::kUnusable);
}

TEST_F(Sonnx, WritesNoExplicitFormOfWrongModels) {
    onnx::Model broken = conforming_model();
    node_of(broken, "y").inputs[0] = "nothing";
    const std::string model = write("m.onnx", broken);
    const Outcome outcome = lemma({"check", "--profile=sonnx", "--fix=" + path("f.onnx"), model});
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_TRUE(contains(outcome.err, "[sonnx-S021]")) << outcome.err;
    EXPECT_FALSE(fs::exists(path("f.onnx")));
}

// ---- Execution order ----------------------------------------------------------------------------

// The nodes in a random valid order.
std::vector<onnx::Node> shuffled(const onnx::Graph& graph, std::mt19937& random) {
    std::set<std::string> made;
    for (const onnx::ValueInfo& input : graph.inputs) made.insert(input.name);
    for (const onnx::TensorData& data : graph.initializers) made.insert(data.proto.name);
    std::vector<onnx::Node> waiting = graph.nodes;
    std::vector<onnx::Node> order;
    while (!waiting.empty()) {
        std::shuffle(waiting.begin(), waiting.end(), random);
        const auto next = std::ranges::find_if(waiting, [&](const onnx::Node& node) {
            return std::ranges::all_of(node.inputs, [&](const std::string& name) {
                return name.empty() || made.contains(name);
            });
        });
        LEMMA_CHECK(next != waiting.end());
        made.insert(next->outputs.begin(), next->outputs.end());
        order.push_back(std::move(*next));
        waiting.erase(next);
    }
    return order;
}

TEST_F(Sonnx, EveryTopologicalOrderGivesTheSameBits) {
    const onnx::Model model = implicit_model();
    const std::string file = write("m.onnx", model);
    const std::vector<std::string> engines = {"interpret", "jit"};
    std::map<std::string, std::string> expected;
    for (const std::string& engine : engines)
        expected[engine] = result_of(file, "expected_" + engine, engine);
    std::mt19937 random(1);
    std::set<std::string> orders;
    for (int i = 0; i < 12; ++i) {
        onnx::Model other = model;
        main_graph(other).nodes = shuffled(main_graph(other), random);
        std::string order;
        for (const onnx::Node& node : main_graph(other).nodes) order += node.outputs[0];
        if (!orders.insert(order).second) continue;
        const std::string shuffled_file = write("other.onnx", other);
        for (const std::string& engine : engines)
            EXPECT_TRUE(result_of(shuffled_file, "other", engine) == expected[engine]) << order;
    }
    EXPECT_GE(orders.size(), 5U);
}

TEST_F(Sonnx, OtherOrdersAreRefused) {
    onnx::Model model = implicit_model();
    std::ranges::reverse(main_graph(model).nodes);
    const Outcome outcome = lemma({"check", "--brief", "--profile=sonnx", write("m.onnx", model)});
    EXPECT_EQ(outcome.status, model::kWrong);
    EXPECT_TRUE(contains(outcome.err, "[sonnx-S022]")) << outcome.err;
}

}  // namespace

}  // namespace lemma::driver
