// base/check.h — LEMMA_CHECK stops with file and line when *we* are wrong, in every build.
#pragma once

namespace lemma {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace lemma

#define LEMMA_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::lemma::check_failed(#condition, __FILE__, __LINE__))
