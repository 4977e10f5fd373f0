// model/files.h — texts from and to the world, with errors that begin like the rest of our
// messages: "cannot read `x`: …".
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
// The line for stderr about a file that cannot be read.
std::string unreadable_line(const Error& error);
// The same about whatever keeps a model from being used; files that cannot be read are told apart.
std::string unusable_line(const Error& error);

// `kind`: whether the user named the file, or it is part of what the user named.
Result<std::string> read_text(const std::string& path, FileKind kind);
// Everything that `input` holds; an error beyond the size that a source may have.
Result<std::string> read_all(std::istream& input);

// Replaces the content of an existing file in one step: a reader sees the old text or the new one,
// never half of it. Keeps the file's mode, and a symbolic link stays one.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace lemma::model
