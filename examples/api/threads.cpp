// SPDX-License-Identifier: Apache-2.0
// Reads digits in several threads. The threads share one model: each has a session of its own, and
// all of them use the same weights and code. A run that takes too long is stopped.
//
//     threads examples/digits
#include <algorithm>
#include <cstdio>
#include <lemma/lemma.hpp>
#include <thread>

namespace {

const std::vector<float> kSeven = {
    1, 1, 1, 1, 1,  //
    0, 0, 0, 0, 1,  //
    0, 0, 0, 1, 0,  //
    0, 0, 1, 0, 0,  //
    0, 0, 1, 0, 0,  //
    0, 1, 0, 0, 0,  //
    0, 1, 0, 0, 0,  //
};

// The class of the picture; -1 and a message on failure.
int classify(const lemma::Model& model) {
    lemma::SessionResult made = model.session();
    if (!made.ok()) return std::fputs(made.text().c_str(), stderr), -1;
    lemma::Control control;
    control.seconds = 10;

    // Without copies: the session reads our picture and lends its scores.
    const std::vector<lemma::TensorView> inputs = {
        lemma::TensorView::of(kSeven.data(), model.inputs().front().shape)};
    std::vector<lemma::TensorView> outputs;
    for (int time = 0; time < 100; ++time) {
        outputs.clear();
        const lemma::Outcome done = made.session->run(inputs, outputs, control);
        if (!done.ok()) return std::fputs(done.text().c_str(), stderr), -1;
    }
    const auto* const scores = outputs.front().elements<float>();
    const std::size_t count = outputs.front().size / sizeof(float);
    return static_cast<int>(std::max_element(scores, scores + count) - scores);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fputs("usage: threads MODEL\n", stderr), 2;
    const lemma::LoadResult loaded = lemma::Model::load(argv[1]);
    if (!loaded.ok()) {
        std::fputs(loaded.text().c_str(), stderr);
        return static_cast<int>(loaded.status);
    }
    constexpr std::size_t kThreads = 4;
    int classes[kThreads] = {};
    std::vector<std::thread> threads;
    for (int& found : classes) {
        threads.emplace_back([&, model = *loaded.model] { found = classify(model); });
    }
    for (std::thread& thread : threads) thread.join();
    const bool same =
        std::all_of(classes, classes + kThreads, [&](int found) { return found == classes[0]; });
    if (!same || classes[0] < 0) return 1;
    std::printf("class %d, in all %zu threads\n", classes[0], kThreads);
}
