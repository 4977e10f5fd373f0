// base/result.h — Result<T> for failures of files, memory or the system: a value, or an Error in
// the user's words.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace lemma {

struct Error {
    std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace lemma

#define LEMMA_CONCAT_(a, b) a##b
#define LEMMA_CONCAT(a, b) LEMMA_CONCAT_(a, b)

// LEMMA_TRY(std::string bytes, read_file(path)); declares `bytes`, or returns the error.
#define LEMMA_TRY(declaration, expression) \
    LEMMA_TRY_(declaration, expression, LEMMA_CONCAT(lemma_try_, __LINE__))
#define LEMMA_TRY_(declaration, expression, name)               \
    auto name = (expression);                                   \
    if (!name) return std::unexpected(std::move(name).error()); \
    declaration = std::move(*name)
