// driver/model.h — what a MODEL argument names: a file or a folder, in a format found by looking.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace lemma::driver {

enum class Format { SkriptND };

struct ModelFile {
    Format format = Format::SkriptND;
    std::string path;    // of the main file, as diagnostics print it
    std::string folder;  // where its other modules lie
    std::string name;    // of the main module: the file's stem
};

// What a file's name says about a format that this version does not read; empty for .sknd.
std::optional<Error> unsupported_format(const std::string& path);

// The error says what is there instead of a model that this version reads.
Result<ModelFile> find_model(const std::string& argument);

}  // namespace lemma::driver
