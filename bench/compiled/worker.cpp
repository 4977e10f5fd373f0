// SPDX-License-Identifier: Apache-2.0
// Runs one model on request, in the engine or as a shared library that `lemma compile` made. It
// answers `run N` on standard input with the milliseconds of each run, as a line of JSON: the time
// that the processor spent on it, so that other programs count less.
// bench/compiled/compare.py compares the two.
//
//     worker engine MODEL INPUTS
//     worker library FILE.so INPUTS OUTPUT_BYTES...
//
// INPUTS is a file with lines `NAME TYPE BYTES FILE EXTENT...`; TYPE is a number of lemma.h.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <lemma/lemma.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

double milliseconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Input {
    std::string name;
    lemma::Tensor tensor;
};

std::vector<Input> read_inputs(const char* path) {
    std::vector<Input> result;
    std::ifstream list(path);
    for (std::string line; std::getline(list, line);) {
        std::istringstream words(line);
        Input input;
        int type = 0;
        size_t bytes = 0;
        std::string file;
        words >> input.name >> type >> bytes >> file;
        input.tensor.type = static_cast<lemma::DataType>(type);
        for (int64_t extent = 0; words >> extent;) input.tensor.shape.push_back(extent);
        input.tensor.bytes.resize(bytes);
        std::ifstream(file, std::ios::binary)
            .read(reinterpret_cast<char*>(input.tensor.bytes.data()),
                  static_cast<std::streamsize>(bytes));
        result.push_back(std::move(input));
    }
    return result;
}

// FNV-1a of all outputs: equal only if all bits are.
struct Digest {
    uint64_t value = 14695981039346656037U;
    void add(const void* data, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i) {
            value = (value ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211U;
        }
    }
};

// Runs on request. The function returns false if a run fails.
int serve(const std::function<bool()>& run, const std::function<uint64_t()>& digest) {
    if (!run()) return 1;
    std::printf("{\"digest\": \"%016llx\"}\n", static_cast<unsigned long long>(digest()));
    std::fflush(stdout);
    std::string word;
    int runs = 0;
    while (std::cin >> word >> runs && word == "run") {
        std::printf("[");
        for (int i = 0; i < runs; ++i) {
            const double begin = milliseconds();
            if (!run()) return 1;
            std::printf("%s%.5f", i == 0 ? "" : ", ", milliseconds() - begin);
        }
        std::printf("]\n");
        std::fflush(stdout);
    }
    return 0;
}

int serve_engine(const char* path, const std::vector<Input>& given) {
    lemma::LoadOptions options;
    options.engine = lemma::EngineChoice::Compile;
    const lemma::LoadResult loaded = lemma::Model::load(path, options);
    if (!loaded.ok()) {
        std::fprintf(stderr, "%s", loaded.text().c_str());
        return 1;
    }
    const lemma::Model& model = *loaded.model;
    lemma::SessionResult made = model.session();
    if (!made.ok()) {
        std::fprintf(stderr, "%s", made.text().c_str());
        return 1;
    }
    lemma::Tensors inputs;
    for (const Input& input : given) inputs[input.name] = input.tensor;
    lemma::RunResult last;
    const auto run = [&] {
        last = made.session->run(inputs);
        if (!last.ok()) std::fprintf(stderr, "%s", last.text().c_str());
        return last.ok();
    };
    return serve(run, [&] {
        Digest digest;
        for (const lemma::TensorInfo& info : model.outputs()) {
            const lemma::Tensor& tensor = last.outputs.at(info.name);
            digest.add(tensor.bytes.data(), tensor.bytes.size());
        }
        return digest.value;
    });
}

int serve_library(const char* path, const std::vector<Input>& given, int argc, char** argv) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    using Run = int32_t (*)(const void* const*, void* const*);
    const auto run_model = library ? reinterpret_cast<Run>(dlsym(library, "model_run")) : nullptr;
    if (!run_model) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    std::vector<const void*> inputs;
    for (const Input& input : given) inputs.push_back(input.tensor.bytes.data());
    std::vector<std::vector<std::byte>> memory;
    std::vector<void*> outputs;
    for (int i = 0; i < argc; ++i) {
        memory.emplace_back(std::strtoull(argv[i], nullptr, 10));
        outputs.push_back(memory.back().data());
    }
    return serve([&] { return run_model(inputs.data(), outputs.data()) == 0; },
                 [&] {
                     Digest digest;
                     for (const auto& output : memory) digest.add(output.data(), output.size());
                     return digest.value;
                 });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc >= 4 && std::strcmp(argv[1], "engine") == 0) {
        return serve_engine(argv[2], read_inputs(argv[3]));
    }
    if (argc >= 4 && std::strcmp(argv[1], "library") == 0) {
        return serve_library(argv[2], read_inputs(argv[3]), argc - 4, argv + 4);
    }
    std::fprintf(stderr, "usage: worker engine|library FILE INPUTS [OUTPUT_BYTES...]\n");
    return 2;
}
