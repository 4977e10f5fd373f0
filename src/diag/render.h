// SPDX-License-Identifier: Apache-2.0
// diag/render.h — renders diagnostics as text, `file:line:col: error: text [kind]` with an excerpt,
// a caret, notes and fix-its; or as one JSON document.
#pragma once

#include <string>

#include "diag/diagnostic.h"
#include "diag/source.h"

namespace lemma::diag {

struct RenderOptions {
    bool brief = false;        // one line per diagnostic: no notes, fix-its or excerpts
    bool colour = false;       // ANSI colours
    size_t max_columns = 120;  // excerpts of longer lines are cut around the caret
};

// All diagnostics, then a line with the number of dropped ones, if any. The text is safe to print:
// control characters and invalid UTF-8 become visible escapes.
std::string render(const SourceMap& sources, const Diagnostics& diagnostics, RenderOptions options);

// {"diagnostics": [{severity, kind, message, path, file, line, column, end_line, end_column, begin,
//  end, notes: [{message, place…}], fixes: [{replacement, place…}]}],
//  "errors": n, "warnings": n, "dropped": n, "dropped_warnings": n}
// Fields that do not apply (`path`, or the place from `file` to `end`) are left out. Offsets count
// bytes, columns count characters, and ends are exclusive.
std::string render_json(const SourceMap& sources, const Diagnostics& diagnostics);

}  // namespace lemma::diag
