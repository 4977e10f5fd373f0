// SPDX-License-Identifier: Apache-2.0
// serve/core/json_reader.h — reads JSON from front to back without building a tree, so that a large
// array of numbers goes straight into a tensor.
#pragma once

#include <string>
#include <string_view>

#include "serve/core/types.h"

namespace lemma::serve {

// The first fault stops it: then `failed()` holds, and every further call does nothing.
class JsonReader {
public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    bool failed() const { return !message_.empty(); }
    // With the place of the fault.
    Failure failure() const;
    void fail(std::string_view what);

    // The first character of the next value, `\0` at the end: `{ [ " t f n - 0…9`.
    char peek();
    // Takes the character if it is the next one.
    bool take(char wanted);
    void expect(char wanted);

    // for (bool more = reader.first('{', '}'); more; more = reader.next('}')) …
    bool first(char open, char close);
    bool next(char close);

    std::string key();  // of an object, with its colon
    std::string string();
    bool boolean();
    int64_t integer();
    // The characters of a number.
    std::string_view number();
    // Any value, which is checked and dropped.
    void skip();
    // The characters of an array, which are checked for brackets and strings only.
    std::string_view array_text();
    // Nothing but space follows.
    void end();

private:
    void space();
    void word(std::string_view wanted);
    void skip_below(int depth);
    unsigned hex4();
    void append_escape(std::string& text);

    std::string_view text_;
    size_t at_ = 0;
    std::string message_;
    size_t fault_at_ = 0;
};

// `text` in quotation marks.
std::string json_string(std::string_view text);

}  // namespace lemma::serve
