// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lemma {

void check_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "lemma: internal fault: %s (%s:%d)\n", condition, file, line);
    std::fflush(stderr);
    std::_Exit(3);
}

}  // namespace lemma
