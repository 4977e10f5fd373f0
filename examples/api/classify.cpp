// SPDX-License-Identifier: Apache-2.0
// Reads the digit in a picture of 5 x 7 dots, by the C++ library.
//
//     classify examples/digits
#include <algorithm>
#include <cstdio>
#include <lemma/lemma.hpp>

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

// Prints what went wrong; the status is the one of the program `lemma`.
int fail(const lemma::Outcome& outcome) {
    std::fputs(outcome.text().c_str(), stderr);
    return static_cast<int>(outcome.status);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fputs("usage: classify MODEL\n", stderr), 2;
    const lemma::LoadResult loaded = lemma::Model::load(argv[1]);
    if (!loaded.ok()) return fail(loaded);

    const lemma::Model& model = *loaded.model;
    lemma::SessionResult made = model.session();
    if (!made.ok()) return fail(made);

    const lemma::TensorInfo& picture = model.inputs().front();
    const lemma::RunResult result =
        made.session->run({{picture.name, lemma::Tensor::of<float>(picture.shape, kSeven)}});
    if (!result.ok()) return fail(result);

    const auto scores = result.outputs.at(model.outputs().front().name).values<float>();
    const auto best = std::max_element(scores.begin(), scores.end());
    std::printf("class %d, probability %.3f\n", static_cast<int>(best - scores.begin()), *best);
}
