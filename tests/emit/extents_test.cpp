// SPDX-License-Identifier: Apache-2.0
// Runtime extents in the fast form: C and machine code, for several extents of one program, against
// `lemma run`.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>

#include "emit/c_program.h"

namespace lemma::emit::test {
namespace {

using Extents = std::map<std::string, int64_t>;

struct ExtentsCase {
    std::string name;
    std::string text;  // of the model; or the path of a model of the tests
    std::vector<std::string> options = {};
    std::map<std::string, std::vector<std::string>> inputs;  // axes: names of extents, or numbers
    std::vector<Extents> good, bad;
    bool separate = false;  // one plan runs for each sample
};
void PrintTo(const ExtentsCase& each, std::ostream* out) { *out << each.name; }

std::vector<ExtentsCase> cases() {
    return {
        {.name = "batch",
         .text = R"(import nn; import math;
graph net {
    @input { x: real[~|8, 12]; }
    @output { y: real[~|8, 5]; s: real[12]; same: real[~|8, 12]; }
    @variable { w: real[7, 12]; v: real[5, 7]; }
    @compose {
        a = nn.linear(x, w);
        b = nn.relu(a);
        l = nn.linear(b, v);
        y = nn.softmax{axes = [1]}(l);
        s = math.sum_reduce{axes = [0], squeeze = true}(x);
        same = math.neg(x);
    }
})",
         .inputs = {{"x", {"e_x_0", "12"}}},
         .good = {{{"e_x_0", 0}}, {{"e_x_0", 1}}, {{"e_x_0", 3}}, {{"e_x_0", 8}}},
         .bad = {{{"e_x_0", 9}}, {{"e_x_0", -1}}, {{"e_x_0", INT64_MAX}}}},
        {.name = "two",
         .text = R"(import layout; import linalg; import math;
graph net {
    @input { x: real[~|20, 6]; z: real[~|9, 6]; }
    @output { p: real[~|20, ~|9]; c: real[~|29, 6]; m: real[~|9]; }
    @compose {
        p = linalg.matmul{transB = true}(x, z);
        c = layout.concat{axis = 0}([x, z]);
        m = math.max_reduce{axes = [1], squeeze = true}(z);
    }
})",
         .inputs = {{"x", {"e_x_0", "6"}}, {"z", {"e_z_0", "6"}}},
         .good = {{{"e_x_0", 0}, {"e_z_0", 0}},
                  {{"e_x_0", 1}, {"e_z_0", 9}},
                  {{"e_x_0", 17}, {"e_z_0", 0}},
                  {{"e_x_0", 20}, {"e_z_0", 4}},
                  {{"e_x_0", 20}, {"e_z_0", 9}}},
         .bad = {{{"e_x_0", 21}, {"e_z_0", 9}}, {{"e_x_0", 2}, {"e_z_0", 10}}}},
        {.name = "image",
         .text = R"(import nn;
graph net {
    @input { x: real[~|3, 2, ~|12, ~|13]; }
    @output { y: real[~, 4, ~, ~]; }
    @variable { w: real[4, 2, 3, 3]; }
    @compose {
        c = nn.conv{padding = [0, 0, 0, 0]}(x, w);
        r = nn.relu(c);
        y = nn.max_pool{size = [2, 2], stride = [2, 2]}(r);
    }
})",
         .inputs = {{"x", {"e_x_0", "2", "e_x_2", "e_x_3"}}},
         .good = {{{"e_x_0", 1}, {"e_x_2", 12}, {"e_x_3", 13}},
                  {{"e_x_0", 3}, {"e_x_2", 7}, {"e_x_3", 4}},
                  {{"e_x_0", 0}, {"e_x_2", 9}, {"e_x_3", 9}}},
         .bad = {{{"e_x_0", 1}, {"e_x_2", 13}, {"e_x_3", 13}},
                 {{"e_x_0", 1}, {"e_x_2", 12}, {"e_x_3", 0}}}},
        {.name = "samples",
         .text = R"(import nn; import layout;
graph net {
    @input { x: real[~|5, 2, 6, 7]; scale: real[1, 3]; }
    @output { y: real[~|5, 4]; r: real[~|15, 6, 7]; }
    @variable { w: real[3, 2, 3, 3]; v: real[4, 126]; }
    @compose {
        c = nn.conv{padding = [1, 1, 1, 1]}(x, w);
        a = nn.relu(c);
        f = layout.flatten{axis = 1, rank = 3}(a);
        l = nn.linear(f, v);
        y = nn.softmax{axes = [1]}(l);
        r = layout.flatten{axis = 0, rank = 2}(a);
    }
})",
         .inputs = {{"x", {"e_x_0", "2", "6", "7"}}, {"scale", {"1", "3"}}},
         .good = {{{"e_x_0", 0}}, {{"e_x_0", 1}}, {{"e_x_0", 5}}},
         .bad = {{{"e_x_0", 6}}, {{"e_x_0", -1}}},
         .separate = true},
        {.name = "across",
         .text = R"(import math; import layout;
graph net {
    @input { x: real[~|5, 3]; }
    @output { y: real[~|5, 3]; z: real[~|10, 3]; }
    @compose {
        m = math.max_reduce{axes = [0], squeeze = false}(x);
        y = math.sub(x, m);
        z = layout.concat{axis = 0}([y, x]);
    }
})",
         .inputs = {{"x", {"e_x_0", "3"}}},
         .good = {{{"e_x_0", 1}}, {{"e_x_0", 4}}, {{"e_x_0", 5}}},
         .bad = {{{"e_x_0", 6}}}},
        {.name = "flag",
         .text = LEMMA_SOURCE_DIR "/tests/golden/onnx/inputs/symbolic.onnx",
         .options = {"--shape=x=0..5x4"},
         .inputs = {{"x", {"e_n", "4"}}},
         .good = {{{"e_n", 0}}, {{"e_n", 1}}, {{"e_n", 5}}},
         .bad = {{{"e_n", 6}}}},
    };
}

class RuntimeExtents : public testing::TestWithParam<ExtentsCase> {
protected:
    void SetUp() override {
        model_ = GetParam().text;
        if (model_.ends_with(".onnx")) return;
        model_ = folder_ / "net.sknd";
        write(model_, GetParam().text);
    }
    void compile(const std::string& out, std::vector<std::string> words) const {
        words.insert(words.begin(), {"compile", model_, "-o", folder_ / out});
        words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
        if (model_.ends_with(".sknd")) words.push_back("--random-weights");
        const driver::Outcome done = lemma_command(words);
        ASSERT_EQ(done.status, model::kGood) << done.err;
    }
    // Builds the C in the folder, or its main.c with a library.
    void make(const std::string& folder, const std::string& flags, const std::string& files) const {
        const std::string command = fmt::format(
            "cd {} && {} -std=gnu11 -O1 -ffp-contract=off -Wno-psabi -Wall -Wextra "
            "-Werror {} {} -lm -o run",
            folder_ / folder,
            LEMMA_C_COMPILER,
            flags,
            files);
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
    int run(const std::string& folder, const Extents& extents) const {
        std::string words;
        for (const auto& [name, value] : extents) words += fmt::format(" -e {}={}", name, value);
        const std::string command =
            fmt::format("cd {} && ./run -i {}{} 2>errors", folder_ / folder, folder_ / "in", words);
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void write_inputs(const Extents& extents) const;
    // The outputs of Lemma for these inputs, by their names.
    void expect_outputs(const std::vector<std::string>& folders,
                        const Extents& extents,
                        const std::string& engine,
                        const std::string& numerics) const;

    void expect_refused(const Extents& extents) const;

    TemporaryFolder folder_{"extents"};
    std::string model_;
};

void RuntimeExtents::write_inputs(const Extents& extents) const {
    std::mt19937 random(7);
    fs::create_directories(folder_ / "in");
    for (const auto& [name, axes] : GetParam().inputs) {
        tensor::Shape shape;
        for (const std::string& axis : axes) {
            const auto found = extents.find(axis);
            shape.push_back(found != extents.end() ? found->second : std::stoll(axis));
        }
        auto values = tensor::Tensor::zeros(tensor::DType::F32, shape);
        ASSERT_TRUE(values);
        for (int64_t i = 0; i < values->size(); ++i) {
            values->set_real(i, std::uniform_real_distribution<double>(-1, 1)(random));
        }
        write(folder_ / fmt::format("in/t_{}.bin", name), bytes_of(*values));
        ASSERT_TRUE(tensor::write_npy(folder_ / fmt::format("in/{}.npy", name), *values));
    }
}

void RuntimeExtents::expect_outputs(const std::vector<std::string>& folders,
                                    const Extents& extents,
                                    const std::string& engine,
                                    const std::string& numerics) const {
    std::string text;
    for (const auto& [name, value] : extents) text += fmt::format("{}={} ", name, value);
    SCOPED_TRACE(text + engine);
    std::vector<std::string> words = {
        "run", model_, "--engine=" + engine, "--numerics=" + numerics, "-o", folder_ / "out"};
    for (const auto& [name, axes] : GetParam().inputs) {
        words.push_back(fmt::format("-i{}={}", name, folder_ / fmt::format("in/{}.npy", name)));
    }
    if (model_.ends_with(".sknd")) words.push_back("--random-weights");
    const driver::Outcome done = lemma_command(words);
    ASSERT_EQ(done.status, model::kGood) << done.err;
    for (const std::string& folder : folders) {
        ASSERT_EQ(run(folder, extents), 0) << read(folder_ / (folder + "/errors"));
        for (const CPort& output : ports(folder_ / "generic/model.json", "outputs")) {
            const auto want = tensor::read_npy(folder_ / fmt::format("out/{}.npy", output.name));
            ASSERT_TRUE(want) << output.name;
            const std::string got = read(folder_ / fmt::format("{}/{}.bin", folder, output.c_name));
            EXPECT_EQ(got.size(), want->bytes().size()) << folder << " " << output.name;
            EXPECT_TRUE(got == bytes_of(*want)) << folder << " " << output.name;
        }
    }
}

// The library itself refuses the extents, before it reads or writes a tensor.
void RuntimeExtents::expect_refused(const Extents& extents) const {
    void* const library = dlopen((folder_ / "so/model.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    std::vector<int64_t> given;
    const auto description = nlohmann::json::parse(read(folder_ / "generic/model.json"));
    for (const auto& extent : description["extents"]) {
        given.push_back(extents.at(extent["c_name"].get<std::string>()));
    }
    const void* const none[8] = {};
    using RunFunction = int32_t (*)(const void* const*, const void* const*, const int64_t*);
    const auto run = reinterpret_cast<RunFunction>(dlsym(library, "model_run"));
    constexpr int32_t kExtents = 5;  // MODEL_EXTENTS
    EXPECT_EQ(run(none, none, given.data()), kExtents);
    dlclose(library);
}

TEST_P(RuntimeExtents, GivesTheBitsOfTheEngine) {
    std::vector<std::string> folders = {"generic", "so"};
    compile("generic", {"--form=fast", "--target=generic", "--numerics=strict"});
    make("generic", "", "*.c");
    const bool separate =
        read(folder_ / "generic/model.c").find("error = run_steps(&r)") != std::string::npos;
    EXPECT_EQ(separate, GetParam().separate);
    fs::create_directories(folder_ / "so");
    compile("so/model.so", {"--numerics=strict"});
    fs::copy(folder_ / "generic/main.c", folder_ / "so/main.c");
    make("so", "-Wl,-rpath,'$ORIGIN'", "main.c ./model.so");
    EXPECT_EQ(read(folder_ / "so/model.h"), read(folder_ / "generic/model.h"));
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        folders.push_back("avx2");
        compile("avx2", {"--form=fast", "--target=avx2", "--numerics=strict"});
        make("avx2", "-mavx2 -mfma -mf16c", "*.c");
    }
#endif
    for (const Extents& extents : GetParam().good) {
        write_inputs(extents);
        expect_outputs(folders, extents, "jit", "strict");
        if (HasFatalFailure()) return;
    }
    for (const Extents& extents : GetParam().bad) {
        for (const std::string& folder : folders) EXPECT_EQ(run(folder, extents), 2) << folder;
        expect_refused(extents);
    }
}

// Whether the code is for one sample. Otherwise kernels take the extent.
bool runs_for_each_sample(const std::string& outputs, const std::string& compose) {
    const TemporaryFolder folder("samples");
    write(folder / "net.sknd",
          fmt::format("import math; import layout; import linalg; import nn;\n"
                      "graph net {{\n    @input {{ x: real[~|5, 6]; k: int[3]; }}\n"
                      "    @output {{ y: {}; }}\n    @compose {{ {} }}\n}}\n",
                      outputs,
                      compose));
    const driver::Outcome done = lemma_command(
        {"compile", folder / "net.sknd", "--form=fast", "--target=generic", "-o", folder / "c"});
    EXPECT_EQ(done.status, model::kGood) << compose << done.err;
    return read(folder / "c/model.c").find("error = run_steps(&r)") != std::string::npos;
}

TEST(Samples, AreSeparateIfNoneReadsAnother) {
    EXPECT_TRUE(runs_for_each_sample("real[~|5, 6]", "y = math.exp(x);"));
    EXPECT_TRUE(runs_for_each_sample("real[~|5, 6]", "y = nn.softmax{axes = [1]}(x);"));
    EXPECT_TRUE(runs_for_each_sample("real[~|5, 6]", "y = math.cumsum{axis = 1}(x);"));
    EXPECT_TRUE(runs_for_each_sample("real[~|5, 3]", "y = layout.gather{axis = 1}(x, k);"));
    EXPECT_TRUE(runs_for_each_sample(
        "real[~|15]",
        "s = layout.slice{axes = [1], begin = [4], end = [1], stride = [-1]}(x); "
        "y = layout.flatten{axis = 0, rank = 2}(s);"));
}

TEST(Samples, AreNotSeparateIfOneReadsAnother) {
    EXPECT_FALSE(runs_for_each_sample("real[~|5, 6]", "y = nn.softmax{axes = [0]}(x);"));
    EXPECT_FALSE(runs_for_each_sample("real[~|5, 6]", "y = math.cumsum{axis = 0}(x);"));
    EXPECT_FALSE(runs_for_each_sample("real[~|5, ~|5]", "y = linalg.matmul{transB = true}(x, x);"));
    EXPECT_FALSE(runs_for_each_sample("real[6, ~|5]", "y = layout.transpose{perm = [1, 0]}(x);"));
    EXPECT_FALSE(
        runs_for_each_sample("real[~|6, 6]", "y = layout.pad{padding = [1, 0, 0, 0]}(x);"));
    EXPECT_FALSE(runs_for_each_sample("real[~|10, 6]", "y = layout.concat{axis = 0}([x, x]);"));
    EXPECT_FALSE(
        runs_for_each_sample("real[~|10, 6]", "y = layout.tile{axes = [0], repeats = [2]}(x);"));
    EXPECT_FALSE(
        runs_for_each_sample("real[6]", "y = math.sum_reduce{axes = [0], squeeze = true}(x);"));
}

INSTANTIATE_TEST_SUITE_P(Cases, RuntimeExtents, testing::ValuesIn(cases()), [](const auto& each) {
    return each.param.name;
});

}  // namespace
}  // namespace lemma::emit::test
