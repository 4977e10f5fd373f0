// SPDX-License-Identifier: Apache-2.0
// What the C++ snippets of docs/howto/use-the-library.md take for granted.
#pragma once

#include <cstdio>
#include <lemma/lemma.hpp>
#include <string>
#include <vector>

static const std::vector<float> dots(35);
static const float pixels[1 * 3 * 224 * 224] = {};
static const std::string bytes, data;
static const lemma::Stop stop;
static const lemma::Tensors inputs;

static int fail(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    return 1;
}
static void show(const std::string& name, const std::vector<int64_t>& shape) {
    std::printf("%s: rank %zu\n", name.c_str(), shape.size());
}
static lemma::Session& any_session() {
    static lemma::LoadResult loaded = lemma::Model::load("examples/digits");
    static lemma::SessionResult made = loaded.model->session();
    return *made.session;
}
static lemma::Session& session = any_session();
