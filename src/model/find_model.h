// SPDX-License-Identifier: Apache-2.0
// model/find_model.h — finds the model of a MODEL argument: a file, a folder or an archive, and its
// format.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/open_file.h"
#include "base/result.h"
#include "sknd/modules/modules.h"
#include "tensor/archive/memory_files.h"

namespace lemma::model {

enum class Format { SkriptND, Nnef1, Onnx };
// `sknd`, `nnef1` or `onnx`, as in options and documents.
const char* format_word(Format format);

struct ModelFile {
    Format format = Format::SkriptND;
    std::string path;                   // of the main file, as diagnostics print it
    std::string name;                   // of the main module, or of `graph.nnef`: the file's stem
    std::string main;                   // its name in the source, if it is read from there: an
                                        // archive or memory
    FileKind kind = FileKind::Regular;  // Any: the user named the main file itself
    std::shared_ptr<const tensor::ModelSource> source;  // its other modules and its data
};

// The error for a file name of a format that this version does not read; empty for .sknd.
std::optional<Error> unsupported_format(const std::string& path);

// The error says what was found instead of a model.
Result<ModelFile> find_model(const std::string& argument, const tensor::SourceLimits& limits = {});

// The model among files in memory: the first one, a model or an archive by its ending. Other files
// are found by their names relative to it.
Result<ModelFile> find_in_memory(std::vector<tensor::MemoryFile> files,
                                 const tensor::SourceLimits& limits = {});

// The model in memory if there are such files, else that of the argument.
Result<ModelFile> find_model(const std::string& argument,
                             const std::vector<tensor::MemoryFile>& memory,
                             const tensor::SourceLimits& limits);

// The text of the main file.
Result<std::string> read_main(const ModelFile& model);
// The other modules of the model: `a.b` is `a/b.sknd`.
sknd::ModuleReader module_reader(const ModelFile& model);

}  // namespace lemma::model
