// SPDX-License-Identifier: Apache-2.0
// convert/output.h — the destination of a converted model: a folder, an archive, or one file with
// its data beside it. Files are written to a staging folder first. They move into place when all
// are complete and valid; otherwise nothing is left.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/archive/archive_write.h"
#include "tensor/tensor.h"

namespace lemma::convert {

enum class OutputKind : uint8_t { Folder, Archive, File };
// An archive by the ending of the name, else a folder.
OutputKind folder_or_archive(const std::string& path);

// An error if the target exists and may not be overwritten, or cannot be overwritten at all.
Result<void> check_target(const std::string& path, OutputKind kind, bool overwrite);

class Output {
public:
    struct Options {
        OutputKind kind = OutputKind::Folder;
        bool overwrite = false;  // existing files may be replaced
    };
    static Result<Output> create(const std::string& path, Options options);
    // A folder that is read and never moved into place.
    static Result<Output> draft();
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    // Removes everything that was not moved into place.
    ~Output();

    // The name may contain sub-folders.
    Result<void> write(const std::string& name, std::string_view bytes);
    Result<void> write_tensor(const std::string& name, const tensor::Tensor& tensor);
    // The path for a file, for callers that write it themselves.
    std::string path_of(const std::string& name) const;
    // Call it after the last write; from then on the model can be read.
    Result<void> finish();
    // The path of the model in the staging folder, for loading.
    const std::string& model() const { return model_; }
    // Moves everything into place.
    Result<void> commit();

private:
    Output(std::string path, Options options) : path_(std::move(path)), options_(options) {}

    std::string path_;  // the destination
    Options options_;
    std::string staging_;  // the staging folder; empty if there is nothing to remove
    std::string model_;
    std::optional<tensor::ArchiveWriter> archive_;
};

}  // namespace lemma::convert
