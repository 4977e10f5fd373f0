// codegen/engine_version.h — changes with every change to the sources that turn a kernel into
// code, so that objects of another version are not taken for those of this one.
#pragma once

namespace lemma::codegen {

extern const char* const kEngineVersion;  // cmake/source_digest.cmake makes it

}  // namespace lemma::codegen
