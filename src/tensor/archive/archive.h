// SPDX-License-Identifier: Apache-2.0
// tensor/archive/archive.h — the files of a model, in a folder or in an archive (.tar, .tgz,
// .tar.bz2, .tar.xz, .zip). Archives are read without unpacking them to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace lemma::tensor {

struct SourceLimits {
    int64_t max_files = 100'000;                              // --max-files
    int64_t max_file_bytes = (int64_t{1} << 32) + (1 << 20);  // --max-file-bytes, of one file
    int64_t max_archive_bytes = 0;                            // --max-archive-bytes, unpacked;
                                                              // 0: by the size of the archive
    int64_t memory = int64_t{64} << 20;                       // bytes of an archive to keep;
                                                              // the rest is read again on demand
};

// Files by their names inside the model, `blocks/conv.sknd`. A name with `..`, `.` or an empty part
// names no file. Files and folders whose names begin with a point are hidden.
class ModelSource {
public:
    virtual ~ModelSource() = default;

    // The names of all files, sorted.
    virtual Result<std::vector<std::string>> list() const = 0;
    // Whether the name exists; it may turn out to be unreadable or no file.
    virtual bool has(const std::string& name) const = 0;
    virtual Result<int64_t> size(const std::string& name) const = 0;
    // The beginning of a file: the given number of bytes, or all of a shorter file.
    virtual Result<std::string> read(const std::string& name, int64_t first_bytes) const = 0;
    // The name of the file in messages: `models/net.tgz/main.sknd`.
    virtual std::string path_of(const std::string& name) const = 0;

    // The whole file, without a copy if it is in memory.
    virtual Result<SharedBytes> share_all(const std::string& name) const;

    // The whole file. More than `max_bytes` is an error.
    Result<std::string> read_all(const std::string& name, int64_t max_bytes) const;
};

enum class FolderDepth : uint8_t { Flat, Deep };  // whether `list` enters sub-folders
std::shared_ptr<const ModelSource> open_folder(std::string folder,
                                               FolderDepth depth,
                                               const SourceLimits& limits = {});

// Decides by the ending of the name alone.
bool is_archive_name(std::string_view path);
// Reads the archive once. Errors name the archive and the entry: damage, encryption, links and
// special files, names that lead out of it, duplicate names, and limits. If all files lie in one
// folder at the top, names are relative to that folder.
Result<std::shared_ptr<const ModelSource>> open_archive(const std::string& path,
                                                        const SourceLimits& limits = {});
enum class ArchiveNames : uint8_t {
    OfModel,    // relative to the one folder at the top; hidden files are left out
    AsWritten,  // any text; nothing is a path
};
// The same for an archive in memory; `name` is its name in messages.
Result<std::shared_ptr<const ModelSource>> open_archive_bytes(
    std::string bytes,
    std::string name,
    const SourceLimits& limits = {},
    ArchiveNames names = ArchiveNames::OfModel);

}  // namespace lemma::tensor
