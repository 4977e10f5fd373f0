// SPDX-License-Identifier: Apache-2.0
// Runs one model through the library on request: it answers `run N` on standard input with the
// milliseconds of each run, as a line of JSON. bench/peers/compare.py compares the programs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <lemma/lemma.hpp>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The same numbers as in the other worker: k / n, and ones where integers are wanted.
lemma::Tensors make_inputs(const lemma::Model& model) {
    lemma::Tensors inputs;
    for (const lemma::TensorInfo& info : model.inputs()) {
        std::vector<int64_t> shape = info.shape;
        size_t count = 1;
        for (int64_t& extent : shape) {
            if (extent < 0) extent = 1;
            count *= static_cast<size_t>(extent);
        }
        if (info.type == lemma::DataType::I64) {
            inputs[info.name] = lemma::Tensor::of<int64_t>(shape, std::vector<int64_t>(count, 1));
            continue;
        }
        std::vector<float> values(count);
        for (size_t k = 0; k < count; ++k) {
            values[k] = static_cast<float>(static_cast<double>(k) / static_cast<double>(count));
        }
        inputs[info.name] = lemma::Tensor::of<float>(shape, values);
    }
    return inputs;
}

// A number that shows whether two programs computed the same.
double checksum(const lemma::Tensor& tensor) {
    double sum = 0;
    const size_t count = tensor.bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
        float value = 0;
        std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
        sum += value * static_cast<double>(i % 7 + 1);
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: lemma_worker MODEL THREADS\n");
        return 2;
    }
    auto begin = Clock::now();
    lemma::LoadOptions options;
    options.engine = lemma::EngineChoice::Compile;
    const lemma::LoadResult loaded = lemma::Model::load(argv[1], options);
    if (!loaded.ok()) {
        std::fprintf(stderr, "%s", loaded.text().c_str());
        return 1;
    }
    const lemma::Model& model = *loaded.model;
    lemma::SessionResult made = model.session({std::atoi(argv[2]), 0});
    if (!made.ok()) {
        std::fprintf(stderr, "%s", made.text().c_str());
        return 1;
    }
    lemma::Session& session = *made.session;
    const double load = milliseconds_since(begin);
    const lemma::Tensors inputs = make_inputs(model);
    begin = Clock::now();
    const lemma::RunResult first = session.run(inputs);
    if (!first.ok()) {
        std::fprintf(stderr, "%s", first.text().c_str());
        return 1;
    }
    std::printf("{\"load_ms\": %.3f, \"first_ms\": %.3f, \"checksum\": %.9g}\n",
                load,
                milliseconds_since(begin),
                checksum(first.outputs.at(model.outputs()[0].name)));
    std::fflush(stdout);
    std::string word;
    int runs = 0;
    while (std::cin >> word >> runs && word == "run") {
        std::printf("[");
        for (int i = 0; i < runs; ++i) {
            begin = Clock::now();
            if (!session.run(inputs).ok()) return 1;
            std::printf("%s%.4f", i == 0 ? "" : ", ", milliseconds_since(begin));
        }
        std::printf("]\n");
        std::fflush(stdout);
    }
    return 0;
}
