// SPDX-License-Identifier: Apache-2.0
// codegen/shared_object.h — an object file as a shared library, without a linker of the system
// (docs/decisions/shared-objects.md).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lemma::codegen {

// The object is that of a model (object_maker.h). The library exports its global functions. The
// functions that it does not define come from libm and libc when it is loaded. `name` is the
// library's name in programs that link it (the file name).
Result<std::string> link_shared(std::string_view object, const std::string& name);

}  // namespace lemma::codegen
