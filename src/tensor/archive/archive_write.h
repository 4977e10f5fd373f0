// SPDX-License-Identifier: Apache-2.0
// tensor/archive/archive_write.h — writes the files of a model into an archive: .tar, .tar.gz,
// .tar.bz2, .tar.xz, .zip or .npz, by the ending of its name. The same files give the same bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lemma::tensor {

class ArchiveWriter {
public:
    // The name must satisfy is_archive_name, or end in .npz.
    static Result<ArchiveWriter> create(const std::string& path);
    ArchiveWriter(ArchiveWriter&&) noexcept;
    ArchiveWriter& operator=(ArchiveWriter&&) noexcept;
    ~ArchiveWriter();

    Result<void> add(const std::string& name, std::string_view bytes);
    // Completes the archive.
    Result<void> finish();

private:
    struct Handle;
    explicit ArchiveWriter(std::unique_ptr<Handle> handle);
    std::unique_ptr<Handle> handle_;
};

}  // namespace lemma::tensor
