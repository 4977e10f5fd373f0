// Certified C, compiled and run, against the interpreter: every bit is the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>

#include "driver/driver.h"
#include "onnx/import.h"
#include "sonnx/cases.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"

namespace lemma {

namespace {

namespace fs = std::filesystem;
using driver::Outcome;
using onnx::test::model_bytes;
using onnx::test::TestGraph;
using onnx::test::TestValue;
using sonnx::test::ReferenceCase;

constexpr const char* kFlags =
    "-std=c99 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

Outcome lemma_command(const std::vector<std::string>& args) {
    std::istringstream none;
    return driver::run(args, {}, none);
}

std::string read(const fs::path& path) {
    const auto bytes = tensor::read_file(path.string());
    EXPECT_TRUE(bytes.has_value()) << path;
    return bytes.value_or("");
}
void write(const fs::path& path, const std::string& text) {
    ASSERT_TRUE(tensor::write_file(path.string(), text).has_value()) << path;
}

class Certified : public testing::TestWithParam<ReferenceCase> {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  fmt::format("lemma_certified_{}_{}", GetParam().name, std::random_device()());
        fs::create_directories(folder_);
        write(folder_ / "m.onnx", model_bytes(GetParam().graph));
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    const TestGraph& graph() const { return GetParam().graph; }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    fs::path folder_;
};

// Values of many sizes: products overflow and underflow, sums cancel, and zeros have signs.
double sample(std::mt19937& random) {
    std::uniform_int_distribution<int> pick(0, 9);
    std::uniform_real_distribution<double> small(-2, 2);
    switch (pick(random)) {
        case 0:
            return -0.0;
        case 1:
            return small(random) * 1e38;
        case 2:
            return small(random) * 1e-40;
        case 3:
            return small(random) * 1e6;
        default:
            return small(random);
    }
}

tensor::Tensor input_values(const TestValue& value, std::mt19937& random) {
    const auto dtype = onnx::memory_type(value.type);
    EXPECT_TRUE(dtype.has_value());
    auto made = tensor::Tensor::zeros(*dtype, value.shape);
    EXPECT_TRUE(made.has_value());
    for (int64_t i = 0; i < made->size(); ++i) {
        if (tensor::is_real(*dtype)) {
            made->set_real(i, sample(random));
        } else if (value.type == 9) {
            made->set_integer(i, static_cast<int64_t>(random() % 2));
        } else {
            made->set_integer(i, static_cast<int64_t>((uint64_t{random()} << 32) | random()));
        }
    }
    return std::move(*made);
}

std::string bytes_of(const tensor::Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

TEST_P(Certified, AgreesWithTheInterpreterBitForBit) {
    const Outcome written = lemma_command({"compile", path("m.onnx"), "-o", path("c")});
    ASSERT_EQ(written.status, model::kGood) << written.err;
    const std::string compile =
        fmt::format("cd {} && {} {} *.c -o run -lm", path("c"), LEMMA_C_COMPILER, kFlags);
    ASSERT_EQ(std::system(compile.c_str()), 0) << compile;

    for (unsigned seed = 1; seed <= 3; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::string> run = {
            "run", "--engine=interpret", path("m.onnx"), "-o", path("out")};
        for (const TestValue& input : graph().inputs) {
            const tensor::Tensor values = input_values(input, random);
            write(folder_ / "c" / ("t_" + input.name + ".bin"), bytes_of(values));
            ASSERT_TRUE(tensor::write_npy(path(input.name + ".npy"), values).has_value());
            run.insert(run.end(),
                       {"-i", fmt::format("{0}={1}", input.name, path(input.name + ".npy"))});
        }
        const Outcome outcome = lemma_command(run);
        ASSERT_EQ(outcome.status, model::kGood) << outcome.err;
        ASSERT_EQ(std::system(fmt::format("cd {} && ./run", path("c")).c_str()), 0);
        for (const TestValue& output : graph().outputs) {
            const auto expected = tensor::read_npy(path("out/" + output.name + ".npy"));
            ASSERT_TRUE(expected.has_value());
            EXPECT_EQ(bytes_of(*expected), read(folder_ / "c" / ("t_" + output.name + ".bin")))
                << "seed " << seed;
        }
    }
}

TEST_P(Certified, IsTheSameEveryTime) {
    for (const char* folder : {"a", "b"})
        ASSERT_EQ(lemma_command({"compile", path("m.onnx"), "-o", path(folder)}).status,
                  model::kGood);
    for (const char* file :
         {"sx.h", "sx.c", "model.h", "model.c", "weights.h", "weights.c", "main.c"})
        EXPECT_EQ(read(folder_ / "a" / file), read(folder_ / "b" / file)) << file;
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         Certified,
                         testing::ValuesIn(sonnx::test::reference_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace

}  // namespace lemma
