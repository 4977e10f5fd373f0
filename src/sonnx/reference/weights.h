// sonnx/reference/weights.h — constants as C: reals as hexadecimal literals, so that no bit is
// lost.
#pragma once

#include <optional>
#include <string>

#include "sonnx/reference/c_tensor.h"
#include "tensor/tensor.h"

namespace lemma::sonnx::reference {

// `const float t_w[2] = { 0x1p+0F, -0x1.8p-1F };`; empty where an element has no literal (nan).
std::optional<std::string> constant_definition(const CTensor& tensor, const tensor::Tensor& data);

}  // namespace lemma::sonnx::reference
