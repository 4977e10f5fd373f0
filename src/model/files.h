// SPDX-License-Identifier: Apache-2.0
// model/files.h — reads and writes text files, and formats errors for the user.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "base/open_file.h"
#include "base/result.h"

namespace lemma::model {

// Makes a text that may quote a model safe for a terminal: characters that would move the cursor
// become visible escapes, line breaks stay.
std::string safe_text(std::string_view text);
// The id in docs/errors/ for the error's kind; empty if it has none.
std::string_view error_id(const Error& error);
// The line for stderr: `lemma: message [id]`, with a line break.
std::string error_line(const Error& error);

// `kind`: whether the user named the file, or it is part of what the user named.
Result<std::string> read_text(const std::string& path, FileKind kind);
// The whole `input`; an error beyond the size limit of a source.
Result<std::string> read_all(std::istream& input);

// Replaces the content of an existing file in one step: a reader sees the old or the new text,
// never a part. Keeps the file's mode and symbolic links.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace lemma::model
