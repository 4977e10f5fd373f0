// SPDX-License-Identifier: Apache-2.0
// base/result.h — Result<T> for failures of files, memory or the system: a value, or an Error in
// the user's words.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace lemma {

// What an error is about, for callers that treat errors differently.
enum class ErrorKind : uint8_t {
    Other,
    Unreadable,  // a file or folder is missing, closed, damaged or of an unknown format
    Unwritable,  // a file or folder cannot be made or written
};

struct Error {
    std::string message;
    ErrorKind kind = ErrorKind::Other;
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace lemma

#define LEMMA_CONCAT_(a, b) a##b
#define LEMMA_CONCAT(a, b) LEMMA_CONCAT_(a, b)

// LEMMA_TRY(std::string bytes, read_file(path)); declares `bytes`, or returns the error.
// LEMMA_TRY(check(bytes)); goes on, or returns the error.
#define LEMMA_TRY(...) LEMMA_TRY_PICK(__VA_ARGS__, LEMMA_TRY_VALUE, LEMMA_TRY_VOID)(__VA_ARGS__)
#define LEMMA_TRY_PICK(first, second, picked, ...) picked
#define LEMMA_TRY_VALUE(declaration, expression) \
    LEMMA_TRY_VALUE_(declaration, expression, LEMMA_CONCAT(lemma_try_, __LINE__))
#define LEMMA_TRY_VALUE_(declaration, expression, name)         \
    auto name = (expression);                                   \
    if (!name) return std::unexpected(std::move(name).error()); \
    declaration = std::move(*name)
#define LEMMA_TRY_VOID(expression) LEMMA_TRY_VOID_(expression, LEMMA_CONCAT(lemma_try_, __LINE__))
#define LEMMA_TRY_VOID_(expression, name)                                                     \
    do {                                                                                      \
        if (auto name = (expression); !name) return std::unexpected(std::move(name).error()); \
    } while (false)
