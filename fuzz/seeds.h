// fuzz/seeds.h — for formats that chance does not find: a mutator that begins with good files, made
// by our own writers, so that no binary files need to be kept. A harness defines make_seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tensor/tensor.h"

namespace lemma::fuzz {

// A good file, small, another one for each state of `random`.
std::string make_seed(std::mt19937& random);

// A tensor of at most four axes with random bits as elements; strings only if they are asked for.
enum class Strings : uint8_t { No, Yes };
tensor::Tensor random_tensor(std::mt19937& random, Strings strings);
// Whether they have the same type, shape and bits.
bool same(const tensor::Tensor& a, const tensor::Tensor& b);

}  // namespace lemma::fuzz
