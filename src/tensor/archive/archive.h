// tensor/archive/archive.h — the files of a model, wherever they lie: in a folder, or in an archive
// (.tar, .tgz, .tar.bz2, .tar.xz, .zip) that is read without being unpacked to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lemma::tensor {

struct SourceLimits {
    int64_t max_files = 100'000;                              // --max-files
    int64_t max_file_bytes = (int64_t{1} << 32) + (1 << 20);  // --max-file-bytes, of one file
    int64_t max_archive_bytes = 0;                            // --max-archive-bytes, unpacked;
                                                              // 0: by the size of the archive
    int64_t memory = int64_t{64} << 20;  // of an archive to keep; the rest is read again when asked
};

// Files by their names inside of the model, `blocks/conv.sknd`. A name with `..`, `.` or an empty
// part is the name of no file; files and folders whose names begin with a point are left out.
class ModelSource {
public:
    virtual ~ModelSource() = default;

    // The names of all files, sorted.
    virtual Result<std::vector<std::string>> list() const = 0;
    // Something of that name is there, though it may turn out to be no file that can be read.
    virtual bool has(const std::string& name) const = 0;
    virtual Result<int64_t> size(const std::string& name) const = 0;
    // The first bytes of a file, as many as there are up to the given number.
    virtual Result<std::string> read(const std::string& name, int64_t first_bytes) const = 0;
    // How messages name the file: `models/net.tgz/main.sknd`.
    virtual std::string path_of(const std::string& name) const = 0;

    // All of a file. More than `max_bytes` is an error.
    Result<std::string> read_all(const std::string& name, int64_t max_bytes) const;
};

enum class FolderDepth : uint8_t { Flat, Deep };  // whether `list` goes into folders inside
std::shared_ptr<const ModelSource> open_folder(std::string folder,
                                               FolderDepth depth,
                                               const SourceLimits& limits = {});

// By the ending of the name alone.
bool is_archive_name(std::string_view path);
// Reads through the archive once. Errors name it, and the entry they are about: damage, encryption,
// links and special files, names that lead out of it, names that occur twice, and limits. Where all
// files lie in one folder at the top, names begin inside of that folder.
Result<std::shared_ptr<const ModelSource>> open_archive(const std::string& path,
                                                        const SourceLimits& limits = {});
// The same for an archive in memory, which messages call `name`.
Result<std::shared_ptr<const ModelSource>> open_archive_bytes(std::string bytes,
                                                              std::string name,
                                                              const SourceLimits& limits = {});

}  // namespace lemma::tensor
