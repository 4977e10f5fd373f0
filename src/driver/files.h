// driver/files.h — texts from and to the world, with errors that begin like the rest of our
// messages: "cannot read `x`: …".
#pragma once

#include <istream>
#include <string>

#include "base/result.h"

namespace lemma::driver {

// The line for stderr about a file that cannot be read.
std::string unreadable_line(const Error& error);

Result<std::string> read_text(const std::string& path);
// Everything that `input` holds; an error beyond the size that a source may have.
Result<std::string> read_all(std::istream& input);

// Replaces the content of an existing file in one step: a reader sees the old text or the new one,
// never half of it. Keeps the file's mode, and a symbolic link stays one.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace lemma::driver
