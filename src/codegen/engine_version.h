// SPDX-License-Identifier: Apache-2.0
// codegen/engine_version.h — digests of sources. The object cache uses them to refuse what another
// version has made. cmake/source_digest.cmake makes them.
#pragma once

namespace lemma::codegen {

extern const char* const kEngineVersion;  // of what turns a kernel into code
extern const char* const kPlanVersion;    // of what turns a program into a plan
extern const char* const kModelVersion;   // of what turns a model into a program

}  // namespace lemma::codegen
