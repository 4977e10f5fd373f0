// SPDX-License-Identifier: Apache-2.0
// `lemma compile -o FILE.o`, `-o FILE.so` and `--form=fast`, linked with a program in C, against
// `lemma run` with compiled code: every bit is the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "driver/driver.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"

namespace lemma {

namespace {

namespace fs = std::filesystem;
using driver::Outcome;
using tensor::DType;

constexpr int kSteps = 3;

struct Port {
    std::string name;
    DType dtype = DType::F32;
    tensor::Shape shape = {};
};
struct Case {
    std::string name;
    std::string text;  // of the model; or the path of a model of the tests
    std::vector<std::string> options;
    std::vector<Port> inputs;
    std::vector<std::string> outputs;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

std::string convolution(const char* name, const std::string& type) {
    return fmt::format(R"(import nn; import math;
graph {} {{
    @input {{ x: {}[1, 3, 9, 11]; }}
    @output {{ y: real[1, 20, 9, 11]; s: real[1, 5]; }}
    @variable {{ w: real[20, 3, 3, 3]; v: real[5, 20]; }}
    @compose {{
        c = nn.conv{{padding = [1, 1, 1, 1]}}(x, w);
        y = nn.relu(c);
        m = math.mean_reduce{{axes = [2, 3], squeeze = true}}(y);
        l = nn.linear(m, v);
        s = nn.softmax{{axes = [1]}}(l);
    }}
}})",
                       name,
                       type);
}

std::vector<Case> cases() {
    const tensor::Shape image = {1, 3, 9, 11};
    const std::string net = convolution("net", "real");
    return {
        {"f32", net, {}, {{"x", DType::F32, image}}, {"y", "s"}},
        {"f16", net, {"--real=f16"}, {{"x", DType::F16, image}}, {"y", "s"}},
        {"f64", net, {"--real=f64"}, {{"x", DType::F64, image}}, {"y", "s"}},
        {"strict", net, {"--numerics=strict"}, {{"x", DType::F32, image}}, {"y", "s"}},
        {"state",
         R"(import math;
graph net {
    @input { x: real[19]; }
    @output { y: real[19]; z: real[19]; }
    @variable { a: real[19]; b: real[19]; }
    @compose { y = math.add(a, x); z = math.add(b, x); }
    @update { a = b; b = math.add(a, x); }
})",
         {},
         {{"x", DType::F32, {19}}},
         {"y", "z"}},
        {"lstm",
         R"(import nn;
graph net {
    @input { x: real[7, 2, 16]; }
    @output { y: real[~|7, 2, 24]; h: real[2, 24]; c: real[2, 24]; }
    @variable { w: real[96, 16]; r: real[96, 24]; b: real[96]; h0: real[2, 24]; c0: real[2, 24]; }
    @compose { y, h, c = nn.lstm_loop(x, w, r, b, h0, c0); }
})",
         {},
         {{"x", DType::F32, {7, 2, 16}}},
         {"h", "c"}},
        {"while",
         R"(import math; import linalg;
graph net {
    @input { x: real[9, 9]; }
    @output { y: real[9, 9]; k: int[]; }
    @compose {
        y, k, ~ = with s = x, count = 0, moving = true while moving do..(50) {
            half = linalg.matmul(s, x);
            next = math.add(count, 1);
            size = math.abs(half);
            largest = math.max_reduce{squeeze = true}(size);
            more = math.lt(largest, 5.0);
            yield half, next, more;
        };
    }
})",
         {},
         {{"x", DType::F32, {9, 9}}},
         {"y", "k"}},
        {"branch",
         R"(import math;
graph net {
    @input { x: real[20]; n: int[]; }
    @output { y: real[20]; }
    @compose {
        few = math.lt(n, 0);
        y = if few then math.sin(x) else math.add(x, x);
    }
})",
         {},
         {{"x", DType::F32, {20}}, {"n", DType::I64, {}}},
         {"y"}},
        {"windows",
         R"(import nn; import layout; import linalg;
graph net {
    @input { x: real[1, 4, 9, 13]; }
    @output { y: real[1, 4, 5, 7]; p: real[9, 4]; e: real[3, 5]; }
    @variable { w: real[117, 4]; }
    @constant { none: real[3, 0] = 0.0; right: real[0, 5] = 0.0; }
    @compose {
        y = nn.max_pool{size = [3, 3], stride = [2, 2], padding = [1, 1, 1, 1]}(x);
        t = layout.transpose{perm = [2, 1, 3, 0]}(x);
        m = layout.reshape{shape = [9, 52]}(t);
        a = layout.concat{axis = 1}([m, m, m]);
        s = layout.slice{axes = [1], begin = [0], end = [117]}(a);
        p = linalg.matmul(s, w);
        e = linalg.matmul(none, right);
    }
})",
         {},
         {{"x", DType::F32, {1, 4, 9, 13}}},
         {"y", "p", "e"}},
        // Of 8-bit integers.
        {"int8",
         LEMMA_SOURCE_DIR "/tests/golden/onnx/com_microsoft/QLinearAdd/model.onnx",
         {},
         {{"x0", DType::U8, {2, 3, 4}}, {"x1", DType::I8, {2, 3, 4}}},
         {"uint8_same_y0", "uint8_row_y0"}},
    };
}

class ModelObject : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  fmt::format("lemma_object_{}_{}", GetParam().name, std::random_device()());
        fs::create_directories(folder_);
        model_ = GetParam().text;
        if (model_.ends_with(".onnx")) return;
        model_ = path("net.sknd");
        ASSERT_TRUE(tensor::write_file(model_, GetParam().text));
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    Outcome lemma_command(std::vector<std::string> words) const {
        words.insert(words.begin() + 1, model_);
        words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
        if (!model_.ends_with(".onnx")) words.push_back("--random-weights");
        std::istringstream none;
        return driver::run(words, {}, none);
    }
    // A compiler, and the words before a program that it made.
    struct Machine {
        std::string compiler = LEMMA_C_COMPILER;
        std::string runner = {};
    };
    void write_inputs() const;
    void build(const std::string& file, const Machine& machine) const;
    void build_c(const Machine& machine) const;
    void compare(const std::vector<std::string>& numerics,
                 const std::vector<std::string>& target,
                 const Machine& machine) const;
    std::string expected(const std::string& output) const;
    std::string read(const std::string& name) const {
        const auto bytes = tensor::read_file(path(name));
        EXPECT_TRUE(bytes) << name;
        return bytes.value_or("");
    }

    fs::path folder_;
    std::string model_;
};

// Each input as one file with the elements of all steps, and as .npy files.
void ModelObject::write_inputs() const {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> real(-1, 1);
    fs::create_directories(folder_ / "in");
    for (const Port& port : GetParam().inputs) {
        std::string all;
        for (int step = 0; step < kSteps; ++step) {
            auto values = tensor::Tensor::zeros(port.dtype, port.shape);
            ASSERT_TRUE(values);
            for (int64_t i = 0; i < values->size(); ++i) {
                if (tensor::is_real(port.dtype)) {
                    values->set_real(i, real(random));
                } else {
                    const int64_t least = tensor::is_signed(port.dtype) ? -50 * step : 0;
                    values->set_integer(i, least + static_cast<int64_t>(random() % 100));
                }
            }
            const auto bytes = values->bytes();
            all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            const std::string folder = path(fmt::format("steps/{}", step));
            fs::create_directories(folder);
            ASSERT_TRUE(tensor::write_npy(fmt::format("{}/{}.npy", folder, port.name), *values));
        }
        ASSERT_TRUE(tensor::write_file(path("in/t_" + port.name + ".bin"), all));
    }
}

// Links the example of the fast form with the object file or the library, and runs it.
void ModelObject::build(const std::string& file, const Machine& machine) const {
    const std::string command = fmt::format(
        "cd {0} && mkdir -p {2} && cp c/main.c . && {1} -std=c11 -Wall -Wextra -Werror main.c "
        "./{3} -Wl,-rpath,{0} -lm -o {2}/run && {4} {2}/run -i in -o {2}",
        folder_.string(),
        machine.compiler,
        "out_" + fs::path(file).extension().string().substr(1),
        file,
        machine.runner);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

// The same with the C of the fast form.
void ModelObject::build_c(const Machine& machine) const {
    const std::string command = fmt::format(
        "cd {0} && mkdir -p out_c && make -s -C c CC='{1}' CFLAGS='-O1 -Werror' && {2} c/model -i "
        "in -o out_c",
        folder_.string(),
        machine.compiler,
        machine.runner);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

// The bytes of all steps.
std::string ModelObject::expected(const std::string& output) const {
    std::string all;
    for (int step = 0; step < kSteps; ++step) {
        const auto values = tensor::read_npy(path(fmt::format("out/{}/{}.npy", step, output)));
        EXPECT_TRUE(values) << output;
        if (!values) return {};
        all.append(reinterpret_cast<const char*>(values->bytes().data()), values->bytes().size());
    }
    EXPECT_FALSE(all.empty());
    return all;
}

void ModelObject::compare(const std::vector<std::string>& numerics,
                          const std::vector<std::string>& target,
                          const Machine& machine) const {
    const auto command = [&](std::vector<std::string> words,
                             const std::vector<std::string>& more = {}) {
        words.insert(words.end(), numerics.begin(), numerics.end());
        words.insert(words.end(), more.begin(), more.end());
        const Outcome done = lemma_command(words);
        ASSERT_EQ(done.status, model::kGood) << done.err;
    };
    write_inputs();
    command({"compile", "--form=fast", "-o", path("c")}, target);
    command({"run", "--engine=jit", "--steps", path("steps"), "-o", path("out")});
    for (const char* const file : {"model.o", "model.so"}) {
        command({"compile", "-o", path(file)}, target);
        ASSERT_NO_FATAL_FAILURE(build(file, machine));
    }
    ASSERT_NO_FATAL_FAILURE(build_c(machine));
    EXPECT_EQ(read("model.h"), read("c/model.h"));  // one interface
    for (const std::string& output : GetParam().outputs) {
        const std::string want = expected(output);
        EXPECT_TRUE(read("out_o/t_" + output + ".bin") == want) << output;
        EXPECT_TRUE(read("out_so/t_" + output + ".bin") == want) << output;
        EXPECT_TRUE(read("out_c/t_" + output + ".bin") == want) << output;
    }
}

TEST_P(ModelObject, GivesTheBitsOfTheEngine) { compare({}, {}, {}); }

class StrictModelObject : public ModelObject {};

#ifndef __aarch64__
// In strict mode, sums have one order on every processor. `./dev setup` installs the tools.
TEST_P(StrictModelObject, IsTheSameOnAnotherProcessor) {
    ASSERT_EQ(std::system("command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 "
                          ">/dev/null"),
              0)
        << "install gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user";
    compare({"--numerics=strict"},
            {"--target=neon"},
            {"aarch64-linux-gnu-gcc", "qemu-aarch64 -L /usr/aarch64-linux-gnu"});
}
#else
// This processor is the other one; what x86 gives is tested there.
TEST_P(StrictModelObject, GivesTheBitsOfTheEngine) { compare({"--numerics=strict"}, {}, {}); }
#endif

// Those that strict mode compiles as a whole, each model once.
std::vector<Case> strict_cases() {
    std::vector<Case> chosen = cases();
    std::erase_if(chosen,
                  [](const Case& each) { return !each.options.empty() || each.name == "lstm"; });
    return chosen;
}

std::string name_of(const testing::TestParamInfo<Case>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(Cases, ModelObject, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Cases, StrictModelObject, testing::ValuesIn(strict_cases()), name_of);

}  // namespace

}  // namespace lemma
