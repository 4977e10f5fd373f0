// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <lemma/tools.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/models_test.h"

namespace lemma::api {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Free {
    void operator()(lemma_model* model) const { lemma_model_free(model); }
};
using ModelHandle = std::unique_ptr<lemma_model, Free>;

// The result of a call: status, the texts of its report, and the text that it gave.
struct Told {
    int status = LEMMA_GOOD;
    std::string problems;
    std::string text;
};

template <class Call>
Told told(Call call) {
    lemma_report* report = nullptr;
    Told result;
    result.status = call(&report);
    result.problems = lemma_report_text(report);
    lemma_report_free(report);
    return result;
}

template <class Call>
Told text_of_call(Call call) {
    char* text = nullptr;
    Told result = told([&](lemma_report** report) { return call(&text, report); });
    EXPECT_EQ(text != nullptr, result.status == LEMMA_GOOD) << result.problems;
    if (text) result.text = text;
    lemma_text_free(text);
    return result;
}

template <class Options>
Options sized() {
    Options options = {};
    options.struct_size = sizeof options;
    return options;
}

testing::AssertionResult says(const Told& result, int status, const std::string& part) {
    if (result.status == status && contains(result.problems, part))
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << "status " << result.status << ": " << result.problems;
}

Told check(const std::string& path, const lemma_check_options* options = nullptr) {
    return told([&](auto report) { return lemma_check(path.c_str(), options, report); });
}

Told format(const std::string& text, const lemma_format_options* options = nullptr) {
    return text_of_call([&](char** formatted, lemma_report** report) {
        return lemma_format(text.data(), text.size(), options, formatted, report);
    });
}

ModelHandle load(const std::string& path) {
    lemma_model* model = nullptr;
    EXPECT_EQ(lemma_load(path.c_str(), nullptr, &model, nullptr), LEMMA_GOOD);
    return ModelHandle(model);
}

Told graph(const ModelHandle& model, int level = LEMMA_CALLS) {
    return text_of_call([&](char** json, lemma_report** report) {
        return lemma_graph_json(model.get(), level, json, report);
    });
}

// A valid model with a warning: a computed value that nothing uses.
constexpr const char* kUnused = R"(
import math;
graph Unused {
    @input { x: real[2]; }
    @output { y: real[2]; }
    @compose { z = math.neg(x); y = math.exp(x); }
})";

}  // namespace

// ---- Checks -------------------------------------------------------------------------------------

TEST(Tools, ChecksAModel) {
    const TempFolder folder("check");
    EXPECT_EQ(check(folder.write(kScale)).status, LEMMA_GOOD);
    EXPECT_TRUE(
        says(check(folder.write("graph G { @input { x: real[2]; }")), LEMMA_WRONG, "error"));
    EXPECT_TRUE(says(check("no/such/model"), LEMMA_UNUSABLE, "no/such/model"));
    EXPECT_TRUE(says(told([](auto report) { return lemma_check(nullptr, nullptr, report); }),
                     LEMMA_UNUSABLE,
                     "no path"));
}

TEST(Tools, TreatsWarningsAsErrorsOnRequest) {
    const TempFolder folder("werror");
    const std::string path = folder.write(kUnused);
    const Told plain = check(path);
    EXPECT_TRUE(says(plain, LEMMA_GOOD, "warning"));
    auto options = sized<lemma_check_options>();
    options.werror = 1;
    EXPECT_TRUE(says(check(path, &options), LEMMA_WRONG, "error"));
}

TEST(Tools, RefusesOptionsOfChecksThatDoNotFit) {
    auto options = sized<lemma_check_options>();
    options.dialect = "latin";
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "`dialect` is \"latin\""));
    options.dialect = nullptr;
    options.profile = "sonny";
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "not one of \"sonnx\""));
    options.profile = nullptr;
    options.report = "report.md";
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "`report` needs a `profile`"));
    options.report = nullptr;
    options.attribute_count = 1;
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "NULL"));
    options.attribute_count = 0;
    options.max_errors = -2;
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "max_errors"));
    options.max_errors = 0;
    options.struct_size = 0;
    EXPECT_TRUE(says(check(".", &options), LEMMA_UNUSABLE, "struct_size"));
}

TEST(Tools, AppliesTheSafetyProfileAndWritesItsReport) {
    const TempFolder folder("profile");
    const std::string model = folder.path() + "/net.onnx";
    ASSERT_EQ(lemma_convert(folder.write(kScale).c_str(), model.c_str(), nullptr, nullptr),
              LEMMA_GOOD);
    auto options = sized<lemma_check_options>();
    options.profile = "sonnx";
    const std::string report = folder.path() + "/report.json";
    options.report = report.c_str();
    EXPECT_LE(check(model, &options).status, LEMMA_WRONG);
    std::ifstream file(report);
    EXPECT_TRUE(Json::accept(file)) << report;
}

// ---- Models in memory ---------------------------------------------------------------------------

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The files below a folder; the main file comes first.
Files files_below(const fs::path& folder, const std::string& main) {
    Files files = {{main, content_of(folder / main)}};
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().lexically_relative(folder).generic_string();
        if (entry.is_regular_file() && name != main) files.emplace_back(name, content_of(entry));
    }
    return files;
}

Told check_memory(const Files& files, const lemma_check_options* options = nullptr) {
    std::vector<lemma_file> given;
    for (const auto& [name, bytes] : files)
        given.push_back({name.c_str(), bytes.data(), bytes.size()});
    return told([&](auto report) {
        return lemma_check_memory(given.data(), given.size(), options, report);
    });
}

// A variable with its data, and a module.
constexpr const char* kWeighted = R"(
import math, parts;
graph Weighted {
    @input { x: real[4096]; }
    @output { y: real[4096]; }
    @variable { w: real[4096]; }
    @compose { scaled = math.mul(x, w); y = parts.twice(scaled); }
})";
constexpr const char* kParts = R"(
import math;
public operator twice {
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose { y = math.add(x, x); }
})";

// Writes the model with data, in the folder of the test.
std::string weighted(const TempFolder& folder) {
    const std::string path = folder.write(kWeighted);
    std::ofstream(path + "/parts.sknd") << kParts;
    LoadOptions options;
    options.random_weights = 1;
    const auto loaded = Model::load(path, options);
    EXPECT_TRUE(loaded.ok()) << loaded.text();
    auto session = loaded.model->session();
    EXPECT_TRUE(session.session->save_variables(path).ok());
    return path;
}

}  // namespace

TEST(Tools, ChecksModelsOfAllFormatsInMemory) {
    const TempFolder folder("memory");
    const std::string path = weighted(folder);
    auto require = sized<lemma_check_options>();
    require.data = "require";
    EXPECT_TRUE(says(check_memory(files_below(path, "main.sknd"), &require), LEMMA_GOOD, ""));

    const TempFolder out("memory_out");
    const auto convert = [&](const std::string& name) {
        auto options = sized<lemma_convert_options>();
        options.external_data = 1;
        const std::string to = out.path() + "/" + name;
        EXPECT_EQ(lemma_convert(path.c_str(), to.c_str(), &options, nullptr), LEMMA_GOOD);
        return fs::path(to);
    };
    const Files nnef = files_below(convert("net.nnef"), "graph.nnef");
    EXPECT_GT(nnef.size(), 1u);
    EXPECT_TRUE(says(check_memory(nnef, &require), LEMMA_GOOD, ""));
    EXPECT_NE(check_memory({nnef[0]}, &require).status, LEMMA_GOOD);

    const Files archive = {{"net.tgz", content_of(convert("net.sknd.tgz"))}};
    EXPECT_TRUE(says(check_memory(archive, &require), LEMMA_GOOD, ""));

    const std::string onnx = content_of(convert("net.onnx"));
    const std::string data = content_of(out.path() + "/net.onnx.data");
    ASSERT_FALSE(data.empty());
    EXPECT_TRUE(says(check_memory({{"net.onnx", onnx}, {"net.onnx.data", data}}), LEMMA_GOOD, ""));
    EXPECT_TRUE(says(
        check_memory({{"net.onnx", onnx}}), LEMMA_WRONG, "which is not among the given files"));
    EXPECT_TRUE(says(check_memory({{"net.onnx", onnx}, {"net.onnx.data", data.substr(1)}}),
                     LEMMA_WRONG,
                     "net.onnx.data"));
}

TEST(Tools, ReadsNothingButTheFilesInMemory) {
    const TempFolder folder("memory_only");
    const std::string path = weighted(folder);
    const Files files = files_below(path, "main.sknd");
    EXPECT_TRUE(says(check_memory({files[0]}), LEMMA_WRONG, "parts"));
    EXPECT_EQ(check_memory(files).status, LEMMA_GOOD);
}

TEST(Tools, RefusesFilesInMemoryThatAreNoModel) {
    EXPECT_TRUE(says(check_memory({}), LEMMA_UNUSABLE, "no file"));
    EXPECT_TRUE(says(check_memory({{"net.txt", ""}}), LEMMA_UNUSABLE, "net.txt"));
    EXPECT_TRUE(says(check_memory({{"net.onnx", "\xff\xff"}}), LEMMA_UNUSABLE, "net.onnx"));
    EXPECT_TRUE(says(check_memory({{"net.tgz", "no archive"}}), LEMMA_UNUSABLE, "net.tgz"));
    EXPECT_TRUE(
        says(check_memory({{"a.sknd", ""}, {"../b.sknd", ""}}), LEMMA_UNUSABLE, "`../b.sknd`"));
    EXPECT_TRUE(says(check_memory({{"a.sknd", ""}, {"a.sknd", ""}}), LEMMA_UNUSABLE, "twice"));
    const lemma_file nameless = {nullptr, nullptr, 0};
    EXPECT_EQ(lemma_check_memory(&nameless, 1, nullptr, nullptr), LEMMA_UNUSABLE);
    const lemma_file empty = {"a.sknd", nullptr, 7};
    EXPECT_EQ(lemma_check_memory(&empty, 1, nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(lemma_check_memory(nullptr, 1, nullptr, nullptr), LEMMA_UNUSABLE);
}

// ---- Conversion ---------------------------------------------------------------------------------

TEST(Tools, ConvertsByTheNameOfTheOutput) {
    const TempFolder folder("convert");
    const std::string path = folder.write(kScale);
    for (const char* name : {"/net.onnx", "/net.nnef", "/net.sknd.tgz"}) {
        const std::string out = folder.path() + name;
        const auto convert = [&](const lemma_convert_options* options) {
            return told([&](auto report) {
                return lemma_convert(path.c_str(), out.c_str(), options, report);
            });
        };
        EXPECT_TRUE(says(convert(nullptr), LEMMA_GOOD, ""));
        EXPECT_EQ(check(out).status, LEMMA_GOOD) << out;
        EXPECT_TRUE(says(convert(nullptr), LEMMA_UNUSABLE, "cannot write")) << out;
        auto options = sized<lemma_convert_options>();
        options.overwrite = 1;
        EXPECT_TRUE(says(convert(&options), LEMMA_GOOD, "")) << out;
    }
}

TEST(Tools, RefusesConversionsThatDoNotFit) {
    const TempFolder folder("no_convert");
    const std::string path = folder.write(kScale);
    const std::string out = folder.path() + "/out";
    const auto convert = [&](const lemma_convert_options& options) {
        return told([&](auto report) {
            return lemma_convert(path.c_str(), out.c_str(), &options, report);
        });
    };
    auto options = sized<lemma_convert_options>();
    EXPECT_TRUE(says(convert(options), LEMMA_UNUSABLE, "which format"));
    options.to = "pdf";
    EXPECT_TRUE(says(convert(options), LEMMA_UNUSABLE, "`to` is \"pdf\""));
    options.to = "onnx";
    options.opset = 5;
    EXPECT_TRUE(says(convert(options), LEMMA_UNUSABLE, "`opset` is 5"));
    options.opset = 0;
    options.real = LEMMA_I8;
    EXPECT_TRUE(says(convert(options), LEMMA_UNUSABLE, "`real`"));
    EXPECT_FALSE(fs::exists(out));
}

// ---- Compilation --------------------------------------------------------------------------------

TEST(Tools, CompilesToC) {
    const TempFolder folder("compile");
    const std::string path = folder.write(kScale);
    for (const char* form : {"certified", "fast"}) {
        const std::string out = folder.path() + "/" + form;
        auto options = sized<lemma_compile_options>();
        options.form = form;
        options.name = "scale";
        options.target = "generic";
        const Told result = told([&](auto report) {
            return lemma_compile(path.c_str(), out.c_str(), &options, report);
        });
        EXPECT_TRUE(says(result, LEMMA_GOOD, ""));
        EXPECT_TRUE(fs::exists(out + "/scale.c"));
        EXPECT_TRUE(fs::exists(out + "/scale.h"));
    }
}

TEST(Tools, RefusesCompilationsThatDoNotFit) {
    const TempFolder folder("no_compile");
    const std::string path = folder.write(kScale);
    const auto compile = [&](const lemma_compile_options& options) {
        return told([&](auto report) {
            return lemma_compile(path.c_str(), folder.path().c_str(), &options, report);
        });
    };
    auto options = sized<lemma_compile_options>();
    options.form = "slow";
    EXPECT_TRUE(says(compile(options), LEMMA_UNUSABLE, "`form` is \"slow\""));
    options.form = "fast";
    options.name = "not a name";
    EXPECT_TRUE(says(compile(options), LEMMA_UNUSABLE, "no name for C"));
    options.name = nullptr;
    options.numerics = 17;
    EXPECT_TRUE(says(compile(options), LEMMA_UNUSABLE, "numerics 17"));
    EXPECT_TRUE(
        says(told([](auto report) { return lemma_compile(nullptr, nullptr, nullptr, report); }),
             LEMMA_UNUSABLE,
             "path"));
}

// ---- Texts --------------------------------------------------------------------------------------

TEST(Tools, FormatsTexts) {
    EXPECT_EQ(format("graph  G{}").text, "graph G {\n}\n");
    EXPECT_TRUE(format("version 1.0;graph g(x)->(y){x=external(shape=[1]);y=relu(x);}")
                    .text.starts_with("version 1.0;\n"));
    EXPECT_TRUE(says(format("graph G {"), LEMMA_WRONG, "<text>:1"));
    auto options = sized<lemma_format_options>();
    options.name = "net.sknd";
    EXPECT_TRUE(says(format("graph G {", &options), LEMMA_WRONG, "net.sknd:1"));
    options.language = "german";
    EXPECT_TRUE(says(format("", &options), LEMMA_UNUSABLE, "`language` is \"german\""));
    EXPECT_TRUE(says(format("import math\n"), LEMMA_GOOD, "added the missing `;`"));
    EXPECT_EQ(lemma_format("", 0, nullptr, nullptr, nullptr), LEMMA_UNUSABLE);
    EXPECT_EQ(format("").text, "");
}

// ---- Descriptions -------------------------------------------------------------------------------

TEST(Tools, DescribesTheGraphOfAModel) {
    const TempFolder folder("graph");
    const ModelHandle model = load(folder.write(kScale));
    const Json json = Json::parse(graph(model).text);
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["graph"], "Scale");
    EXPECT_EQ(json["inputs"][0]["name"], "x");
    EXPECT_EQ(json["inputs"][0]["shape"], Json({2, 3}));
    const Json& operation = json["operations"][0];
    EXPECT_EQ(operation["operation"], "math.mul");
    EXPECT_EQ(operation["inputs"][0]["tensor"], "x");
    EXPECT_EQ(operation["outputs"][0]["tensor"], "y");
    EXPECT_EQ(operation["place"]["line"], 7);
    EXPECT_TRUE(says(graph(model, 7), LEMMA_UNUSABLE, "level"));
    EXPECT_TRUE(says(graph(ModelHandle()), LEMMA_UNUSABLE, "no model"));
}

TEST(Tools, TellsTheMetadataOfAnOnnxFile) {
    const TempFolder folder("metadata");
    const std::string file = folder.path() + "/net.onnx";
    auto options = sized<lemma_convert_options>();
    options.opset = 17;
    ASSERT_EQ(lemma_convert(folder.write(kScale).c_str(), file.c_str(), &options, nullptr),
              LEMMA_GOOD);
    const Json json = Json::parse(graph(load(file)).text);
    EXPECT_EQ(json["metadata"]["producer_name"], "lemma");
    EXPECT_EQ(json["metadata"]["opset_import/ai.onnx"], "17");
    EXPECT_EQ(json["metadata"]["graph_name"], "Scale");
    EXPECT_FALSE(Json::parse(graph(load(folder.path())).text).contains("metadata"));
}

TEST(Tools, GivesPrimitivesOfCompounds) {
    const TempFolder folder("primitives");
    const ModelHandle model = load(folder.write(R"(
import nn;
graph G {
    @input { x: real[2, 3]; }
    @output { y: real[2, 3]; }
    @compose { y = nn.softmax(x); }
})"));
    const Json calls = Json::parse(graph(model).text);
    const Json primitives = Json::parse(graph(model, LEMMA_PRIMITIVES).text);
    EXPECT_EQ(calls["operations"].size(), 1u);
    EXPECT_EQ(primitives["operations"].size(), calls["operations"][0]["parts"].size());
}

TEST(Tools, DescribesAGraphFromManyThreads) {
    const TempFolder folder("threads");
    const ModelHandle model = load(folder.write(kDynamic));
    const std::string expected = graph(model).text;
    std::vector<std::string> found(4);
    std::vector<std::thread> threads;
    for (std::string& one : found) threads.emplace_back([&] { one = graph(model).text; });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& one : found) EXPECT_EQ(one, expected);
}

TEST(Tools, DescribesOperators) {
    const auto operators = [](const char* name) {
        return text_of_call([&](char** json, lemma_report** report) {
            return lemma_operators_json(name, json, report);
        });
    };
    const Json one = Json::parse(operators("nn.relu").text);
    EXPECT_EQ(one["modules"][0]["operators"][0]["name"], "nn.relu");
    EXPECT_GT(Json::parse(operators(nullptr).text)["modules"].size(), 5u);
    EXPECT_EQ(Json::parse(operators("onnx.Conv").text)["modules"].size(), 1u);
    EXPECT_TRUE(says(operators("nn.rely"), LEMMA_UNUSABLE, "did you mean `nn.relu`"));
}

TEST(Tools, DescribesTheDefinitionsOfAText) {
    const auto definitions = [](std::string_view text) {
        return text_of_call([&](char** json, lemma_report** report) {
            return lemma_definitions_json(text.data(), text.size(), nullptr, json, report);
        });
    };
    const Json json = Json::parse(definitions(R"(
operator gate {
    @attrib { slope: real = 2.0; }
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @compose { y = x * slope; }
})")
                                      .text);
    const Json& gate = json["modules"][0]["operators"][0];
    EXPECT_EQ(gate["kind"], "operator");
    EXPECT_EQ(gate["name"], "gate");
    EXPECT_EQ(gate["attributes"][0]["value"], "2.0");
    EXPECT_TRUE(says(definitions("operator {"), LEMMA_WRONG, "<text>:1"));
}

}  // namespace lemma::api
