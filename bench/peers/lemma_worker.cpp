// SPDX-License-Identifier: Apache-2.0
// Runs models through the library on request, one line of JSON per answer:
//   load MODEL     loads the model and runs it once: load_ms, first_ms, or error
//   compare FILE   compares the first output with floats in a file, element by element
//   run N          the milliseconds of each of N runs
// bench/peers/compare.py and bench/sweep/sweep.py compare programs with this protocol.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <lemma/lemma.hpp>
#include <optional>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The same numbers as in the other worker: ramps of reals, small integers, one false in three.
lemma::Tensor ramp(const lemma::TensorInfo& info) {
    std::vector<int64_t> shape = info.shape;
    size_t count = 1;
    for (int64_t& extent : shape) {
        if (extent < 0) extent = 1;
        count *= static_cast<size_t>(extent);
    }
    if (info.type == lemma::DataType::I64) {
        std::vector<int64_t> values(count);
        for (size_t k = 0; k < count; ++k) values[k] = static_cast<int64_t>(k * 37 % 29);
        return lemma::Tensor::of<int64_t>(shape, values);
    }
    if (info.type == lemma::DataType::Bool) {
        lemma::Tensor tensor;
        tensor.type = lemma::DataType::Bool;
        tensor.shape = shape;
        for (size_t k = 0; k < count; ++k) tensor.bytes.push_back(std::byte{k % 3 != 0});
        return tensor;
    }
    std::vector<float> values(count);
    for (size_t k = 0; k < count; ++k) {
        values[k] = static_cast<float>(static_cast<double>(k) / static_cast<double>(count));
    }
    return lemma::Tensor::of<float>(shape, values);
}

std::vector<float> floats_of(const lemma::Tensor& tensor) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
    return values;
}

class Worker {
public:
    Worker(int threads, bool fast) : threads_(threads), fast_(fast) {}

    std::string load(const std::string& path) {
        session_.reset();
        model_.reset();
        auto begin = Clock::now();
        lemma::LoadOptions options;
        options.engine = lemma::EngineChoice::Compile;
        if (fast_) options.numerics = lemma::Numerics::Fast;
        lemma::LoadResult loaded = lemma::Model::load(path, options);
        if (!loaded.ok()) return failed(loaded.text());
        model_ = std::move(loaded.model);
        lemma::SessionResult made = model_->session({threads_, 0});
        if (!made.ok()) return failed(made.text());
        session_ = std::move(made.session);
        const double load = milliseconds_since(begin);
        lemma::Tensors inputs;
        for (const lemma::TensorInfo& info : model_->inputs()) inputs[info.name] = ramp(info);
        begin = Clock::now();
        lemma::RunResult first = session_->run(inputs);
        if (!first.ok()) return failed(first.text());
        const double first_ms = milliseconds_since(begin);
        inputs_ = std::move(inputs);
        outputs_ = std::move(first.outputs);
        find_views();
        output_ = floats_of(outputs_.at(model_->outputs()[0].name));
        char text[160];
        std::snprintf(text, sizeof text, "{\"load_ms\": %.3f, \"first_ms\": %.3f}", load, first_ms);
        return text;
    }

    // The largest difference, and the largest expected magnitude.
    std::string compare(const std::string& path) const {
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.size() != output_.size() * sizeof(float)) {
            return failed("the outputs have different sizes");
        }
        double difference = 0, largest = 0;
        for (size_t i = 0; i < output_.size(); ++i) {
            float expected = 0;
            std::memcpy(&expected, bytes.data() + i * sizeof expected, sizeof expected);
            const bool same =
                output_[i] == expected || (std::isnan(output_[i]) && std::isnan(expected));
            const double apart = same ? 0.0 : std::abs(static_cast<double>(output_[i]) - expected);
            if (std::isnan(apart)) return failed("one of two elements is nan");
            difference = std::max(difference, apart);
            if (std::isfinite(expected))
                largest = std::max(largest, std::abs(static_cast<double>(expected)));
        }
        char text[96];
        std::snprintf(
            text, sizeof text, "{\"difference\": %.6g, \"largest\": %.6g}", difference, largest);
        return text;
    }

    std::string run(int runs) {
        std::string times = "[";
        for (int i = 0; i < runs; ++i) {
            const auto begin = Clock::now();
            if (!session_ || !session_->run(input_views_, output_views_).ok()) {
                return failed("the run failed");
            }
            char text[32];
            std::snprintf(
                text, sizeof text, "%s%.4f", i == 0 ? "" : ", ", milliseconds_since(begin));
            times += text;
        }
        return times + "]";
    }

private:
    // Further runs write into the outputs of the first one, so that no run allocates memory.
    void find_views() {
        const auto view = [](lemma::Tensor& tensor) {
            return lemma::TensorView{
                tensor.type, tensor.shape, tensor.bytes.data(), tensor.bytes.size()};
        };
        input_views_.clear();
        output_views_.clear();
        for (const lemma::TensorInfo& info : model_->inputs()) {
            input_views_.push_back(view(inputs_.at(info.name)));
        }
        for (const lemma::TensorInfo& info : model_->outputs()) {
            output_views_.push_back(view(outputs_.at(info.name)));
        }
    }
    static std::string failed(const std::string& why) {
        std::string text;
        for (const char c : why) text += c == '"' || c == '\\' || c == '\n' ? ' ' : c;
        return "{\"error\": \"" + text + "\"}";
    }

    int threads_;
    bool fast_;  // numerics
    std::optional<lemma::Model> model_;
    std::optional<lemma::Session> session_;
    lemma::Tensors inputs_, outputs_;
    std::vector<lemma::TensorView> input_views_, output_views_;
    std::vector<float> output_;  // the first output of the first run
};

void say(const std::string& answer) {
    std::puts(answer.c_str());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const bool fast = argc == 4 && std::strcmp(argv[3], "fast") == 0;
    if (argc != 3 && !fast) {
        std::fprintf(stderr,
                     "usage: lemma_worker MODEL THREADS [fast] (MODEL `-`: waits for `load`)\n");
        return 2;
    }
    Worker worker(std::atoi(argv[2]), fast);
    if (std::string(argv[1]) != "-") say(worker.load(argv[1]));
    std::string word, argument;
    while (std::cin >> word && std::getline(std::cin >> std::ws, argument)) {
        if (word == "load") {
            say(worker.load(argument));
        } else if (word == "compare") {
            say(worker.compare(argument));
        } else if (word == "run") {
            say(worker.run(std::atoi(argument.c_str())));
        } else {
            break;
        }
    }
    return 0;
}
