// sonnx/reference/weights.h — constants in C; hexadecimal literals keep every bit of reals.
#pragma once

#include <optional>
#include <string>

#include "sonnx/reference/c_tensor.h"
#include "tensor/tensor.h"

namespace lemma::sonnx::reference {

// `const float t_w[2] = { 0x1p+0F, -0x1.8p-1F };`; empty if an element has no literal (NaN).
std::optional<std::string> constant_definition(const CTensor& tensor, const tensor::Tensor& data);

}  // namespace lemma::sonnx::reference
