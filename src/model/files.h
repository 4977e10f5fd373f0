// model/files.h — texts from and to files, and errors as lines for the user.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "base/open_file.h"
#include "base/result.h"

namespace lemma::model {

// A text that may quote a model, as a terminal may be given it: what would move the cursor becomes
// a visible escape, lines stay lines.
std::string safe_text(std::string_view text);
// The id of docs/errors/ that an error's kind has; empty where it has none.
std::string_view error_id(const Error& error);
// The line for stderr: `lemma: message [id]`, with an end of line.
std::string error_line(const Error& error);

// `kind`: whether the user named the file, or it is part of what the user named.
Result<std::string> read_text(const std::string& path, FileKind kind);
// Everything that `input` holds; an error beyond the size that a source may have.
Result<std::string> read_all(std::istream& input);

// Replaces the content of an existing file in one step: a reader sees the old text or the new one,
// never half of it. Keeps the file's mode, and a symbolic link stays one.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace lemma::model
