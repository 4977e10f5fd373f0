// SPDX-License-Identifier: Apache-2.0
// nnef1/syntax/dialect.h — the dialect in which a document is read. Each rule lists the
// differences; `Strict` is the specification.
#pragma once

#include <cstdint>

namespace lemma::nnef1 {

enum class Dialect : uint8_t {
    Strict,   // NNEF 1.0.4
    Khronos,  // what Khronos' tools accept, with warnings
    Tract,    // archives of tract and torch-to-nnef: symbols, escaped identifiers, no extensions
};

}  // namespace lemma::nnef1
