// SPDX-License-Identifier: Apache-2.0
// codegen/engine_version.h — a digest of the sources that turn a kernel into code. The object cache
// uses it to refuse objects of another version.
#pragma once

namespace lemma::codegen {

extern const char* const kEngineVersion;  // made by cmake/source_digest.cmake

}  // namespace lemma::codegen
