// SPDX-License-Identifier: Apache-2.0
// diag/span.h — a byte range in one source file. Every token, node and diagnostic has one.
#pragma once

#include <algorithm>

#include "base/id.h"

namespace lemma::diag {

struct FileId : Id<FileId> {};

struct Span {
    FileId file;
    uint32_t begin = 0;
    uint32_t end = 0;

    bool valid() const { return file.valid(); }
    friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both; an invalid span adds nothing.
inline Span cover(Span a, Span b) {
    if (!a.valid()) return b;
    if (!b.valid() || a.file != b.file) return a;
    return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace lemma::diag

namespace lemma {
using diag::Span;
}
