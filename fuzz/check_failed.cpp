// SPDX-License-Identifier: Apache-2.0
// Replaces base/check.cpp in fuzz targets: libFuzzer keeps the input of an abort, but not of an
// exit.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lemma {

void check_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "internal fault: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace lemma
