// SPDX-License-Identifier: Apache-2.0
// Reinterprets bits as another type.
#include <fmt/format.h>

#include <cstring>

#include "interpret/intrinsic.h"

namespace lemma::interpret {

Result<void> bit_cast(IntrinsicCall& call) {
    LEMMA_TRY(const tensor::Tensor from, to_tensor(call.input(0)));
    IntrinsicCall::Output& output = call.outputs[0];
    LEMMA_TRY(tensor::Tensor to, tensor::Tensor::zeros(output.dtype, from.shape()));
    if (from.bytes().size() != to.bytes().size()) {
        return std::unexpected(Error{fmt::format("elements of {} and {} have not the same width",
                                                 tensor::dtype_name(from.dtype()),
                                                 tensor::dtype_name(to.dtype()))});
    }
    if (!from.bytes().empty())
        std::memcpy(to.bytes().data(), from.bytes().data(), from.bytes().size());
    LEMMA_TRY(output.array, to_array(to));
    return {};
}

}  // namespace lemma::interpret
