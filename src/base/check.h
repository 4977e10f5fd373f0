// SPDX-License-Identifier: Apache-2.0
// base/check.h — LEMMA_CHECK stops the program with file and line at a mistake of our own, in every
// build.
#pragma once

namespace lemma {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace lemma

#define LEMMA_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::lemma::check_failed(#condition, __FILE__, __LINE__))
