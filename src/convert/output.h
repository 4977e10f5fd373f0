// convert/output.h — where the files of a converted model go: a folder, an archive, or one
// file with its data beside it. They are written to a folder of their own first, and moved into
// place when all of them are there and good; else nothing is left behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/archive/archive_write.h"
#include "tensor/tensor.h"

namespace lemma::convert {

enum class OutputKind : uint8_t { Folder, Archive, File };
// What is at the path, or will be: an archive by the ending of the name, else a folder.
OutputKind folder_or_archive(const std::string& path);

// An error if something is there that would be overwritten, unless that is allowed, or that cannot
// be overwritten at all.
Result<void> check_target(const std::string& path, OutputKind kind, bool overwrite);

class Output {
public:
    struct Options {
        OutputKind kind = OutputKind::Folder;
        bool overwrite = false;  // files that are there already
    };
    static Result<Output> create(const std::string& path, Options options);
    // A folder that is read and never moved into place.
    static Result<Output> draft();
    Output(Output&& other) noexcept;
    Output& operator=(Output&&) = delete;
    // Removes what was not moved into place.
    ~Output();

    // The name may lead into folders below.
    Result<void> write(const std::string& name, std::string_view bytes);
    Result<void> write_tensor(const std::string& name, const tensor::Tensor& tensor);
    // Where a file of that name is written, for those who write it themselves.
    std::string path_of(const std::string& name) const;
    // The last write was done: from here on the model can be read.
    Result<void> finish();
    // The model as it lies in the folder of its own: what to load.
    const std::string& model() const { return model_; }
    // Moves everything into place.
    Result<void> commit();

private:
    Output(std::string path, Options options) : path_(std::move(path)), options_(options) {}

    std::string path_;  // where it is to go
    Options options_;
    std::string staging_;  // the folder of its own; empty when there is nothing to remove
    std::string model_;
    std::optional<tensor::ArchiveWriter> archive_;
};

}  // namespace lemma::convert
