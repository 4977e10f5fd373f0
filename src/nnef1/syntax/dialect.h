// nnef1/syntax/dialect.h — whose NNEF 1.0 a document is read as. Where they differ is listed with
// each rule; `Strict` is the specification.
#pragma once

#include <cstdint>

namespace lemma::nnef1 {

enum class Dialect : uint8_t {
    Strict,   // NNEF 1.0.4
    Khronos,  // what Khronos' tools accept, with warnings
    Tract,    // archives of tract and torch-to-nnef: symbols, escaped identifiers, no extensions
};

}  // namespace lemma::nnef1
