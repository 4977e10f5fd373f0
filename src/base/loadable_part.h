// SPDX-License-Identifier: Apache-2.0
// base/loadable_part.h — parts of Lemma with heavy libraries of their own. Each is a file that
// Lemma finds beside itself or where it is installed, and loads when it is needed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lemma {

struct LoadablePart {
    const char* what;      // in messages: "the compiler"
    const char* file;      // "lemma_jit.so"
    const char* variable;  // of the environment: names another file
    const char* package;   // the Debian package that has it
};

// The address of a function of the part, which stays loaded. Fails if the file is not there, cannot
// be loaded, is of another version, or belongs to somebody who could not change Lemma itself. Never
// searches the current folder or LD_LIBRARY_PATH. A part has src/base/part_version.cpp among its
// sources; both sides are built together, so that the function may have C++ types.
Result<void*> load_symbol(const LoadablePart& part, const char* symbol);

// Where a part may be if the file of Lemma's code is `self`.
std::vector<std::string> places_of_part(const LoadablePart& part, const std::string& self);

}  // namespace lemma
