// SPDX-License-Identifier: Apache-2.0
// emit/fast/vector_support_impl.h — shared parts of VectorSupport.
#pragma once

#include <fmt/format.h>

#include "emit/fast/vector_support.h"

namespace lemma::emit {

// Adds the definition of a function, once. `make` gives its body, and may add other functions.
template <class Make>
std::string VectorSupport::function(const Signature& signature, const Make& make) {
    if (!known_.contains(signature.name)) {
        const std::string body = make();
        known_.insert(signature.name);
        text_ += fmt::format(
            "static inline __attribute__((always_inline, unused)) {} {}({}) {{\n    {}\n}}\n",
            signature.result,
            signature.name,
            signature.parameters,
            body);
    }
    return signature.name;
}

}  // namespace lemma::emit
