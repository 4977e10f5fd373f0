// SPDX-License-Identifier: Apache-2.0
// compile/object.h — `lemma compile -o OUT.o` and `-o OUT.so`: a model as machine code.
#pragma once

#include <string>

#include "base/result.h"
#include "codegen/compiler.h"
#include "loop/plan/frozen.h"

namespace lemma::compile {

// Whether the output is an object file or a shared library, by its extension.
bool is_object_file(const std::string& path);

struct ObjectOptions {
    std::string path;    // of the object file or the library; the header is beside it
    std::string name;    // prefix of the functions
    std::string origin;  // for a comment: tool and model
    codegen::CompilerOptions compiler;
};

// The target is that of the plan. Kernels of the plan may become narrower.
Result<void> write_object(loop::FrozenPlan& plan,
                          const codegen::MachineTarget& target,
                          const ObjectOptions& options);

}  // namespace lemma::compile
