// SPDX-License-Identifier: Apache-2.0
// The memory of many sessions of one model: prints the resident memory after each, and compares the
// results of all their runs bit by bit. With `together`, each session has a thread, and all begin
// at once. The variable LEMMA_DEVICE names the device.
//
//     ./dev build bench sessions && build/bench/sessions mobilenet_v2.onnx 16 [together]
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <lemma/lemma.hpp>
#include <thread>
#include <vector>

namespace {

double resident_megabytes() {
    std::ifstream file("/proc/self/statm");
    long all = 0, resident = 0;
    file >> all >> resident;
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

int fail(const lemma::Outcome& outcome) {
    std::fputs(outcome.text().c_str(), stderr);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    const bool good = argc == 3 || (argc == 4 && std::strcmp(argv[3], "together") == 0);
    if (!good) return std::fputs("usage: sessions MODEL COUNT [together]\n", stderr), 2;
    lemma::LoadOptions options;
    options.engine = lemma::EngineChoice::Compile;
    const lemma::LoadResult loaded = lemma::Model::load(argv[1], options);
    if (!loaded.ok()) return fail(loaded);
    const lemma::TensorInfo& input = loaded.model->inputs().front();
    lemma::Shape shape;
    std::size_t count = 1;
    for (const std::int64_t extent : input.shape) {
        shape.push_back(extent < 0 ? 1 : extent);
        count *= static_cast<std::size_t>(shape.back());
    }
    std::vector<float> pixels(count);
    for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<float>(i % 255) / 255.0F;
    const std::vector<lemma::TensorView> inputs = {lemma::TensorView::of(pixels.data(), shape)};

    std::vector<lemma::Session> sessions;
    for (int i = 0; i < std::atoi(argv[2]); ++i) {
        lemma::SessionResult made = loaded.model->session();
        if (!made.ok()) return fail(made);
        sessions.push_back(std::move(*made.session));
    }
    constexpr int kRuns = 6;  // a device replays recorded work from the third one on
    std::vector<std::vector<std::vector<char>>> results(sessions.size());
    const auto run = [&](std::size_t i) {
        for (int time = 0; time < kRuns; ++time) {
            std::vector<lemma::TensorView> outputs;
            const lemma::Outcome done = sessions[i].run(inputs, outputs);
            if (!done.ok()) std::exit(fail(done));
            const auto* const bytes = static_cast<const char*>(outputs[0].data);
            results[i].emplace_back(bytes, bytes + outputs[0].size);
        }
    };
    const bool together = argc == 4;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
        if (together) {
            threads.emplace_back(run, i);
            continue;
        }
        run(i);
        std::printf("%zu: %.1f MB\n", i + 1, resident_megabytes());
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%zu sessions: %.1f MB\n", sessions.size(), resident_megabytes());
    for (const auto& of_session : results) {
        for (const std::vector<char>& result : of_session) {
            if (result != results[0][0]) return std::puts("results differ"), 1;
        }
    }
    std::printf("%d results of each are equal\n", kRuns);
}
