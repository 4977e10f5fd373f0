// SPDX-License-Identifier: Apache-2.0
// tests/emit/c_program.h — a model that `lemma compile` wrote as C: built, run, and compared with
// the interpreter.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "tensor/files/file_io.h"
#include "tensor/files/npy_file.h"

namespace lemma::emit::test {

namespace fs = std::filesystem;

inline constexpr const char* kCertifiedFlags =
    "-std=c99 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

inline driver::Outcome lemma_command(const std::vector<std::string>& args) {
    std::istringstream none;
    return driver::run(args, {}, none);
}

inline std::string read(const fs::path& path) {
    const auto bytes = tensor::read_file(path.string());
    EXPECT_TRUE(bytes.has_value()) << path;
    return bytes.value_or("");
}
inline void write(const fs::path& path, const std::string& text) {
    ASSERT_TRUE(tensor::write_file(path.string(), text).has_value()) << path;
}

// A folder that is removed with the object.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& name)
        : path_(fs::temp_directory_path() /
                fmt::format("lemma_{}_{}", name, std::random_device()())) {
        fs::create_directories(path_);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

// Values of many sizes: products overflow and underflow, sums cancel, and zeros have signs.
inline double sample(std::mt19937& random) {
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

inline tensor::Tensor input_values(tensor::DType dtype,
                                   const tensor::Shape& shape,
                                   std::mt19937& random,
                                   int64_t below = 0) {  // integers: 0 for all values
    auto made = tensor::Tensor::zeros(dtype, shape);
    EXPECT_TRUE(made.has_value());
    for (int64_t i = 0; i < made->size(); ++i) {
        if (tensor::is_real(dtype)) {
            made->set_real(i, sample(random));
        } else if (dtype == tensor::DType::Bool || below > 0) {
            made->set_integer(i, static_cast<int64_t>(random() % (below > 0 ? below : 2)));
        } else {
            made->set_integer(i, static_cast<int64_t>((uint64_t{random()} << 32) | random()));
        }
    }
    return std::move(*made);
}

inline std::string bytes_of(const tensor::Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

// The elements as bytes, reals as doubles; all NaN are the same.
inline std::string comparable(const tensor::Tensor& tensor) {
    if (!tensor::is_real(tensor.dtype())) return bytes_of(tensor);
    std::string text;
    for (int64_t i = 0; i < tensor.size(); ++i) {
        const double value = std::isnan(tensor.real(i)) ? std::nan("") : tensor.real(i);
        text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return text;
}

struct CPort {
    std::string name, c_name;
    tensor::DType dtype{};
    tensor::Shape shape;
};
inline std::vector<CPort> ports(const fs::path& json, const char* which) {
    std::vector<CPort> result;
    const auto model = nlohmann::json::parse(read(json));
    for (const auto& port : model[which]) {
        result.push_back({port["name"],
                          port["c_name"],
                          tensor::dtype_from_name(port["dtype"].get<std::string>()).value(),
                          port["shape"].get<tensor::Shape>()});
    }
    return result;
}

inline void build(const fs::path& folder, const char* flags = kCertifiedFlags) {
    const std::string command =
        fmt::format("cd {} && {} {} *.c -o run -lm", folder.string(), LEMMA_C_COMPILER, flags);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

// Runs model and C on the same values, several times in a row. Integers are below the limit.
inline void expect_same_bits(const std::string& model,
                             const fs::path& c,
                             const TemporaryFolder& folder,
                             const std::vector<std::string>& options = {},
                             int64_t below = 0,
                             unsigned runs = 3) {
    const auto inputs = ports(c / "model.json", "inputs");
    const auto outputs = ports(c / "model.json", "outputs");
    std::mt19937 random(1);
    std::map<std::string, std::string> bytes;
    for (unsigned step = 0; step < runs; ++step) {
        for (const CPort& input : inputs) {
            const tensor::Tensor values = input_values(input.dtype, input.shape, random, below);
            bytes[input.c_name] += bytes_of(values);
            const fs::path at = folder.path() / fmt::format("steps/{}", step);
            fs::create_directories(at);
            ASSERT_TRUE(
                tensor::write_npy((at / (input.name + ".npy")).string(), values).has_value());
        }
    }
    for (const auto& [name, data] : bytes) write(c / (name + ".bin"), data);
    std::vector<std::string> run = {
        "run", "--engine=interpret", model, "--steps", folder / "steps", "-o", folder / "out"};
    run.insert(run.end(), options.begin(), options.end());
    const driver::Outcome outcome = lemma_command(run);
    ASSERT_EQ(outcome.status, model::kGood) << outcome.err;
    ASSERT_EQ(std::system(fmt::format("cd {} && ./run", c.string()).c_str()), 0);
    for (const CPort& output : outputs) {
        const std::string found = read(c / (output.c_name + ".bin"));
        for (unsigned step = 0; step < runs; ++step) {
            const auto expected =
                tensor::read_npy(folder / fmt::format("out/{}/{}.npy", step, output.name));
            ASSERT_TRUE(expected.has_value()) << output.name;
            auto made = tensor::Tensor::zeros(output.dtype, output.shape);
            ASSERT_TRUE(made.has_value());
            const size_t size = made->bytes().size();
            ASSERT_EQ(found.size(), size * runs) << output.name;
            std::memcpy(made->bytes().data(), found.data() + step * size, size);
            EXPECT_EQ(comparable(*expected), comparable(*made)) << output.name << ", run " << step;
        }
    }
}

}  // namespace lemma::emit::test
