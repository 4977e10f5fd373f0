// SPDX-License-Identifier: Apache-2.0
// fuzz/seeds.h — a mutator for binary formats that random bytes do not reach. It starts from valid
// files of our own writers, so the repository needs no binary seeds. A harness defines make_seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tensor/tensor.h"

namespace lemma::fuzz {

// A small valid file, different for each state of `random`.
std::string make_seed(std::mt19937& random);

// A tensor of at most four axes with random bits as elements; strings only on request.
enum class Strings : uint8_t { No, Yes };
tensor::Tensor random_tensor(std::mt19937& random, Strings strings);
// Whether they have the same type, shape and bits.
bool same(const tensor::Tensor& a, const tensor::Tensor& b);

}  // namespace lemma::fuzz
